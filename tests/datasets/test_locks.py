"""Locks: one process at a time, and none left by a process that is gone."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from noisypairs.datasets.locks import HIDDEN, Claimed, claim, remove_leftovers, try_lock

HOLD = "import fcntl, sys, time; f = open(sys.argv[1], 'ab'); fcntl.flock(f, fcntl.LOCK_EX); "
HOLD += "print('held', flush=True); time.sleep(60)"


@pytest.fixture
def lock_name(tmp_path):
    with claim(tmp_path / "out.csv"):
        (name,) = os.listdir(tmp_path)
    assert os.listdir(tmp_path) == []
    return name


def test_a_claim_ends_with_the_process_that_holds_it(tmp_path, lock_name):
    place = tmp_path / "out.csv"
    start = [sys.executable, "-c", HOLD, str(tmp_path / lock_name)]
    with subprocess.Popen(start, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(Claimed, match=r"holds out\.csv"), claim(place):
            pass
        remove_leftovers(tmp_path)
        assert os.listdir(tmp_path) == [lock_name]
        other.kill()
    with claim(place):
        assert os.listdir(tmp_path) == [lock_name]
    assert os.listdir(tmp_path) == []


def test_another_place_is_free(tmp_path):
    with claim(tmp_path / "a.csv"), claim(tmp_path / "b.csv"):
        assert len(os.listdir(tmp_path)) == 2


def test_only_hidden_files_that_nobody_holds_are_removed(tmp_path):
    for name in ("dead.part", "dead.lock", "live.part"):
        (tmp_path / f"{HIDDEN}{name}").write_text("half")
    (tmp_path / ".hidden").write_text("of the user")
    (tmp_path / f"{HIDDEN}link").symlink_to(tmp_path / ".hidden")
    os.mkfifo(tmp_path / f"{HIDDEN}pipe")
    with (tmp_path / f"{HIDDEN}live.part").open("ab") as live:
        assert try_lock(live.fileno())
        remove_leftovers(tmp_path)
    left = {".hidden", *(f"{HIDDEN}{name}" for name in ("live.part", "link", "pipe"))}
    assert set(os.listdir(tmp_path)) == left
