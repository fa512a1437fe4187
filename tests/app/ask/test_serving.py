"""Everything at once: one server to a store, ports, links, and the worker beside it."""

from __future__ import annotations

import socket
import time
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from noisypairs.app.ask import serving
from noisypairs.app.ask.project import Settings
from noisypairs.app.files import BadFile, CannotWrite
from noisypairs.datasets.locks import claim
from tests.app.ask.ask_problems import sealed, write_items


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
    import httpx

    from noisypairs.app.ask import server
    from tests.app.ask.ask_problems import open_site, running

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
