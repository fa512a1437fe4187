"""The folder of a run: ``run.json`` says what decides its results, ``records.jsonl`` holds them.

A record is one line, written by one system call to the end of the file and flushed to disk: lines
of parallel workers never mix, and a killed run loses at most the cells it was computing. A line
that a kill or a full disk tore is set aside in ``records.damaged`` when the run goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noisypairs.app.files.contents import plural, some
from noisypairs.app.files.writing import Claimed, atomic_write, claim
from noisypairs.experiments.spec import Spec

#: No cell takes thirty years.
MOST_SECONDS = 1e9
CONFIGURATION, RECORDS, SET_ASIDE = "run.json", "records.jsonl", "records.damaged"


class FolderMismatch(ValueError):
    """The output folder holds results of another configuration, or unexplained ones."""


@dataclass(frozen=True)
class Record:
    """The outcome of one spec, and everything else that its line holds."""

    spec: Spec
    accuracy: float
    names: str  # "matched": up to a swap of class names; "known": not
    refused: str | None  # why the method refused; the accuracy is then that of the larger class
    seconds: float
    details: Mapping[str, Any]

    def line(self) -> bytes:
        """Return the record as one line of JSON."""
        found = {
            "spec": self.spec.as_dict(),
            "accuracy": self.accuracy,
            "names": self.names,
            "refused": self.refused,
            "seconds": self.seconds,
            "details": dict(self.details),
        }
        return (json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n").encode()

    @classmethod
    def from_line(cls, line: bytes) -> Record:
        """Return the record of a line; anything else in it is a ValueError."""
        try:
            found = json.loads(line)
            record = cls(**{**found, "spec": Spec.from_dict(found["spec"])})
            if not (0.0 <= record.accuracy <= 1.0 and 0.0 <= record.seconds < MOST_SECONDS):
                raise ValueError("accuracy or seconds out of range")
            if not isinstance(record.refused, str | None) or not isinstance(record.details, dict):
                raise TypeError("expected a reason or null in 'refused', an object in 'details'")
            return record
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error


def append(path: Path, record: Record) -> None:
    """Add a record to the end of the file in one write, and wait until the disk has it.

    After a torn line it starts on a new one.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        line = b"\n" * _ends_torn(descriptor) + record.line()
        if os.write(descriptor, line) != len(line):
            raise OSError(f"{path}: the disk took only a part of a record; is it full?")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _ends_torn(descriptor: int) -> bool:
    """Whether the last line of a file lacks its end."""
    if os.lseek(descriptor, 0, os.SEEK_END) == 0:
        return False
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1) != b"\n"


def load_records(folder: Path) -> dict[Spec, Record]:
    """Return the records of a folder by spec, in the order in which they were written.

    A last line without its end was torn by a kill and does not count; of two records of one spec
    (two runs at once) the first does.
    """
    records: dict[Spec, Record] = {}
    for number, _, found in _lines(folder):
        if isinstance(found, ValueError):
            raise FolderMismatch(
                f"{folder / RECORDS}, line {number} is not a record of this version ({found}): "
                "noisypairs reproduce with --resume sets it aside and runs its cell again"
            ) from found
        if found is not None:
            records.setdefault(found.spec, found)
    return records


def finished(folder: Path) -> set[Spec]:
    """Return the specs that have a record, whatever else is in the file.

    >>> finished(Path("none"))
    set()
    """
    return {found.spec for *_, found in _lines(folder) if isinstance(found, Record)}


def set_aside(folder: Path) -> str | None:
    """Move damaged lines to the file beside, so that their cells are run again; say so.

    A last line that lacks its end is one of them.
    """
    lines = list(_lines(folder))
    bad = [(number, line) for number, line, found in lines if not isinstance(found, Record)]
    if not bad:
        return None
    with (folder / SET_ASIDE).open("ab") as file:
        file.writelines(line + b"\n" for _, line in bad)
        file.flush()
        os.fsync(file.fileno())
    good = b"".join(line + b"\n" for _, line, found in lines if isinstance(found, Record))
    atomic_write(folder / RECORDS, good, force=True)
    numbers = some([number for number, _ in bad])
    return (
        f"{folder / RECORDS}: {plural(len(bad), 'damaged line')} (number {numbers}) set aside in "
        f"{folder / SET_ASIDE}; cells without a record are run again"
    )


def _lines(folder: Path) -> Iterator[tuple[int, bytes, Record | ValueError | None]]:
    """Yield number, bytes and record of each line, or why it is none; None if it lacks its end."""
    path = folder / RECORDS
    lines = path.read_bytes().split(b"\n") if path.is_file() else [b""]
    for number, line in enumerate(lines, start=1):
        if number == len(lines):
            if line:
                yield number, line, None
            return
        try:
            yield number, line, Record.from_line(line)
        except ValueError as error:
            yield number, line, error


@contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Hold a folder, made if need be, until the block ends; refuse one that another run holds."""
    if folder.exists() and not folder.is_dir():
        raise FolderMismatch(f"{folder} is a file: give the name of a folder")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with claim(folder / RECORDS):
            yield
    except Claimed as error:
        raise FolderMismatch(
            f"{folder} is in use by another run: wait until that ends, or give another folder"
        ) from error


def open_folder(folder: Path, configuration: Mapping[str, Any], resume: bool) -> str | None:
    """Make the folder ready to append to, or refuse it and leave everything as it is.

    Returns what is to be said about damaged lines, if there were any.

    ``configuration`` is what decides results: {"decides": {name: value}, "data": {table: digests},
    "environment": …}. A folder is continued only where the first agrees and no table has changed.
    """
    path = folder / CONFIGURATION
    if path.is_file():
        known = _read(path)
        _require_same(folder, known, configuration)
        if not resume and any(found is not None for *_, found in _lines(folder)):
            raise FolderMismatch(
                f"{folder} already holds records: add --resume to go on with them, or give "
                "another folder"
            )
        configuration = {**known, "data": {**known["data"], **configuration["data"]}}
    elif (folder / RECORDS).exists():
        raise FolderMismatch(
            f"{folder} holds {RECORDS}, but no {CONFIGURATION} that says what made it: give "
            "another folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    note = set_aside(folder)
    text = json.dumps(configuration, indent=2, ensure_ascii=False) + "\n"
    atomic_write(path, text, force=True)
    return note


def configuration_of(folder: Path) -> dict[str, Any]:
    """Return what ``run.json`` of a folder says."""
    path = folder / CONFIGURATION
    if not path.is_file():
        raise FolderMismatch(
            f"{folder} is not a folder of noisypairs reproduce: it has no {CONFIGURATION}"
        )
    return _read(path)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        parts = {name: dict(found[name]) for name in ("decides", "data")}
        for table in parts["data"].values():
            table["sha256"] = dict(table["sha256"])
        return parts | {"environment": dict(found.get("environment", {}))}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        why = f"{type(error).__name__}: {error}"
        raise FolderMismatch(f"{path} cannot be read ({why}): give another folder") from error


def _require_same(folder: Path, known: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    differences = [
        f"{name} is {known['decides'].get(name)!r} there and {value!r} now"
        for name, value in wanted["decides"].items()
        if known["decides"].get(name) != value
    ]
    differences += [
        f"the table {name!r} has another checksum there"
        for name, digests in wanted["data"].items()
        if known["data"].get(name, digests) != digests
    ]
    if differences:
        raise FolderMismatch(
            f"{folder} holds results of another configuration: {'; '.join(differences)}. "
            "Give another folder"
        )
