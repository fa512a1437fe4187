"""Options that several commands share, so that they are called and explained alike everywhere.

A command whose parameter is one of the dataclasses here has all options in it (`app.command`).
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisypairs.cli import app, stopping, terminal

if TYPE_CHECKING:
    from noisypairs.app.files import Columns, Dataset
    from noisypairs.pairs.levels import Scale

_COLUMN = "Column of {}; guessed if not given."

Items = Annotated[
    Path, typer.Argument(help="One row per item: CSV, TSV, Excel, Parquet, JSON lines, .npz.")
]
_PAIRS = typer.Argument(help="One answer per row, or another tool's export; - reads stdin.")
Pairs = Annotated[Path, _PAIRS]
PairsAfterItems = Annotated[Path | None, _PAIRS]
Model = Annotated[Path, typer.Argument(help="Model file that `noisypairs fit` wrote.")]
Id = Annotated[str | None, typer.Option("--id", help=_COLUMN.format("the items' ids"))]
Classes = Annotated[
    str | None,
    typer.Option(help="How many classes: 3, or 2-5 to choose from; else any number."),
]
Images = Annotated[
    str | None,
    typer.Option(
        help="Pictures or sounds of the items: a column with file names, or a folder by ids."
    ),
]
Encode = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What turns text, pictures and sounds into numbers: auto, or encoders' names.",
    ),
]
_TABLE = typer.Option("-o", "--output", help="Write .csv, .tsv, .parquet or .jsonl; - is stdout.")
Table = Annotated[Path, _TABLE]
TableIfAny = Annotated[Path | None, _TABLE]
ModelOut = Annotated[Path, typer.Option("-o", "--output", help="Model file to write.")]
Report = Annotated[Path | None, typer.Option(help="HTML page to write.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Decides every draw.")]
Raw = Annotated[
    bool, typer.Option("--raw", help="Write no ' before cells that a spreadsheet would run.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress and no notes.")]


@dataclass(frozen=True)
class Reading:
    """How the pairs are read: which columns hold what, and the format of the file."""

    left: Annotated[str | None, typer.Option(help=_COLUMN.format("the first item"))] = None
    right: Annotated[str | None, typer.Option(help=_COLUMN.format("the second item"))] = None
    same: Annotated[str | None, typer.Option(help=_COLUMN.format("the answers"))] = None
    annotator: Annotated[str | None, typer.Option(help=_COLUMN.format("who answered"))] = None
    answers: Annotated[
        str | None,
        typer.Option(help='What answers mean: "yes=same,nope=different,hm=unsure", or a file.'),
    ] = None
    levels: Annotated[
        str | None,
        typer.Option(help='Answers on a scale, low to high: "1<2<3<4"; a | before "same".'),
    ] = None
    unsure: Annotated[
        str | None, typer.Option(help="With --levels: the answer that stands for unsure.")
    ] = None
    question: Annotated[
        str | None, typer.Option(help="Column of what was asked together, such as items sorted.")
    ] = None
    confidence: Annotated[
        str | None,
        typer.Option(help="Column of how sure each answer is: 0 to 1, or words that --levels has."),
    ] = None
    family: Annotated[
        str | None,
        typer.Option(help="Column of the family of who answered, such as the model of a prompt."),
    ] = None
    id: Id = None
    group: Annotated[
        str | None,
        typer.Option(help="Column of items that belong together, such as visits of one patient."),
    ] = None
    format: Annotated[
        str | None,
        typer.Option("--format", help="Format of the pairs, see `noisypairs formats`; guessed."),
    ] = None
    images: Images = None
    encode: Encode = "auto"
    keep_copies: Annotated[
        bool, typer.Option("--keep-copies", help="Keep answers recorded more than once.")
    ] = False

    @property
    def given(self) -> str:
        """The options that were given, as they stand on the line."""
        words: list[str] = []
        for one in fields(self):
            value = getattr(self, one.name)
            if value != one.default:
                words += [f"--{one.name.replace('_', '-')}", *([] if value is True else [value])]
        return shlex.join(words)

    def check(self) -> None:
        """Refuse a format that no importer knows, and meanings that answers cannot have."""
        from noisypairs.app.files import FORMATS, read_meanings
        from noisypairs.errors import did_you_mean

        if self.encode != "auto":
            from noisypairs.app.encoding import encoders_of

            encoders_of(self.encode)
        if self.format is not None and self.format not in FORMATS:
            raise ValueError(
                f"unknown format {self.format!r}: {did_you_mean(self.format, FORMATS)}"
            )
        if self.answers is not None:
            read_meanings(self.answers)
        if self.unsure is not None and self.confidence is not None:
            raise ValueError(
                "--unsure is an answer of a scale, and --confidence makes its own: say what a word "
                f'means by --answers "{self.unsure}=unsure"'
            )
        if self.unsure is not None and self.levels is None:
            raise ValueError(
                "--unsure is the unsure answer of a scale: give --levels too, or say what a word "
                f'means by --answers "{self.unsure}=unsure"'
            )
        if self.levels is not None and self.confidence is None:
            self._scale()

    def _scale(self) -> Scale | None:
        from noisypairs.pairs.levels import read_scale

        named = self.levels is not None and self.confidence is None
        return read_scale(str(self.levels), self.unsure) if named else None

    def _confidence(self) -> tuple[str, list[str] | None] | None:
        """Return the column of confidence and its words from low to high, None for numbers."""
        if self.confidence is None:
            return None
        return self.confidence, None if self.levels is None else self.levels.split("<")

    def columns(self) -> Columns:
        """Return the columns that were named."""
        from noisypairs.app.files import Columns

        return Columns(self.left, self.right, self.same, self.annotator, self.id, self.group)

    def dataset(
        self, items: Path | None, pairs: Path, labels: Path | None = None, stream: bool = True
    ) -> Dataset:
        """Return the items and pairs in these files, whatever the order of their rows."""
        from noisypairs.app.files import read_dataset, read_meanings

        found = read_dataset(
            items,
            pairs,
            self.columns(),
            labels,
            self.format,
            stream=stream,
            keep_copies=self.keep_copies,
            words=None if self.answers is None else read_meanings(self.answers),
            scale=self._scale(),
            question=self.question,
            confidence=self._confidence(),
            family=self.family,
            images=self.images,
            encode=self.encode,
        )
        keep_features(pairs)
        return found.in_order()


def keep_features(pairs: Path) -> None:
    """Keep, until the command ends, what is found out of pictures and sounds.

    That is beside the store, where the answers are one of `noisypairs ask`, else in the cache.
    """
    from noisypairs.app.files.store import is_database
    from noisypairs.datasets.sources import cache_folder
    from noisypairs.encoders import cached_in

    beside = pairs.with_name(f"{pairs.name}.features")
    app.hold(cached_in(beside if is_database(pairs) else cache_folder() / "features"))


@dataclass(frozen=True, kw_only=True)
class Files:
    """Items and answers in files, and what is asked of both.

    ``pairs`` may be the only file: then ``items`` are these, and nothing is known of any item.
    """

    items: Items
    pairs: PairsAfterItems = None
    labels: Annotated[
        Path | None, typer.Option(help="File of the few known classes: id, class.")
    ] = None
    classes: Classes = None
    reading: Reading
    seed: Seed = 0

    @property
    def named(self) -> tuple[Path | None, Path]:
        """The file of the items, None where there is none, and that of the answers."""
        return (None, self.items) if self.pairs is None else (self.items, self.pairs)

    @property
    def inputs(self) -> list[Path | None]:
        """Every file that is read."""
        return [*self.named, self.labels]

    @property
    def n_classes(self) -> int | tuple[int, ...] | None:
        """The number of classes, or those in question."""
        from noisypairs.app.fit.request import class_numbers

        return class_numbers(self.classes)

    def check(self) -> None:
        """Refuse options that cannot be, before any file is read."""
        _ = self.n_classes
        self.reading.check()

    def dataset(self, stream: bool = True) -> Dataset:
        """Return what the files hold."""
        return self.reading.dataset(*self.named, self.labels, stream)


@dataclass(frozen=True)
class Where:
    """Where the work is done: here, or in the engine that holds the tables."""

    engine: Annotated[
        str | None,
        typer.Option(help="duckdb or spark: leave Parquet tables of any size where they are."),
    ] = None
    master: Annotated[
        str | None, typer.Option(help="Address of Spark's cluster; a local one if not given.")
    ] = None

    def check(self) -> None:
        """Refuse what is no engine, and an address without Spark."""
        if self.engine is not None:
            from noisypairs.app.engine import check_engine

            check_engine(self.engine, self.master)
        elif self.master is not None:
            raise ValueError(f"--master {self.master} belongs to --engine spark: give both")

    def open(self) -> Any:
        """Open the engine."""
        from noisypairs.app.engine import open_engine

        assert self.engine is not None
        return open_engine(self.engine, self.master)


@dataclass(frozen=True)
class Showing:
    """What is done with what was found: printed, as text or JSON, and written to files."""

    force: Force = False
    as_json: Json = False
    quiet: Quiet = False

    def reserve(self, outputs: dict[str, Path | None], inputs: list[Path | None]) -> None:
        """Refuse, before any work, what could not be written or would destroy an input.

        ``outputs`` are named by what they hold, for the message where two would share a file. They
        stay reserved for this process until the command ends.
        """
        from noisypairs.app.files import STANDARD_OUTPUT, reserved

        given = {os.path.realpath(path) for path in inputs if path is not None}
        taken: dict[str, str] = {}
        for what, path in outputs.items():
            if path is None or path == STANDARD_OUTPUT:
                continue
            place = os.path.realpath(path)
            if place in given:
                raise ValueError(f"{path} is an input: name another file to write")
            if place in taken:
                raise ValueError(
                    f"{taken[place]} and {what} would both be written to {path}: name two files"
                )
            taken[place] = what
            app.hold(reserved(path, self.force))
            if what in ("the report", "the page"):
                pages()  # a missing package is named at once
        files = {what: None if path == STANDARD_OUTPUT else path for what, path in outputs.items()}
        stopping.expect_outputs(files)

    def refuse_two_on_stdout(self, output: Path | None) -> None:
        """Refuse a table and a JSON object on standard output at once."""
        if self.as_json and str(output) == "-":
            raise ValueError(
                "-o - and --json would both write to standard output: name a file for one"
            )

    def write(self, path: Path | None, content: Callable[[], str | bytes]) -> None:
        """Write a file, if one is asked for."""
        from noisypairs.app.files import atomic_write

        if path is not None:
            atomic_write(path, content(), self.force)

    def say_notes(self, notes: list[str]) -> None:
        """Print notes on standard error, unless nobody wants them."""
        for note in [] if self.quiet else notes:
            terminal.say(f"Note: {terminal.one_line(note)}", err=True)

    def say_written(self, said: str, output: Path) -> None:
        """Print a last sentence: on standard error where the table itself is on standard output."""
        if str(output) != "-":
            terminal.console_of(100).print(f"{terminal.one_line(said)} Written: {output}")
        elif not self.quiet:
            terminal.say(terminal.one_line(said), err=True)


@dataclass(frozen=True)
class Writing(Showing):
    """The same where tables are written."""

    raw: Raw = False


def pages() -> ModuleType:
    """Return what makes pages; the package that draws their charts takes long to import."""
    from noisypairs.app.report import pages as found

    return found


def plain(paths: dict[str, Path | None]) -> dict[str, str | None]:
    """Return files by what they hold, as JSON has them."""
    names = {what.removeprefix("the "): path for what, path in paths.items()}
    return {what: None if path is None else str(path) for what, path in names.items()}


def require_accuracy(target: float) -> None:
    """Refuse a target that is no accuracy below 1."""
    if not 0.0 < target < 1.0:
        raise ValueError(f"--target {target:g}: expected an accuracy below 1, such as 0.95")


def words(text: str | None) -> tuple[str, ...]:
    """Return names that are separated by commas."""
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())
