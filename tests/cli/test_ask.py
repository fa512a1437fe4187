"""``noisypairs ask``: what it prints and refuses, how it ends, and what others read of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import httpx
import pytest

from noisypairs.app.files.store import stored_answers
from tests.app.ask.ask_problems import answer, open_site, write_items
from tests.cli.commands import fails, run

SCRIPT = Path(sysconfig.get_path("scripts")) / "noisypairs"


@pytest.fixture
def store(tmp_path):
    """A store with 24 answers about 12 items."""
    site = open_site(tmp_path)
    people = [site.people.add(name) for name in ("ann", "bob")]
    for k in range(24):
        answer(site, people[k % 2], ("same", "different")[k % 3 > 0])
    site.project.database.close()  # which puts its log into the file
    return site.project.settings.store


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "name the file of the items, or --demo"),
        (["items.csv"], "name a file for the answers: --store answers.db"),
        (["items.csv", "--demo"], "name the file of the items, or --demo"),
        (["items.csv", "--store", "a.db", "--target", "1.5"], "--target 1.5"),
        (["items.csv", "--store", "a.db", "--classes", "x"], "--classes 'x'"),
        (["items.csv", "--store", "a.db", "--question", " "], "--question: expected some words"),
        (["--export", "a.csv"], "name it with --store"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(words, says, tmp_path):
    fails(2, says, tmp_path, "ask", *words)


def test_files_that_cannot_be_used_are_refused_with_1(tmp_path):
    items = write_items(tmp_path)
    missing = tmp_path / "item.csv"
    fails(1, "did you mean 'items.csv'", tmp_path, "ask", missing, "--store", tmp_path / "a.db")
    fails(1, "make it first", tmp_path, "ask", items, "--store", tmp_path / "no" / "a.db")
    fails(1, "no store", tmp_path, "ask", items, "--store", items)
    fails(1, "no store", tmp_path, "ask", "--store", items, "--export", tmp_path / "a.csv")
    fails(1, "does not exist", tmp_path, "ask", "--store", missing, "--export", tmp_path / "a.csv")


def test_the_answers_are_exported_once_and_not_over_a_file(store, tmp_path):
    target = tmp_path / "answers.csv"
    told = run("ask", "--store", store, "--export", target, "--json")
    assert json.loads(told.stdout) == {"answers": 24, "file": str(target)}
    assert len(target.read_text().splitlines()) == 25
    fails(2, "exists already", tmp_path, "ask", "--store", store, "--export", target)


def test_check_and_annotators_read_the_store(store, tmp_path):
    told = run("check", tmp_path / "items.csv", store, "--no-fit", "--quiet", "--json")
    assert told.exit_code == 0, told.stderr
    found = json.loads(told.stdout)
    assert found["format"] == "ask"
    told = run("annotators", store, "--classes", "2", "--quiet", "--json")
    assert told.exit_code in (0, 1)  # so few answers may show nothing
    assert "ann" in told.stdout or "Error: " in told.stderr


def test_the_command_serves_survives_a_kill_and_ends_by_ctrl_c(tmp_path):
    items, store = write_items(tmp_path), tmp_path / "a.db"
    words = [SCRIPT, "ask", items, "--store", store, "--no-browser", "--json"]
    env = os.environ | {"PYTHONUNBUFFERED": "1"}
    begun = []

    def begin() -> tuple[subprocess.Popen[str], str]:
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
        )
        begun.append(process)
        assert process.stdout is not None
        return process, json.loads(process.stdout.readline())["people"]

    try:
        process, address = begin()
        with httpx.Client(base_url=address) as client:
            state = client.post("/api/join", json={"name": "ann"}).json()
            for _ in range(3):
                said = {"question": state["pair"]["question"], "said": "same", "seconds": 1}
                state = client.post("/api/answer", json=said).json()
            cookies = dict(client.cookies)
        workers = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        children = [int(one) for one in workers.read_text().split()] if workers.exists() else []
        process.kill()
        process.communicate(timeout=20)
        assert [row[2] for row in stored_answers(store)] == ["same"] * 3
        process, address = begin()
        now = httpx.get(f"{address}api/now", cookies=cookies).json()
        assert now["pair"] == state["pair"]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        assert process.returncode == 130
        assert err == f"Stopped; every answer is in {store}. Go on with the same command\n"
        assert not [pid for pid in children if _is_alive(pid)]
    finally:
        for process in begun:
            process.kill()
            process.wait(10)


def _is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended goes away within a moment."""
    last = time.monotonic() + 20
    while time.monotonic() < last:
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return False
        time.sleep(0.05)
    return True


def test_without_its_packages_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette.applications", None)  # which makes the import fail
    for name in ("server", "serving"):
        monkeypatch.delitem(sys.modules, f"noisypairs.app.ask.{name}", raising=False)
    items = write_items(tmp_path)
    fails(2, "noisypairs[ask]", tmp_path, "ask", items, "--store", tmp_path / "a.db")
