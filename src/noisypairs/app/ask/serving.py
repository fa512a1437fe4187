"""Everything of a project at once: the socket, the worker beside it, the server, and their end."""

from __future__ import annotations

import contextlib
import socket
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing.process import BaseProcess
from urllib.parse import urlsplit

from noisypairs.app.ask import worker
from noisypairs.app.ask.connections import (
    ACCEPTED_AT_ONCE,
    LARGEST_HEADER,
    MOST_OF_AN_ADDRESS,
    MOST_WAITING,
    Connection,
    Crowd,
    most_open,
)
from noisypairs.app.ask.database import Database, check_place
from noisypairs.app.ask.guard import LOOPBACK
from noisypairs.app.ask.project import Project, Settings, read_looks
from noisypairs.app.ask.server import PATIENCE, application
from noisypairs.app.ask.site import Site
from noisypairs.app.files import BadFile, CannotWrite
from noisypairs.app.files.store import damaged
from noisypairs.app.files.writing import Claimed, claim
from noisypairs.errors import MissingExtra

try:
    import uvicorn
except ImportError as error:
    raise MissingExtra("uvicorn", "ask", "noisypairs ask") from error

PORT = 8765
"""The port if none is asked for; a free one where it is taken."""

RESTART = 10.0
"""Seconds until a worker that died is started again."""

WAITING = 2048
"""Connections that wait to be accepted, as far as the system allows."""

EVERYWHERE = {"0.0.0.0": "192.0.2.1", "::": "2001:db8::1"}
"""Hosts that stand for every address of a machine, each with an address that is nobody's."""


@dataclass(frozen=True)
class Addresses:
    """Where a project is: for the people, and for its owner."""

    people: str
    owner: str


def serve(
    settings: Settings,
    announce: Callable[[Addresses], None],
    host: str | None = None,
    port: int | None = None,
    learner: str | None = worker.LEARNER,
    public: str = "",
) -> None:
    """Serve a project until a signal ends it; ``announce`` is told where, once it answers.

    Without ``host`` only this machine reaches it; with one a token is needed, and with ``public``,
    the address at which a proxy on this machine serves it. ``learner`` names what learns
    (`worker.LEARNER`); None learns nothing, and all pairs are random ones.
    """
    public = _checked_public(public, host)
    loopback, looks = not (host or public), read_looks(settings)
    with (
        _alone(settings),
        contextlib.closing(Database(settings.store, PATIENCE)) as database,
        _listening(host or LOOPBACK[0], port) as listener,
    ):
        site = Site(Project(settings, database, looks), loopback, public)
        beside = Beside(settings, learner)
        addresses = _addresses(site, host or LOOPBACK[0], listener.getsockname()[1])
        crowd = Crowd(most_of_an_address=MOST_WAITING if public else MOST_OF_AN_ADDRESS)
        server = Server(site, crowd, beside.watch, lambda: announce(addresses))
        try:
            beside.start()
            server.run(sockets=[listener])
        finally:
            beside.end()


class Server(uvicorn.Server):
    """The server, which says when it answers, and at its end waits for no request any more."""

    def __init__(
        self,
        site: Site,
        crowd: Crowd,
        watch: Callable[[], None] = lambda: None,
        answering: Callable[[], None] = lambda: None,
    ) -> None:
        config = uvicorn.Config(
            application(site, watch),
            http=partial(Connection, crowd=crowd),  # type: ignore[arg-type]  # makes one
            h11_max_incomplete_event_size=LARGEST_HEADER,
            limit_concurrency=most_open(),
            backlog=ACCEPTED_AT_ONCE,
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=1,
        )
        super().__init__(config)
        self._crowd, self._answering = crowd, answering

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so."""
        await super().startup(sockets)
        for one in sockets or []:
            one.listen(WAITING)  # asyncio has told it how many are accepted at once
        if self.started:
            self._answering()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End what is being answered, and close all that waits."""
        self._crowd.disperse()
        await super().shutdown(sockets)


