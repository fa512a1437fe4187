"""Files that a user asked for: written whole or not at all, or refused before the work begins."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from noisypairs.app.files.contents import special
from noisypairs.datasets.locks import Claimed, claim
from noisypairs.datasets.writing import write_whole

STANDARD_OUTPUT = Path("-")
"""How a file is called that is written to standard output."""


class CannotWrite(ValueError):
    """A file cannot be written where it was asked for; the message says why and what to do."""


def check_writable(path: PathLike[str] | str, force: bool = False) -> Path:
    """Refuse a path that `atomic_write` could not write, before any long work begins.

    >>> check_writable("none/a.csv")
    Traceback (most recent call last):
    noisypairs.app.files.writing.CannotWrite: the folder none of a.csv does not exist: make it first
    """
    path = Path(path)
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if target.is_symlink():
        raise CannotWrite(f"{path} is a symlink that leads in a circle: choose another name")
    if target.is_dir():
        raise CannotWrite(f"{path} is a folder: name a file in it")
    if (what := special(target)) is not None:
        raise CannotWrite(f"{path} is {what}, which is never written to: name an ordinary file")
    if target.exists() and not force:
        raise CannotWrite(f"{path} exists already: choose another name, or overwrite with --force")
    folder = target.parent
    if not folder.is_dir():
        why = "is not a folder" if folder.exists() else "does not exist"
        raise CannotWrite(f"the folder {folder} of {target.name} {why}: make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CannotWrite(f"no permission to write in the folder {folder}: choose another")
    return path


def check_folder(path: PathLike[str] | str, force: bool = False) -> Path:
    """Refuse a folder that files cannot be put into, or that holds some, unless `force`.

    >>> check_folder("none/sample")
    Traceback (most recent call last):
    noisypairs.app.files.writing.CannotWrite: the folder none of sample does not exist: make it
    first
    """
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise CannotWrite(f"{path} is a file: name a folder")
    if path.is_dir():
        if not force and any(path.iterdir()):
            raise CannotWrite(f"{path} holds files already: name another folder, or use --force")
        check_writable(path / "file", force=True)
        return path
    return check_writable(path)


@contextmanager
def reserved(path: PathLike[str] | str, force: bool = False) -> Iterator[Path]:
    """Keep a path for this process until the block ends; refuse one that another has reserved.

    Two commands that would write one file are so told apart before their work, not after it.
    """
    target = check_writable(path, force)
    try:
        with claim(Path(os.path.realpath(target))):
            yield check_writable(path, force)  # it may have been written a moment ago
    except Claimed as error:
        raise CannotWrite(
            f"{path} is being written by another process: wait until that ends, or choose another "
            "name"
        ) from error


def atomic_write(path: PathLike[str] | str, content: bytes | str, force: bool = False) -> Path:
    """Write a file whole or not at all; an existing one is kept unless `force`.

    Text is written as UTF-8 with newlines as they are. A symlink is followed to the file it names.
    `STANDARD_OUTPUT` is written to for as long as somebody reads it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     atomic_write(Path(folder, "a.txt"), "whole").read_text()
    'whole'
    """
    # Names of files need not be text; whatever quotes one is still worth writing.
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    if path == STANDARD_OUTPUT:
        _to_standard_output(data)
        return STANDARD_OUTPUT
    target = check_writable(path, force)
    try:
        write_whole(target, data, replace=force)
    except FileExistsError as error:
        raise CannotWrite(
            f"{target} was written by another process in the meantime and is kept: choose another "
            "name, or overwrite with --force"
        ) from error
    except OSError as error:
        raise CannotWrite(f"{target} cannot be written: {error.strerror}") from error
    return target


def _to_standard_output(data: bytes) -> None:
    """Write and flush; a reader that has seen enough, such as ``head``, is no failure."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more can be said
