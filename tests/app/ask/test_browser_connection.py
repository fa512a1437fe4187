"""The page in Chromium when its server cannot be reached, cannot write, or was killed."""

from __future__ import annotations

import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from noisypairs.app.files.store import stored_answers
from tests.app.ask.ask_problems import Visit, said_by, until, write_items

expect = pytest.importorskip("playwright.sync_api", reason="needs playwright").expect


def is_seen(page, id):
    """Whether a part of the page is in the window."""
    box, size = page.locator(f"#{id}").bounding_box(), page.viewport_size
    return box["y"] > -1 and box["y"] + box["height"] < size["height"] + 1  # parts of a pixel


def test_without_a_connection_the_answer_waits_and_is_kept_once(browser, served):
    off = Visit(browser, served.base, viewport={"width": 390, "height": 360}).join("offline olga")
    pair = off.pair
    off.context.set_offline(True)
    off.page.keyboard.press("s")
    off.page.get_by_text("Not kept yet").wait_for()
    assert off.pair == pair
    assert is_seen(off.page, "trouble")  # above the buttons, however long the items are
    assert is_seen(off.page, "buttons")
    off.context.set_offline(False)
    off.kept("same")
    assert said_by(served, "offline olga") == [(*pair, "same")]
    expect(off.page.locator("#trouble")).to_be_hidden()
    off.context.close()


def test_what_cannot_be_done_without_a_connection_is_said(browser, served):
    off = Visit(browser, served.base, viewport={"width": 390, "height": 400}).join("offline otto")
    off.press("s", "same")
    off.context.set_offline(True)
    off.page.keyboard.press("z")
    off.page.get_by_text("Not undone: the server does not answer.").wait_for()
    off.page.get_by_text("Keys and settings").click()
    off.page.get_by_role("button", name="Somebody else").click()
    off.page.get_by_text("You still answer as offline otto: the server does not").wait_for()
    until(off.page, lambda: is_seen(off.page, "trouble"))
    assert [one for one in off.complaints if "ERR_INTERNET_DISCONNECTED" not in one] == []
    off.context.close()


def test_while_the_store_cannot_be_written_the_answer_waits(browser, served, monkeypatch):
    full = Visit(browser, served.base).join("full fay")
    pair, record = full.pair, served.site.answers.record

    def fail(*_):
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorname = "SQLITE_FULL"
        raise error

    monkeypatch.setattr(served.site.answers, "record", fail)
    full.page.keyboard.press("s")
    full.page.get_by_text("answers.db cannot be used (database or disk is full)").wait_for()
    monkeypatch.setattr(served.site.answers, "record", record)
    full.kept("same")
    assert said_by(served, "full fay") == [(*pair, "same")]
    full.context.close()


# ---------------------------------------------------------------- kill -9

SERVE = """
import sys
from pathlib import Path
from noisypairs.app.ask.project import Settings
from noisypairs.app.ask.serving import serve
items, port = Path(sys.argv[1]), int(sys.argv[2])
serve(Settings(items, items.with_name("a.db")), lambda where: None, port=port, learner=None)
"""


def start(items, port):
    process = subprocess.Popen([sys.executable, "-c", SERVE, str(items), str(port)])
    last = time.monotonic() + 60
    while time.monotonic() < last:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return process
        time.sleep(0.05)
    raise AssertionError("the server did not start")


def test_after_kill_9_nothing_is_lost_and_the_page_goes_on(browser, tmp_path):
    items = write_items(tmp_path)
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    process = start(items, port)
    try:
        ida = Visit(browser, f"http://127.0.0.1:{port}").join("ida")
        for _ in range(3):
            ida.press("s", "same")
        pair = ida.pair
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        assert len(stored_answers(tmp_path / "a.db")) == 3
        ida.page.keyboard.press("d")
        ida.page.get_by_text("Not kept yet").wait_for()
        process = start(items, port)
        ida.kept("different")
        rows = stored_answers(tmp_path / "a.db")
        assert [row[2] for row in rows] == ["same"] * 3 + ["different"]
        assert rows[-1][:2] == pair
        with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        ida.context.close()
    finally:
        process.kill()
        process.wait(10)
