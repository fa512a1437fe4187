"""Files that a user asked for: written whole or not at all, or refused before the work begins."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path

from noisypairs.datasets.writing import write_whole


class CannotWrite(ValueError):
    """A file cannot be written where it was asked for; the message says why and what to do."""


def check_writable(path: PathLike[str] | str, force: bool = False) -> Path:
    """Refuse a path that `atomic_write` could not write, before any long work begins.

    >>> check_writable("none/a.csv")
    Traceback (most recent call last):
    noisypairs.app.files.writing.CannotWrite: the folder none of a.csv does not exist: make it first
    """
    path = Path(path)
    if path.is_dir():
        raise CannotWrite(f"{path} is a folder: name a file in it")
    if path.exists() and not force:
        raise CannotWrite(f"{path} exists already: choose another name, or overwrite with --force")
    folder = path.parent
    if not folder.is_dir():
        why = "is not a folder" if folder.exists() else "does not exist"
        raise CannotWrite(f"the folder {folder} of {path.name} {why}: make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CannotWrite(f"no permission to write in the folder {folder}: choose another")
    return path


def atomic_write(path: PathLike[str] | str, content: bytes | str, force: bool = False) -> Path:
    """Write a file whole or not at all; an existing one is kept unless `force`.

    Text is written as UTF-8 with newlines as they are.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     atomic_write(Path(folder, "a.txt"), "whole").read_text()
    'whole'
    """
    target = check_writable(path, force)
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        write_whole(target, data)
    except OSError as error:
        raise CannotWrite(f"{target} cannot be written: {error.strerror}") from error
    return target
