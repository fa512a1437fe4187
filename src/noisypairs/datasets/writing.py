"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(place: Path, content: bytes) -> None:
    """Write to a temporary file beside ``place``, which then takes the name in one step.

    A reader, or a second process, never sees half a file. A file that was there keeps its
    permissions, and its content until the last moment.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "a.txt"), b"whole")
    ...     Path(folder, "a.txt").read_bytes()
    b'whole'
    """
    handle, temporary = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, _mode(place))
        os.replace(temporary, place)
    finally:
        Path(temporary).unlink(missing_ok=True)


def _mode(place: Path) -> int:
    """Return the permissions of the file there, else those a new file would get."""
    if place.exists():
        return place.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
