"""Everything at once: one server to a store, ports, links, and the worker beside it."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from noisypairs.app.ask import serving
from noisypairs.app.ask.project import Settings
from noisypairs.app.files import BadFile, CannotWrite
from noisypairs.app.files.writing import claim
from tests.app.ask.ask_problems import open_site, running, sealed, write_items


@pytest.fixture
def settings(tmp_path):
    return Settings(write_items(tmp_path), tmp_path / "answers.db")


@pytest.fixture
def announced(monkeypatch):
    """Let the server end as soon as it answers; return what it announces."""
    found = []
    monkeypatch.setattr(serving.uvicorn.Server, "main_loop", lambda _: _nothing())
    return found


async def _nothing() -> None:
    return None


def test_without_a_host_it_is_on_this_machine_and_needs_no_token(settings, announced):
    serving.serve(settings, announced.append, learner=None)
    (where,) = announced
    assert where.people.startswith("http://127.0.0.1:")
    assert "token" not in where.people
    assert where.owner.startswith(where.people + "?token=")


def test_with_a_host_the_link_has_a_token_which_stays_over_restarts(settings, announced):
    for _ in range(2):
        serving.serve(settings, announced.append, host="127.0.0.1", learner=None)
    first, second = (where.people.partition("?")[2] for where in announced)
    assert first == second
    assert first.startswith("token=")
    assert announced[0].owner.partition("?")[2] != first


def test_a_server_of_all_addresses_names_one_that_others_can_open(settings, announced):
    """Compared with what the system says of its network: any address of it but loopback."""
    serving.serve(settings, announced.append, host="0.0.0.0", learner=None)
    (where,) = announced
    host = urlsplit(where.people).hostname
    with closing(socket.create_server((host, 0))) as own:  # only own ones can be bound
        assert own.getsockname()[0] != "0.0.0.0"
    if host != socket.gethostname():
        assert not host.startswith("127.")


def test_without_a_network_the_name_of_the_machine_is_named(settings, announced, monkeypatch):
    monkeypatch.setattr(serving, "EVERYWHERE", {"0.0.0.0": "::1"})  # of another family
    serving.serve(settings, announced.append, host="0.0.0.0", learner=None)
    assert urlsplit(announced[0].owner).hostname == socket.gethostname().lower()


def test_an_address_that_is_not_this_machines_is_refused(settings, announced):
    with pytest.raises(ValueError, match=r"cannot listen at 198\.51\.100\.7 \(.*choose another"):
        serving.serve(settings, announced.append, host="198.51.100.7", learner=None)


def test_a_port_that_is_taken_is_refused_if_asked_for_and_else_replaced(
    settings, announced, monkeypatch
):
    with closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        with pytest.raises(ValueError, match=f"cannot listen at 127.0.0.1, port {port}"):
            serving.serve(settings, announced.append, port=port, learner=None)
        monkeypatch.setattr(serving, "PORT", port)
        serving.serve(settings, announced.append, learner=None)
    assert f":{port}/" not in announced[0].people


def test_a_store_is_served_once(settings, announced):
    with claim(settings.store), pytest.raises(BadFile, match="in use by another `noisypairs ask`"):
        serving.serve(settings, announced.append, learner=None)
    assert announced == []


def test_a_folder_that_cannot_be_written_is_said(announced):
    with sealed() as (folder, seal):
        settings = Settings(write_items(folder), folder / "answers.db")
        seal()
        with pytest.raises(CannotWrite, match=r"no permission to write in the folder .*--store"):
            serving.serve(settings, announced.append, learner=None)


class Silent:
    """Stands for the learner in the worker's process: it learns nothing."""

    def __init__(self, settings):
        pass

    def learn(self, shown, said, last):  # noqa: ARG002
        return iter(())


def test_a_worker_that_dies_is_started_again_and_ends_with_the_server(settings, monkeypatch):
    monkeypatch.setattr(serving, "RESTART", 0.0)
    beside = serving.Beside(settings, f"{__name__}:Silent")
    beside.start()
    first = beside.process
    beside.watch()
    assert beside.process is first
    first.kill()
    first.join(20)
    beside.watch()
    assert beside.process is not first
    beside.end()
    assert not beside.process.is_alive()


def test_without_a_learner_there_is_no_worker(settings):
    beside = serving.Beside(settings, None)
    beside.start()
    beside.watch()
    assert beside.process is None
    beside.end()


def test_the_watch_looks_for_new_items(tmp_path, monkeypatch):
    from noisypairs.app.ask import server

    monkeypatch.setattr(server, "WATCH", 0.02)
    with running(open_site(tmp_path)) as served:
        write_items(tmp_path, 15)
        last = time.monotonic() + 10
        while len(served.site.project.shown.ids) < 15 and time.monotonic() < last:
            time.sleep(0.02)
        assert httpx.get(served.base).status_code == 200
    assert len(served.site.project.shown.ids) == 15


def test_answers_are_sent_at_once(settings, monkeypatch):
    """Asyncio turns off the wait for fuller packets only for sockets that say they are TCP."""
    seen = []
    monkeypatch.setattr(serving.uvicorn.Server, "run", lambda _, sockets: seen.extend(sockets))
    serving.serve(settings, lambda _: None, learner=None)
    assert [one.proto for one in seen] == [socket.IPPROTO_TCP]


