"""The folder of a run: ``run.json`` says what decides its results, ``records.jsonl`` holds them.

A record is one line, written by one system call to the end of the file and flushed to disk: lines
of parallel workers never mix, and a killed run loses at most the cells it was computing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noisypairs.app.experiments.spec import Spec
from noisypairs.app.files.writing import atomic_write
from noisypairs.datasets.locks import Claimed, claim

CONFIGURATION, RECORDS = "run.json", "records.jsonl"


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
        """Return the record of a line."""
        found = json.loads(line)
        return cls(**{**found, "spec": Spec.from_dict(found["spec"])})


def append(path: Path, record: Record) -> None:
    """Add a record to the end of the file in one write, and wait until the disk has it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        line = record.line()
        if os.write(descriptor, line) != len(line):
            raise OSError(f"{path}: the disk took only a part of a record; is it full?")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def load_records(folder: Path) -> dict[Spec, Record]:
    """Return the records of a folder by spec, in the order in which they were written.

    A last line without its end was torn by a kill and does not count; of two records of one spec
    (two runs at once) the first does.
    """
    path = folder / RECORDS
    if not path.is_file():
        return {}
    records: dict[Spec, Record] = {}
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines[:-1], start=1):  # after the last end there is nothing
        try:
            record = Record.from_line(line)
        except (ValueError, TypeError, KeyError) as error:
            raise FolderMismatch(
                f"{path}, line {number} is not a record of this version ({error}): repair or "
                "remove the line, or give another folder with --out"
            ) from error
        records.setdefault(record.spec, record)
    return records


def drop_torn_line(folder: Path) -> None:
    """Cut off a last line that lacks its end, so that the next record starts on a new one."""
    path = folder / RECORDS
    if path.is_file():
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(path, whole)


@contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Hold a folder, made if need be, until the block ends; refuse one that another run holds."""
    if folder.exists() and not folder.is_dir():
        raise FolderMismatch(f"--out {folder} is a file: give the name of a folder")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with claim(folder / RECORDS):
            yield
    except Claimed as error:
        raise FolderMismatch(
            f"--out {folder} is in use by another noisypairs reproduce: wait until that ends and "
            "add --resume, or give another folder"
        ) from error


def open_folder(folder: Path, configuration: Mapping[str, Any], resume: bool) -> None:
    """Make the folder ready to append to, or refuse it and leave everything as it is.

    ``configuration`` is what decides results: {"decides": {name: value}, "data": {table: digests},
    "environment": …}. A folder is continued only where the first agrees and no table has changed.
    """
    path = folder / CONFIGURATION
    if path.is_file():
        known = _read(path)
        _require_same(folder, known, configuration)
        if load_records(folder) and not resume:
            raise FolderMismatch(
                f"--out {folder} already holds records: add --resume to go on with them, or give "
                "another folder"
            )
        configuration = {**known, "data": {**known["data"], **configuration["data"]}}
    elif (folder / RECORDS).exists():
        raise FolderMismatch(
            f"--out {folder} holds {RECORDS}, but no {CONFIGURATION} that says what made it: give "
            "another folder"
        )
    folder.mkdir(parents=True, exist_ok=True)
    drop_torn_line(folder)
    text = json.dumps(configuration, indent=2, ensure_ascii=False) + "\n"
    atomic_write(path, text, force=True)


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
        return {"decides": dict(found["decides"]), "data": dict(found["data"]), **found}
    except (ValueError, TypeError, KeyError) as error:
        raise FolderMismatch(f"{path} cannot be read ({error}): give another folder") from error


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
            f"--out {folder} holds results of another configuration: {'; '.join(differences)}. "
            "Give another folder"
        )