class Beside:
    """The worker's process: started, looked after, ended."""

    def __init__(self, settings: Settings, learner: str | None) -> None:
        self.settings, self.learner = settings, learner
        self.process: BaseProcess | None = None
        self._started_at = 0.0

    def start(self) -> None:
        """Start the process, unless nothing is to be learnt."""
        if self.learner is not None:
            self._started_at = time.monotonic()
            self.process = worker.start(self.settings, self.learner)

    def watch(self) -> None:
        """Start the process again if it has died, but not at once."""
        died = self.process is not None and not self.process.is_alive()
        if died and time.monotonic() - self._started_at > RESTART:
            self.start()

    def end(self) -> None:
        """End the process; what it was computing is computed again another time."""
        if self.process is not None:
            self.process.kill()
            self.process.join()


def _checked_public(public: str, host: str | None) -> str:
    """Return the address of a proxy without a slash at its end, or say why it is none."""
    parts = urlsplit(public)
    if not public:
        return public
    if host is not None:
        raise ValueError("--behind-proxy serves a proxy on this machine: leave out --host")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
        raise ValueError(
            f"--behind-proxy {public}: expected the address at which people reach the proxy, with "
            "nothing after its name, such as https://pairs.example.org"
        )
    return f"{parts.scheme}://{parts.netloc}"


@contextlib.contextmanager
def _alone(settings: Settings) -> Iterator[None]:
    """Refuse a store that another server uses; two would hand out the same pairs.

    A file of two names (hard links) is refused, too: SQLite keeps a log beside each name.
    """
    check_place(settings.store)
    if settings.store.exists() and settings.store.stat().st_nlink > 1:
        raise BadFile(
            f"{settings.store} is one file under several names (hard links), which damages a "
            "store: copy it, and name the copy with --store"
        )
    try:
        with claim(settings.store.resolve()):  # by whatever name it is called
            yield
    except Claimed:
        raise BadFile(
            f"{settings.store} is in use by another `noisypairs ask`: end that one first"
        ) from None
    except sqlite3.Error as error:
        raise damaged(settings.store, error) from error
    except PermissionError:
        folder = settings.store.resolve().parent
        raise CannotWrite(
            f"no permission to write in the folder {folder} of {settings.store.name}: choose "
            "another with --store"
        ) from None


def _listening(host: str, port: int | None) -> socket.socket:
    """Return a listening socket, at a free port where none is asked for and the usual is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for one in (PORT, 0) if port is None else (port,):
        try:
            return _bound(family, host, one)
        except OSError as error:
            if port is None and one == PORT:
                continue
            why = error.strerror or str(error)
            where = host if port is None else f"{host}, port {port}"
            raise ValueError(
                f"cannot listen at {where} ({why}): choose another with --port or --host"
            ) from error
    raise AssertionError


def _bound(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    """Return a listening socket that says it is TCP.

    Only then asyncio sends small parts at once (TCP_NODELAY): else the body of every answer would
    wait 40 ms for the other side to confirm its header. `socket.create_server` does not say it.
    """
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # there it would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def _addresses(site: Site, host: str, port: int) -> Addresses:
    if host in EVERYWHERE:
        host = _seen_from_outside(host)
    named = f"[{host}]" if ":" in host else host
    base = f"{site.public or f'http://{named}:{port}'}/"
    people = base if site.loopback else f"{base}?token={site.people.join_token}"
    return Addresses(people, f"{base}?token={site.people.owner_token}")


def _seen_from_outside(host: str) -> str:
    """Return the address at which other machines find this one; its name where there is none.

    A socket without a connection chooses its own end when it is told the other; nothing is sent.
    The address works on a phone, which need not know the names of a network.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((EVERYWHERE[host], 9))
        except OSError:
            return socket.gethostname()
        return str(probe.getsockname()[0])
