"""The bytes of a file and the text in them: what cannot be read is refused by name, line and fix.

Compressed files are unpacked, byte order marks removed and other encodings recognised; each of
these leaves a note. Binary files, folders and archives are refused with what to do instead, and so
are pipes and devices: only what stands on standard input is read, where ``-`` asks for it.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import stat
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, TextIO, TypedDict

import numpy as np
from numpy.typing import NDArray

GZIP, PARQUET, ZIP = b"\x1f\x8b", b"PAR1", b"PK\x03\x04"

STANDARD_INPUT = Path("-")
"""How a file is called that is read from standard input."""

MAX_UNPACKED = 4 * 2**30
"""A compressed file that unpacks to more bytes than this is refused: it may be a trap."""

MAX_RATIO, ANY_RATIO = 200, 64 * 2**20
"""So is one that unpacks to more than 200 times its size, once that is more than 64 MiB."""


class BadFile(ValueError):
    """A file cannot be read as what it should hold; the message names file, place and fix."""


class SourceFile(TypedDict):
    """Where data came from: path as given, size in bytes, SHA-256 and number of rows."""

    path: str
    bytes: int
    sha256: str
    rows: int


@dataclass(frozen=True, eq=False)
class Content:
    """What a file holds: its unpacked bytes, the digest of what lies on disk, and notes."""

    path: Path
    data: bytes
    size: int
    sha256: str
    notes: tuple[str, ...] = ()

    @property
    def is_archive(self) -> bool:
        """Whether the bytes are a zip archive, as .npz files and Excel workbooks are."""
        return self.data.startswith(ZIP)

    @property
    def is_parquet(self) -> bool:
        """Whether the bytes begin as a Parquet file does."""
        return self.data.startswith(PARQUET)

    def source(self, rows: int) -> SourceFile:
        """Return where the data came from, with how many rows were found there."""
        return {"path": str(self.path), "bytes": self.size, "sha256": self.sha256, "rows": rows}

    @contextmanager
    def opened(self, what: str, fix: str) -> Iterator[io.BytesIO]:
        """Give the bytes to a reader, unless they are an archive that is a trap."""
        with whole(self.path, what, fix):
            if self.is_archive:
                with zipfile.ZipFile(io.BytesIO(self.data)) as archive:
                    unpacked = sum(one.file_size for one in archive.infolist())
                _refuse_trap(self.path, self.size, unpacked)
            yield io.BytesIO(self.data)


@contextmanager
def whole(path: Path, what: str, fix: str) -> Iterator[None]:
    """Refuse a file that the block cannot read, as it may be damaged in any way."""
    try:
        yield
    except BadFile:
        raise
    except PermissionError as error:
        raise unreadable(path, error) from error
    except Exception as error:
        said = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadFile(f"{path} cannot be read as {what} ({said}): {fix}") from error


@contextmanager
def about(path: PathLike[str] | str) -> Iterator[None]:
    """Put the name of the file before whatever a ValueError or TypeError of the block says.

    >>> with about("pairs.csv"):
    ...     raise ValueError("no answers")
    Traceback (most recent call last):
    noisypairs.app.files.contents.BadFile: pairs.csv: no answers
    """
    try:
        yield
    except BadFile:
        raise
    except (ValueError, TypeError) as error:
        raise BadFile(f"{path}: {error}") from error


def load(path: PathLike[str] | str) -> Content:
    """Read a file once, unpacked if it is compressed; say plainly why it cannot be read."""
    path = Path(path)
    if (what := special(path)) is not None:
        raise BadFile(f"{path} is {what}, expected a file: save it as one, or give - and < {path}")
    try:
        packed = _standard_input(sys.stdin) if path == STANDARD_INPUT else path.read_bytes()
    except FileNotFoundError:
        raise BadFile(f"{path} does not exist{_neighbour(path)}") from None
    except IsADirectoryError:
        raise BadFile(f"{path} is a folder, expected a file: name the file in it") from None
    except (OSError, ValueError) as error:  # a path may itself hold a NUL
        raise unreadable(path, error) from error
    notes: tuple[str, ...] = ()
    data = packed
    if packed.startswith(GZIP):
        data = _unpack(packed, path)
        if path != STANDARD_INPUT and path.suffix.lower() not in (".gz", ".gzip"):
            notes = (f"{path.name} is gzip-compressed despite its name and was unpacked",)
    if not data.strip():
        raise empty(path)
    return Content(path, data, len(packed), hashlib.sha256(packed).hexdigest(), notes)


def unreadable(path: Path, error: Exception) -> BadFile:
    """Return the refusal of a file that the system does not let us read."""
    if isinstance(error, PermissionError):
        return BadFile(f"{path} cannot be read: no permission. Ask its owner, or copy it")
    return BadFile(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}")


@lru_cache(maxsize=1)
def _standard_input(stream: TextIO) -> bytes:
    """Return what a stream holds, which can be read only once, as often as it is asked for."""
    return stream.buffer.read()


def special(path: Path) -> str | None:
    """Return what something is that is there and neither a file nor a folder, else None.

    >>> special(Path("/dev/null")), special(Path("/dev"))
    ('a device', None)
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # a path may itself hold a NUL
        return None
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return None
    return "a pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"


