"""Files that a user asked for: whole or not at all, and never over another one unasked."""

from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys

import pytest

from noisypairs.app.files import CannotWrite, atomic_write, reserved
from noisypairs.app.files.writing import Claimed, claim
from noisypairs.datasets.writing import HIDDEN, LONGEST_WRITE


def test_files_are_written_whole_or_not_at_all(tmp_path):
    path = atomic_write(tmp_path / "out.csv", "é\n")
    assert path.read_bytes() == "é\n".encode()
    with pytest.raises(CannotWrite, match="exists already"):
        atomic_write(path, b"new")
    assert path.read_text(encoding="utf-8") == "é\n"
    path.chmod(0o640)
    atomic_write(path, b"new", force=True)
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    for bad in (tmp_path, tmp_path / "no" / "out.csv", path / "out.csv"):
        with pytest.raises(CannotWrite):
            atomic_write(bad, "x", force=True)
    assert os.listdir(tmp_path) == ["out.csv"]


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = atomic_write(tmp_path / "out.csv", "old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CannotWrite, match="No space left"):
        atomic_write(path, "new", force=True)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_what_is_no_ordinary_file_is_never_replaced(tmp_path):
    pipe, link = tmp_path / "pipe.csv", tmp_path / "null.csv"
    os.mkfifo(pipe)
    link.symlink_to("/dev/null")
    for path, what in ((pipe, "a pipe"), (link, "a device")):
        with pytest.raises(CannotWrite, match=f"is {what}, .*name an ordinary file"):
            atomic_write(path, "x", force=True)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        with pytest.raises(CannotWrite, match="is a socket"):
            atomic_write(tmp_path / "s", "x", force=True)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert link.is_symlink()


def test_a_symlink_is_written_through(tmp_path):
    (tmp_path / "far").mkdir()
    target, link = tmp_path / "far" / "out.csv", tmp_path / "link.csv"
    link.symlink_to("far/out.csv")
    atomic_write(link, "new")  # the target is made where the link leads
    with pytest.raises(CannotWrite, match=r"link\.csv exists already"):
        atomic_write(link, "newer")
    atomic_write(link, "newest", force=True)
    assert link.is_symlink()
    assert target.read_text() == "newest"
    assert os.listdir(tmp_path / "far") == ["out.csv"]
    circle = tmp_path / "circle.csv"
    circle.symlink_to(circle)
    with pytest.raises(CannotWrite, match="leads in a circle"):
        atomic_write(circle, "x", force=True)


def test_what_a_kill_left_goes_and_what_another_process_writes_stays(tmp_path):
    dead, live, own = (tmp_path / f"{HIDDEN}{name}" for name in ("dead.part", "live.part", "note"))
    for path in (dead, live, own):
        path.write_text("half")
    for path in (dead, own):
        os.utime(path, (long_ago := path.stat().st_mtime - 2 * LONGEST_WRITE, long_ago))
    atomic_write(tmp_path / "out.csv", "whole")
    assert sorted(os.listdir(tmp_path)) == [live.name, own.name, "out.csv"]


HOLD = """
import sys, time
from pathlib import Path
from noisypairs.app.files.writing import claim
with claim(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_claim_ends_with_the_process_that_holds_it(tmp_path):
    place = tmp_path / "out.csv"
    start = [sys.executable, "-c", HOLD, str(place)]
    with subprocess.Popen(start, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(Claimed, match=r"holds out\.csv"), claim(place):
            pass
        with claim(tmp_path / "another.csv"):
            assert len(os.listdir(tmp_path)) == 2
        other.kill()
    with claim(place):
        assert len(os.listdir(tmp_path)) == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
def test_a_file_that_appears_between_check_and_replace_is_kept(tmp_path, monkeypatch, links):
    path = tmp_path / "out.csv"
    if not links:

        def refused(*_):
            raise OSError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(os, "link", refused)
        assert atomic_write(tmp_path / "free.csv", "whole").read_text() == "whole"
    monkeypatch.setattr(os, "fsync", lambda _: path.write_text("of another process"))
    with pytest.raises(CannotWrite, match="by another process in the meantime and is kept"):
        atomic_write(path, "ours")
    assert path.read_text() == "of another process"
    assert not [name for name in os.listdir(tmp_path) if name.startswith(HIDDEN)]


def test_a_place_is_reserved_for_one_process(tmp_path):
    path, link = tmp_path / "out.csv", tmp_path / "link.csv"
    link.symlink_to(path)
    with reserved(path):
        for name in (path, link):
            with pytest.raises(CannotWrite, match="is being written by another process"):
                reserved(name, force=True).__enter__()
        atomic_write(path, "whole")
    with pytest.raises(CannotWrite, match="exists already"), reserved(path):
        pass
    with reserved(link, force=True):
        assert path.read_text() == "whole"