def test_a_store_is_served_once_by_whatever_name(settings, announced, tmp_path):
    link = tmp_path / "other.db"
    link.symlink_to(settings.store)
    with (
        claim(settings.store),
        pytest.raises(BadFile, match="in use by another `noisypairs ask`"),
    ):
        serving.serve(replace(settings, store=link), announced.append, learner=None)
    serving.serve(replace(settings, store=link), announced.append, learner=None)
    assert settings.store.exists()


def test_a_store_of_two_names_is_refused(settings, announced, tmp_path):
    serving.serve(settings, announced.append, learner=None)
    (tmp_path / "other.db").hardlink_to(settings.store)
    with pytest.raises(BadFile, match="one file under several names"):
        serving.serve(settings, announced.append, learner=None)


def test_behind_a_proxy_the_links_are_its_own_and_have_tokens(settings, announced):
    serving.serve(settings, announced.append, learner=None, public="https://pairs.example.org/")
    (where,) = announced
    assert where.people.startswith("https://pairs.example.org/?token=")
    assert where.owner.startswith("https://pairs.example.org/?token=")


@pytest.mark.parametrize(
    ("public", "host", "why"),
    [
        ("pairs.example.org", None, "expected the address at which people reach the proxy"),
        ("ftp://pairs.example.org", None, "expected the address"),
        ("https://pairs.example.org/pairs", None, "with nothing after its name"),
        ("https://pairs.example.org", "0.0.0.0", "leave out --host"),
    ],
)
def test_an_address_of_a_proxy_that_cannot_be_is_refused(settings, announced, public, host, why):
    with pytest.raises(ValueError, match=why):
        serving.serve(settings, announced.append, host=host, learner=None, public=public)


def test_a_store_that_turns_out_damaged_is_named(settings, announced, monkeypatch):
    def fail(*_):
        raise sqlite3.DatabaseError("database disk image is malformed")

    monkeypatch.setattr(serving, "Site", fail)
    with pytest.raises(BadFile, match=r"answers\.db is a damaged store"):
        serving.serve(settings, announced.append, learner=None)


# ---------------------------------------------------------------- proxies


def recipe(name, changes):
    """Return the settings of a proxy that the docs show, with changes for a test."""
    page = (Path(__file__).parents[3] / "docs" / "ask.md").read_text("utf-8")
    found = page.partition(f"```{name}\n")[2].partition("```")[0]
    for old, new in changes.items():
        assert found.count(old) == 1
        found = found.replace(old, new)
    return found


def nginx(folder, port, behind):
    changed = {"listen 443 ssl;": f"listen 127.0.0.1:{port};", ":8765": f":{behind}"}
    lines = recipe("nginx", changed).splitlines()
    server = "\n".join(one for one in lines if "ssl_certificate" not in one)
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "\n".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log stderr; {user}\nevents {{}}\n"
        f"http {{ access_log off;\n{temporary}\n{server}\n}}\n"
    )
    return ["-p", folder, "-e", "stderr", "-c", folder / "nginx.conf"]


def caddy(folder, port, behind):
    here = f"http://:{port} {{\n    bind 127.0.0.1"
    changed = {"pairs.example.org {": here, ":8765": f":{behind}"}
    (folder / "Caddyfile").write_text("{\n    admin off\n}\n" + recipe("caddy", changed))
    return ["run", "--config", folder / "Caddyfile"]


@pytest.fixture(params=[nginx, caddy])
def proxy(request, tmp_path):
    """Run a proxy by the recipe of the docs, at free ports; yield what starts it."""
    name = request.param.__name__
    program = shutil.which(name) or shutil.which(name, path="/usr/sbin")
    if program is None:
        pytest.skip(f"{name} is not installed (Debian: apt-get install nginx-light caddy)")
    started = []

    def start(behind):
        with closing(socket.create_server(("127.0.0.1", 0))) as free:
            port = free.getsockname()[1]
        process = subprocess.Popen(
            [program, *request.param(tmp_path, port, behind)],
            env=os.environ | {"XDG_DATA_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)},
        )
        started.append(process)
        last = time.monotonic() + 20
        while time.monotonic() < last:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return f"http://127.0.0.1:{port}"
            time.sleep(0.05)
        raise AssertionError(f"{name} did not start")

    yield start
    for process in started:
        process.terminate()
        process.wait(20)


def test_the_recipe_for_a_proxy_lets_in_by_token_only(tmp_path, proxy):
    """Without the option the same proxy would let everybody in: its requests come from here."""
    site = open_site(tmp_path, loopback=False, public="http://pairs.example.org")
    with running(site) as served, httpx.Client() as browser:
        front = proxy(urlsplit(served.base).port)
        own = {"host": "pairs.example.org", "origin": "http://pairs.example.org"}
        assert browser.get(f"{front}/", headers=own).status_code == 200
        post = {"json": {"name": "ann"}, "headers": own}
        assert browser.post(f"{front}/api/join", **post).status_code == 403
        let_in = browser.get(f"{front}/?token={site.people.join_token}", headers=own)
        assert let_in.headers["location"] == "/"
        cookie = let_in.headers["set-cookie"].partition(";")[0]
        post["headers"] = own | {"cookie": cookie}
        assert browser.post(f"{front}/api/join", **post).json()["name"] == "ann"


def test_a_proxy_without_the_option_is_refused(tmp_path, proxy):
    with running(open_site(tmp_path)) as served:
        told = httpx.get(f"{proxy(urlsplit(served.base).port)}/api/now")
        assert (told.status_code, "own address" in told.text or "proxy" in told.text) == (403, True)