def empty(path: Path) -> BadFile:
    """Return the refusal of a file that holds nothing, or nothing but blanks and marks."""
    return BadFile(f"{path} is empty: expected a header line and rows below it")


def _neighbour(path: Path) -> str:
    """Offer the file of the same folder that is spelt most alike."""
    from difflib import get_close_matches

    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f", nor can its folder {path.parent} be read"
    near = get_close_matches(path.name, names, n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else f": there is no such file in {path.parent}"


def _refuse_trap(path: Path, packed: int, unpacked: int) -> None:
    if unpacked > (most := _most_unpacked(packed)):
        raise BadFile(
            f"{path} has {packed:,} bytes and unpacks to more than {most:,}, as a trap would "
            f"({MAX_RATIO} times its size is the most): unpack it yourself if you trust it"
        )


def _most_unpacked(packed: int) -> int:
    return min(max(MAX_RATIO * packed, ANY_RATIO), MAX_UNPACKED)


def _unpack(packed: bytes, path: Path) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
            data = stream.read(_most_unpacked(len(packed)) + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BadFile(
            f"{path} is a damaged gzip file, or ends too early ({error}): copy or compress it again"
        ) from error
    _refuse_trap(path, len(packed), len(data))
    return data


def decode(content: Content) -> tuple[str, tuple[str, ...]]:
    r"""Return the text of a file and how it had to be read, or refuse what is no text.

    UTF-8, with or without byte order mark; UTF-16 by its mark; else Windows-1252, with a note.

    >>> decode(Content(Path("a.csv"), b"\xef\xbb\xbfid\nc\xc3\xa9\n", 0, ""))
    ('id\ncé\n', ('a.csv: byte order mark removed',))
    """
    data, path = content.data, content.path
    if content.is_archive:
        raise BadFile(f"{path} is a zip archive or an Excel workbook: export the sheet as CSV")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16"), (f"{path.name}: read as UTF-16",)
        except UnicodeDecodeError as error:
            line = data[: error.start].decode("utf-16", "replace").count("\n") + 1
            why = f"damaged UTF-16 text ({error.reason}): save it as UTF-8"
            raise BadFile(f"{path}, line {line}: {why}") from error
    if (at := data.find(b"\0")) >= 0:
        line = data.count(b"\n", 0, at) + 1
        raise BadFile(f"{path} holds a NUL byte on line {line}: it is no text. Save it as CSV")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, at = data.count(b"\n", 0, error.start) + 1, error.start
    else:
        marked = text.startswith("\ufeff")
        return text[marked:], (f"{path.name}: byte order mark removed",) * marked
    with suppress(UnicodeDecodeError):
        data.decode("utf-8", "surrogatepass")
        raise half_character(path, line, f"the byte sequence {data[at : at + 3].hex(' ')}")
    byte = f"byte {data[at]:#04x} on line {line}"
    with suppress(UnicodeDecodeError):
        note = f"not UTF-8 ({byte}), so read as Windows-1252"
        note = f"{path.name}: {note}; save it as UTF-8 if names look wrong"
        return data.decode("cp1252"), (note,)
    raise BadFile(
        f"{path} is neither UTF-8 nor Windows-1252: {byte} fits neither. Save it as UTF-8"
    )


def half_character(path: Path, line: int, written: str) -> BadFile:
    """Return the refusal of half of a character, which some programs write and none can read."""
    return BadFile(
        f"{path}, line {line}: {written} is half of a character (a lone surrogate), which no file "
        "can hold: write the whole character there, or none"
    )


def plural(count: int, noun: str, several: str | None = None) -> str:
    """Return a count with its noun.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"


def some(values: Sequence[object], at_most: int = 4) -> str:
    """Return up to four values as a list in words, none longer than 200 characters.

    >>> some(["a", "b", "c", "d", "e"])
    "'a', 'b', 'c', 'd', …"
    """
    shown = [text if len(text := repr(v)) < 200 else f"{text[:199]}…" for v in values[:at_most]]
    return ", ".join(shown) + (", …" if len(values) > at_most else "")


MAX_DEPTH = 100
"""Lists and objects inside each other, at most; no export of answers has more than ten."""

#: A pair of surrogates, one alone, any other escape: a backslash is never taken for a new one.
_ESCAPES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<alone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)


def parse_json(text: str, path: Path, line: int | None = None) -> Any:
    """Parse a whole JSON file, or the text of one line of it; an error names the line."""
    place = path if line is None else f"{path}, line {line}"
    try:
        level = [found := json.loads(text)]
        for _ in range(MAX_DEPTH + 1):
            level = [one for one in level if isinstance(one, dict | list)]
            if not level:
                break
            level = [one for outer in level for one in _inside(outer)]
        else:
            raise RecursionError
    except RecursionError as error:
        deep = f"nested more than {MAX_DEPTH} levels deep: expected a list of answers"
        raise BadFile(f"{place}: {deep}, or one flat object per line") from error
    except ValueError as error:  # numbers may have too many digits
        if line is None and isinstance(error, json.JSONDecodeError):
            place = f"{path}, line {error.lineno}"
        fix = "export it again" if line is None else "expected one object per line"
        raise BadFile(f"{place}: not valid JSON ({error}): {fix}") from error
    if (half := lone_surrogate(text)) is not None:
        number = (line or 1) + text.count("\n", 0, half)
        raise half_character(path, number, text[half : half + 6])
    return found


def _inside(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def lone_surrogate(text: str) -> int | None:
    r"""Return where an escape stands for half of a character, None if none does.

    >>> [lone_surrogate(text) for text in (r'"\ud83d\ude00"', r'"a\ud83d"', r'"\\ud83d"')]
    [None, 2, None]
    """
    alone = _ESCAPES.finditer(text) if "\\u" in text else ()
    return next((found.start() for found in alone if found["alone"]), None)


ARRAYS = (".npy", ".npz")


def load_arrays(content: Content, advice: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a .npz by name, that of a .npy under ""; ``advice`` says how to save."""
    with content.opened("numpy arrays", advice) as data:
        loaded = np.load(data, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"": loaded}
        found = {name: loaded[name] for name in loaded.files}
        for name, array in found.items():
            if not isinstance(array, np.ndarray):  # numpy gives the bytes of any other member
                raise BadFile(f"{content.path}: its part {name!r} is no array: {advice}")
        return found
    raise AssertionError("a file is read, or refused")
