"""Files that a user asked for: whole or not at all, and never over another one unasked."""

from __future__ import annotations

import os

import pytest

from noisypairs.app.files import CannotWrite, atomic_write


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
