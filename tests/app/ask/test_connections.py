"""Half-open connections: a server under attack answers everybody else, and ends when told."""

from __future__ import annotations

import contextlib
import itertools
import json
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import httpx
import pytest

from noisypairs.app.ask import connections
from noisypairs.app.ask.connections import MOST_OPEN, RESERVED, Crowd, most_open
from tests.app.ask.ask_problems import open_site, running, write_items

resource = pytest.importorskip(
    "resource", reason="limits of descriptors are set by it (not Windows)"
)

HALF_HEADER = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
HALF_BODY = (
    b"POST /api/join HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Content-Length: 100\r\n\r\n{"
)
DESCRIPTORS = 1024
A_TURN = 50
START = "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, ({0}, {0})); "
START += "from noisypairs.cli import main; main()"


@contextlib.contextmanager
def command(folder, *options):
    """Run the command line's server with few descriptors; yield it and its address."""
    items = write_items(folder)
    call = ["ask", str(items), "--store", str(folder / "a.db"), "--no-browser", "--json", *options]
    with (folder / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-c", START.format(DESCRIPTORS), *call],
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
    try:
        where = urlsplit(json.loads(process.stdout.readline())["people"])
        yield process, (where.hostname, where.port)
    finally:
        process.kill()
        process.wait(20)
        process.stdout.close()


class Attack:
    """So many connections that say half of something, opened again whenever they are closed."""

    def __init__(self, address, number, said):
        self.address, self.said = address, said
        self.sockets = [self._open() for _ in range(number)]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_open)

    def _open(self):
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(self.address)
        with contextlib.suppress(OSError):
            one.send(self.said)
        return one

    def _keep_open(self):
        """Go round: send a byte to each, and open those that were closed again."""
        turns = itertools.cycle(range(len(self.sockets)))
        while not self._over.wait(0.05):
            for k in itertools.islice(turns, A_TURN):
                if self._is_closed(self.sockets[k]):
                    self.sockets[k].close()
                    self.sockets[k] = self._open()

    def _is_closed(self, one):
        try:
            one.send(b"a")
            return False
        except BlockingIOError:
            return False
        except OSError:
            return True

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._over.set()
        self._thread.join(20)
        for one in self.sockets:
            one.close()


def ask_for(address, path, patience=10.0):
    """Ask for a page by a connection of its own; return how long it took."""
    start = time.monotonic()
    with socket.create_connection(address, patience) as one:
        one.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        found = b""
        while part := one.recv(65536):
            found += part
    assert found.startswith(b"HTTP/1.1 200"), found[:100]
    return time.monotonic() - start


@pytest.fixture
def many_descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1500:
        pytest.skip(f"the attack takes 1,500 descriptors, and the limit here is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1500), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("said", [HALF_HEADER, HALF_BODY], ids=["header", "body"])
def test_half_open_connections_delay_nobody_and_not_the_end(tmp_path, many_descriptors, said):
    with command(tmp_path, "--host", "127.0.0.1") as (process, address):
        calm = [ask_for(address, "/") for _ in range(40)]
        with Attack(address, 1100, said):
            took, last = [], time.monotonic() + 6
            while time.monotonic() < last:
                took += [ask_for(address, path) for path in ("/", "/static/page.js", "/api/now")]
                time.sleep(0.02)
            process.send_signal(signal.SIGTERM)
            start = time.monotonic()
            assert process.wait(30) == 143
            ended = time.monotonic() - start
        slow, usual = (statistics.quantiles(one, n=20)[-1] for one in (took, calm))
        assert slow < max(0.5, 10 * usual), (len(took), slow, usual)  # the machine may be busy
        print(
            f"95% of {len(took)} within {slow:.3f} s, before {usual:.3f} s; ended in {ended:.1f} s"
        )
        assert ended < 5.0
        assert "Traceback" not in (tmp_path / "stderr").read_text()


# ---------------------------------------------------------------- one connection


def opened(served, said):
    where = urlsplit(served.base)
    one = socket.create_connection((where.hostname, where.port), 20)
    one.sendall(said)
    return one


def is_closed_within(one, seconds):
    """Wait for the other end to close, whatever it says before."""
    one.settimeout(seconds)
    try:
        while one.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


@pytest.mark.parametrize("said", [b"", HALF_HEADER, HALF_BODY, b"GET / HTTP/1.1\r\n\r\nGET /"])
def test_a_request_that_does_not_arrive_ends_the_connection(tmp_path, monkeypatch, capfd, said):
    monkeypatch.setattr(connections, "ASKING", 0.5)
    with running(open_site(tmp_path)) as served, opened(served, said) as one:
        for _ in range(3):  # bytes that come now and then do not put it off
            time.sleep(0.1)
            with contextlib.suppress(OSError):
                one.send(b"a" if said else b"")
        assert is_closed_within(one, 2.0)
    assert "Traceback" not in capfd.readouterr().err


def test_whoever_asks_again_in_time_keeps_the_connection(tmp_path, monkeypatch):
    monkeypatch.setattr(connections, "ASKING", 1.0)
    with running(open_site(tmp_path)) as served, opened(served, b"") as one:
        for _ in range(5):  # for longer than one request may take
            one.sendall(b"GET /static/none HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            told = b""
            while not told.endswith(b"}"):
                told += one.recv(65536)
            assert told.startswith(b"HTTP/1.1 404")
            time.sleep(0.4)


def test_somebody_who_leaves_in_the_middle_of_a_request_is_no_error(tmp_path, capfd):
    with running(open_site(tmp_path)) as served:
        opened(served, HALF_BODY).close()
        time.sleep(0.3)
        assert httpx.get(served.base).status_code == 200
    assert capfd.readouterr().err == ""


class Waiting:
    """Stands for a connection."""

    def __init__(self):
        self.transport, self.closed = self, False

    def abort(self):
        self.closed = True


def test_the_longest_waiting_gives_way_first_of_its_own_address():
    crowd, guests = Crowd(most=5, most_of_an_address=3), [Waiting() for _ in range(8)]
    for k, address in enumerate("aabaab"):
        crowd.enter(guests[k], address)
    assert [one.closed for one in guests[:6]] == [True] + [False] * 5  # the fourth of a
    crowd.leave(guests[2])
    for k, address in ((2, "b"), (6, "c"), (7, "d")):
        crowd.enter(guests[k], address)
    assert [k for k, one in enumerate(guests) if one.closed] == [0, 1, 3]  # the third asked since
    crowd.disperse()
    late = Waiting()
    crowd.enter(late, "e")
    assert all(one.closed for one in [*guests, late])


def test_the_limit_of_descriptors_is_raised_and_where_it_cannot_be_fewer_fit(monkeypatch):
    asked = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: asked.append(limits))
    for limits, fit, raised in (
        ((256, 100_000), MOST_OPEN, [(MOST_OPEN + RESERVED, 100_000)]),
        ((256, 512), 512 - RESERVED, [(512, 512)]),
        ((100_000, 100_000), MOST_OPEN, []),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), MOST_OPEN, []),
        ((64, 64), 1, []),
    ):
        asked.clear()
        monkeypatch.setattr(resource, "getrlimit", lambda _, limits=limits: limits)
        assert (most_open(), asked) == (fit, raised)
