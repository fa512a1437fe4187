"""Small projects to ask about: items in a file, an open store, answers by hand, and visits."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx

from noisypairs.app.ask.connections import Crowd
from noisypairs.app.ask.database import Database
from noisypairs.app.ask.digits import png
from noisypairs.app.ask.people import Person
from noisypairs.app.ask.project import Project, Settings
from noisypairs.app.ask.server import application
from noisypairs.app.ask.serving import Server
from noisypairs.app.ask.site import Site
from noisypairs.app.files.store import stored_answers

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

#: What a page must show as text and never run.
HOSTILE = '<img src=x onerror="document.title=1"><script>document.title="run"</script>'


def write_items(folder: Path, n_items: int = 12, note: str = "a quiet thing") -> Path:
    """Write items with numbers, categories and text, of two classes that the size shows."""
    lines = ["id,size,colour,note"]
    lines += [
        f'i{k:02d},{k % 2 * 5 + k / 100:.2f},{"red" if k % 3 else "blue"},"{note}, number {k}"'
        for k in range(n_items)
    ]
    path = folder / "items.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def open_site(folder: Path, loopback: bool = True, public: str = "", **changes: object) -> Site:
    """Return a project in this folder as the server knows it."""
    items = folder / "items.csv"
    if not items.exists():
        write_items(folder)
    settings = replace(Settings(items, folder / "answers.db", repeated=0.0), **changes)
    database = Database(settings.store)
    database.run("PRAGMA synchronous = OFF")  # a test may lose its store to a power cut
    return Site(Project(settings, database), loopback, public)


def answer(site: Site, person: Person, said: str) -> tuple[int, int, int]:
    """Let somebody answer what they are shown; return the answer's number and the two items."""
    shown = site.project.shown
    question = site.questions.current(person, shown.numbers, shown.row_of)
    assert question is not None
    number = site.answers.record(person, question.number, said, 1.0, False)
    return number, question.left, question.right


@contextlib.contextmanager
def sealed(mode: int = 0o555) -> Iterator[tuple[Path, Callable[[], None]]]:
    """Give a folder, and what seals it: from then on its files are only read until the block ends.

    With mode 777 the folder itself may be written to.

    Root may write everywhere, so that it becomes somebody else for that time.
    """
    is_root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def seal() -> None:
            for path in folder.iterdir():
                path.chmod(0o444)
            folder.chmod(mode)
            if is_root:
                os.seteuid(65534)

        try:
            yield folder, seal
        finally:
            if is_root:
                os.seteuid(0)
            folder.chmod(0o755)


def write_pictures(folder: Path, names: list[str]) -> None:
    """Write small pictures under these names."""
    import numpy as np

    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_bytes(png(np.eye(4)))


class Client:
    """A browser without a screen: it asks the application itself, and keeps cookies."""

    base = "http://127.0.0.1:8765"

    def __init__(self, site: Site) -> None:
        transport = httpx.ASGITransport(application(site))
        self._client = httpx.AsyncClient(transport=transport, base_url=self.base)
        self.cookies = self._client.cookies

    def get(self, path: str, **settings: object) -> httpx.Response:
        return asyncio.run(self._client.get(path, **settings))

    def post(self, path: str, **settings: object) -> httpx.Response:
        return asyncio.run(self._client.post(path, **settings))


@dataclass(frozen=True)
class Running:
    """A server in a thread: its address, and what it serves."""

    base: str
    site: Site

    @property
    def owner(self) -> str:
        """The owner's link."""
        return f"{self.base}/?token={self.site.people.owner_token}"


@contextlib.contextmanager
def running(site: Site, crowd: Crowd | None = None) -> Iterator[Running]:
    """Serve a project on the loopback address, without a worker, until the block ends."""
    listener = socket.socket(proto=socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    server = Server(site, crowd or Crowd())
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    last = time.monotonic() + 20
    while not server.started and time.monotonic() < last:
        time.sleep(0.01)
    try:
        yield Running(f"http://127.0.0.1:{listener.getsockname()[1]}", site)
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


class Visit:
    """Somebody's window, with all that it asked for and complained about."""

    def __init__(self, browser, base, **settings):
        self.context = browser.new_context(**settings)
        self.page, self.base = self.context.new_page(), base
        self.requests, self.complaints = [], []
        self.page.on("request", lambda one: self.requests.append(one.url))
        self.page.on("pageerror", lambda one: self.complaints.append(str(one)))
        self.page.on("dialog", lambda one: self.complaints.append(one.message))
        self.page.on(
            "console", lambda one: self.complaints.append(one.text) if one.type == "error" else None
        )
        self.page.set_default_timeout(15_000)

    def join(self, name):
        self.page.goto(self.base)
        self.page.get_by_label("Your name").fill(name)
        self.page.keyboard.press("Enter")
        self.page.get_by_role("button", name=re.compile("^Same")).wait_for()
        return self

    def kept(self, said):
        self.page.get_by_text(f"Kept: {said}.").wait_for()

    @property
    def pair(self):
        return tuple(self.page.locator(f"#{end}-id").inner_text() for end in ("left", "right"))

    def press(self, key, said):
        self.answer(key)
        self.kept(said)

    def answer(self, key):
        """Press a key and wait for the next pair, or for the word that there is none."""
        before, nothing = self.pair, self.page.locator("#nothing")
        self.page.keyboard.press(key)
        until(self.page, lambda: nothing.is_visible() or self.pair != before)


def until(page, holds, seconds=15.0):
    """Wait until something holds; the page's policy forbids Playwright's own way, an eval."""
    for _ in range(int(seconds * 50)):
        if holds():
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"did not hold within {seconds} seconds")


def said_by(served, name):
    """Return what somebody has said, as the store has it: both items and the word."""
    rows = stored_answers(served.site.project.settings.store)
    return [(row[0], row[1], row[2]) for row in rows if row[3] == name]
