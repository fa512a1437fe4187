"""Locks on files: held by one process at a time, and released by its end, however it ends.

What is locked is an open file, so that a lock never outlives its process. A hidden file that nobody
holds was left by a kill and may be removed.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

HIDDEN = ".noisypairs-"
"""How the name of every hidden file begins that is written beside a file of the user."""

PATIENCE = 0.2
"""Seconds for which a claim waits: whoever removes what a kill left holds it for a moment."""


class Claimed(OSError):
    """Another process holds the place."""


def try_lock(descriptor: int) -> bool:
    """Lock an open file without waiting; return False if another process or opening holds it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


@contextmanager
def claim(place: Path) -> Iterator[None]:
    """Hold a file or folder that need not exist until the block ends; `Claimed` if another does.

    The lock is a hidden file beside it, removed at the end. On a disk without locks nothing is
    held.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, claim(Path(folder, "a.csv")):
    ...     with claim(Path(folder, "a.csv")):
    ...         pass
    Traceback (most recent call last):
    noisypairs.datasets.locks.Claimed: another process holds a.csv
    """
    name = hashlib.sha256(os.fsencode(place.name)).hexdigest()[:16]
    path = place.parent / f"{HIDDEN}{name}.lock"
    descriptor = _claimed(path, place)
    try:
        yield
    finally:
        with suppress(OSError):  # somebody may have removed it, or Windows refuse while it is open
            path.unlink()
        os.close(descriptor)


def _claimed(path: Path, place: Path) -> int:
    """Return the descriptor of a lock file that is ours and still has its name."""
    last = time.monotonic() + PATIENCE
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            held = try_lock(descriptor)
        except OSError:  # a disk without locks
            return descriptor
        if held and os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)
        if time.monotonic() > last:
            raise Claimed(f"another process holds {place.name}")
        time.sleep(PATIENCE / 20)


def remove_leftovers(folder: Path) -> None:
    """Remove the hidden files in a folder that no running process holds."""
    with os.scandir(folder) as entries:
        hidden = [one for one in entries if one.name.startswith(HIDDEN)]
    for entry in hidden:
        # One that is gone by now, or another user's, or lies on a disk without locks, is left.
        with suppress(OSError):
            if entry.is_file(follow_symlinks=False):
                _remove_if_free(entry.path)


def _remove_if_free(path: str) -> None:
    descriptor = os.open(path, os.O_RDWR)
    try:
        if try_lock(descriptor):
            os.unlink(path)
    finally:
        os.close(descriptor)
