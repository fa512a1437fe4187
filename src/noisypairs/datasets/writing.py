"""Files written whole or not at all."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

HIDDEN = ".noisypairs-"
"""How the name of every hidden file begins that is written beside a file of the user."""

LONGEST_WRITE = 3600.0
"""Seconds after which a hidden file that has not changed was left by a kill."""

#: What a disk says that has no second names for a file.
NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


def write_whole(place: Path, content: bytes, replace: bool = True) -> None:
    """Write to a hidden file beside ``place``, which then takes the name in one step.

    A reader, or a second process, never sees half a file. A file that was there keeps its
    permissions, and its content until the last moment; without ``replace`` it stays, and
    `FileExistsError` is raised, even if it appeared only now. A symlink is followed. Hidden files
    that a killed process left in the folder are removed.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "a.txt"), b"whole")
    ...     Path(folder, "a.txt").read_bytes()
    b'whole'
    """
    place = Path(os.path.realpath(place))
    _remove_leftovers(place.parent)
    descriptor, name = tempfile.mkstemp(prefix=HIDDEN, suffix=".part", dir=place.parent)
    hidden = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(hidden, _mode(place))
        if replace:
            os.replace(hidden, place)
        else:
            _take_free_name(hidden, place)
    finally:
        hidden.unlink(missing_ok=True)


def _remove_leftovers(folder: Path) -> None:
    for hidden in folder.glob(f"{HIDDEN}*.part"):
        # One that is gone by now, or another user's, is left.
        with suppress(OSError):
            if time.time() - hidden.lstat().st_mtime > LONGEST_WRITE:
                hidden.unlink()


def _take_free_name(hidden: Path, place: Path) -> None:
    """Give a file its name unless another file has it, in one step."""
    if sys.platform == "win32":
        os.rename(hidden, place)  # refuses there, unlike elsewhere
        return
    try:
        os.link(hidden, place)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        os.replace(hidden, place)


def _mode(place: Path) -> int:
    """Return the permissions of the file there, else those a new file would get."""
    if place.exists():
        return place.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
