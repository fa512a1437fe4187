"""Files that a user asked for: written whole or not at all, or refused before the work begins."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any

from noisypairs.app.files.contents import special
from noisypairs.datasets.writing import HIDDEN, write_whole
from noisypairs.errors import did_you_mean

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


PATIENCE = 0.2
"""Seconds for which a claim waits: cleaning up after a killed process holds it for a moment."""


class Claimed(OSError):
    """Another process holds the place."""


@contextmanager
def claim(place: Path) -> Iterator[None]:
    """Hold a file or folder that need not exist until the block ends; `Claimed` if another does.

    The lock is a hidden file beside it, and ends with the process, however that ends.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, claim(Path(folder, "a.csv")):
    ...     with claim(Path(folder, "a.csv")):
    ...         pass
    Traceback (most recent call last):
    noisypairs.app.files.writing.Claimed: another process holds a.csv
    """
    from filelock import FileLock, Timeout

    name = hashlib.sha256(os.fsencode(place.name)).hexdigest()[:16]
    lock = FileLock(place.parent / f"{HIDDEN}{name}.lock", timeout=PATIENCE)
    try:
        lock.acquire()
    except Timeout:
        raise Claimed(f"another process holds {place.name}") from None
    try:
        yield
    finally:
        with suppress(OSError):  # Windows refuses while it is open
            os.unlink(lock.lock_file)  # while it is ours: those who wait see that it is gone
        lock.release()


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


#: The last four are the wide forms of East Asian keyboards.
_FORMULA = re.compile(r"'*[=+\-@\t\r＝＋－＠].", re.DOTALL)
_NUMBER = re.compile(r"[+-][\d.,]+([eE][+-]?\d+)?%?")
_MARKS = re.compile(r'[,;|\t\r\n"]')


def guarded(text: str) -> str:
    """Return text with an apostrophe before it where a spreadsheet would run it; numbers stay.

    >>> [guarded(text) for text in ("=1+1", "-x", "-1.5", "a=b", "-", "'=1+1")]
    ["'=1+1", "'-x", '-1.5', 'a=b', '-', "''=1+1"]
    """
    return f"'{text}" if _is_formula(text) else text


def unguarded(text: str) -> str:
    """Return what `guarded` was given; text without an apostrophe to take off is left as it is.

    >>> [unguarded(text) for text in ("'=1+1", "=1+1", "''=1+1", "'-1.5", "'a")]
    ['=1+1', '=1+1', "'=1+1", "'-1.5", "'a"]
    """
    return text[1:] if text.startswith("'") and _is_formula(text[1:]) else text


def _is_formula(text: str) -> bool:
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def delimited_text(
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    delimiter: str = ",",
    raw: bool = False,
    decimals: int | None = None,
) -> str:
    r"""Return a table as the text of a file; text is `guarded` unless ``raw``, None and NaN empty.

    Numbers have all their digits, or this number of decimals. Text with a delimiter of any kind
    stands in quotes: which of them a spreadsheet takes depends on its language.

    >>> delimited_text(["id", "p"], [("=1+1", 0.25), ("a;b", None)])
    'id,p\n\'=1+1,0.25\n"a;b",\n'
    """

    def cell(value: Any) -> str:
        if value is None or value != value:
            return ""
        if isinstance(value, float):
            return repr(float(value)) if decimals is None else f"{value:.{decimals}f}"
        text = str(value)
        if isinstance(value, str) and not raw:
            text = guarded(text)
        return '"{}"'.format(text.replace('"', '""')) if _MARKS.search(text) else text

    return "".join(delimiter.join(map(cell, row)) + "\n" for row in (names, *rows))


_WRITERS: dict[str, Callable[[Any, bool, int | None], Any]] = {
    ".csv": lambda table, raw, decimals: _delimited(table, ",", raw, decimals),
    ".tsv": lambda table, raw, decimals: _delimited(table, "\t", raw, decimals),
    ".jsonl": lambda table, *_: table.to_json(orient="records", lines=True, force_ascii=False),
    ".parquet": lambda table, *_: table.to_parquet(index=False),
}


def table_writer(
    path: Path, raw: bool = False, decimals: int | None = None
) -> Callable[[Any], str | bytes]:
    """Return the function from a data frame to the content of a file of this extension.

    Standard output gets CSV. In .csv and .tsv, cells that a spreadsheet would run are guarded,
    unless ``raw``, and numbers have so many ``decimals``, by default all they have.
    """
    kind = ".csv" if path == STANDARD_OUTPUT else path.suffix.lower()
    if kind not in _WRITERS:
        raise ValueError(f"{path} has the extension {kind!r}: {did_you_mean(kind, _WRITERS)}")
    return lambda table: _WRITERS[kind](table, raw, decimals)


def _delimited(table: Any, delimiter: str, raw: bool, decimals: int | None) -> str:
    rows = table.itertuples(index=False, name=None)
    return delimited_text(list(table), rows, delimiter, raw, decimals)
