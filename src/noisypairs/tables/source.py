"""Where a pair table comes from: files that must not change, or an Ibis expression."""

from __future__ import annotations

import csv
import glob
import gzip
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from noisypairs.tables.engine import (
    ChangedTable,
    UnreadableTable,
    duckdb_engine,
    errors_naming,
    without_engine_warnings,
)
from noisypairs.tables.spark import read_with_spark

Kind = Literal["parquet", "csv"]
SUFFIXES: dict[str, tuple[str, ...]] = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".csv.gz", ".tsv", ".txt"),
}


@dataclass(frozen=True)
class Files:
    """Files of pairs read by one engine; pickles as its paths and is opened again elsewhere.

    ``state`` is (path, bytes, time of change) of every file when the table was opened; every pass
    compares before and after, and refuses (`ChangedTable`) where they differ.
    """

    kind: Kind
    paths: tuple[str, ...]
    state: tuple[tuple[str, int, int], ...]
    settings: tuple[tuple[str, Any], ...] = ()
    engine: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def find(cls, path: str | Path, kind: Kind, settings: dict[str, Any], engine: Any) -> Files:
        """Take a file, a folder (every file of the kind below it) or a glob pattern."""
        paths = tuple(_expand(Path(path), kind))
        return cls(kind, paths, _state(paths), tuple(settings.items()), engine)

    @property
    def name(self) -> str:
        """The file, or the first of so many."""
        more = f" (and {len(self.paths) - 1} more files)" if len(self.paths) > 1 else ""
        return f"{self.paths[0]}{more}"

    @property
    def description(self) -> Any:
        """What must be the same where a fit goes on: paths, sizes and times of change."""
        return [list(one) for one in self.state]

    @cached_property
    def table(self) -> Any:
        """The files as one Ibis table, columns as they are (those of a CSV all text)."""
        engine = self.engine or duckdb_engine(**dict(self.settings))
        with errors_naming(self.name), without_engine_warnings():
            if engine.name == "pyspark":
                return read_with_spark(engine, self.kind, self.paths)
            if self.kind == "parquet":
                return engine.read_parquet(list(self.paths))
            return engine.read_csv(list(self.paths), **_dialect(self.paths))

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Read inside the block; raise if the files were or are no longer those first opened."""
        self._check("since it was opened")
        with errors_naming(self.name):
            yield
        self._check("while it was read")

    def _check(self, when: str) -> None:
        before = {path: rest for path, *rest in self.state}
        now = {path: rest for path, *rest in _state(self.paths)}
        changed = [path for path in before if before[path] != now.get(path)]
        if changed:
            (old, _), new = before[changed[0]], now.get(changed[0])
            what = f"went from {old:,} to {new[0]:,} bytes" if new else "is gone"
            raise ChangedTable(
                f"{changed[0]} changed {when} ({what}): counts of it would belong to no one "
                "state. Wait until it is written, then open the table again"
            )

    def __getstate__(self) -> dict[str, Any]:
        kept = {k: v for k, v in self.__dict__.items() if k not in ("table", "engine")}
        if self.engine is not None:
            raise TypeError(
                "a pair table on a given engine cannot be sent to another process: its connection "
                "lives here. Use n_jobs=1, or open the files without engine="
            )
        return kept | {"engine": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


@dataclass(frozen=True)
class Expression:
    """A table that some Ibis back end holds; it cannot be watched, only its rows be counted."""

    table: Any
    name: str = "the Ibis table"

    @property
    def description(self) -> Any:
        """What must be the same where a fit goes on: the columns and the number of rows."""
        with self.unchanged(), without_engine_warnings():
            n_rows = int(self.table.count().to_pyarrow().as_py())
        return [str(self.table.schema()), n_rows]

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Read inside the block; the engine's errors become sentences."""
        with errors_naming(self.name):
            yield

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError(
            "a pair table from an Ibis expression cannot be sent to another process: its "
            "connection lives here. Use n_jobs=1, or PairTable.from_parquet"
        )


TableSource = Files | Expression


def delimiter_of(header: str, usual: str = ",") -> str:
    r"""Return what separates the columns: what the header holds, the usual one first.

    >>> delimiter_of("left;right"), delimiter_of("left\tright,left", "\t"), delimiter_of("left")
    (';', '\t', ',')
    """
    return next((mark for mark in (usual, ",", ";", "\t", "|") if mark in header), usual)


def _dialect(paths: Sequence[str]) -> dict[str, Any]:
    """Return how CSV files are written, by their header; every column is text, 007 is not 7.

    DuckDB, if it guessed, would rather take quotes and commas for letters than refuse a bad row.
    """
    heads = dict.fromkeys(map(_first_line, paths))
    if len(heads) > 1:
        raise UnreadableTable(
            f"the files beside {paths[0]} have other columns, or in another order: all parts of "
            "one table need the same header"
        )
    head = next(iter(heads))
    delimiter = delimiter_of(head, "\t" if ".tsv" in Path(paths[0]).suffixes else ",")
    names: dict[str, str] = {}
    for k, name in enumerate(next(csv.reader([head], delimiter=delimiter), [])):
        plain = name.strip()
        taken = not plain or plain.casefold() in map(str.casefold, names)
        names[f"{plain or 'column'}_{k + 1}" if taken else plain] = "VARCHAR"
    quotes = {"quote": '"', "escape": '"', "strict_mode": True, "auto_detect": False}
    return {"columns": names, "header": True, "delim": delimiter, **quotes}


def _first_line(path: str) -> str:
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig", errors="replace") as file:
        return file.readline().rstrip("\n")


def _expand(path: Path, kind: Kind) -> list[str]:
    """Return the files meant by ``path``, sorted; refuse when there are none."""
    if path.is_dir():
        found = [p for p in path.rglob("*") if p.name.endswith(SUFFIXES[kind]) and p.is_file()]
        # Spark and others keep files of their own, which begin with _ or a dot.
        names = sorted(str(p) for p in found if not p.name.startswith(("_", ".")))
        if not names:
            raise FileNotFoundError(f"the folder {path} holds no {kind} file")
        return names
    names = [str(path)] if path.is_file() else sorted(glob.glob(str(path)))
    if not names:
        raise FileNotFoundError(f"{path}: there is no such file, folder or pattern")
    return names


def _state(paths: tuple[str, ...]) -> tuple[tuple[str, int, int], ...]:
    found = []
    for path in paths:
        if os.path.exists(path):
            facts = os.stat(path)
            found.append((path, facts.st_size, facts.st_mtime_ns))
    return tuple(found)
