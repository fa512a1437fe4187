"""Options that several commands share, so that they are called and explained alike everywhere."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from noisypairs.cli import app, stopping, terminal

if TYPE_CHECKING:
    from noisypairs.app.files import Columns, Dataset
    from noisypairs.pairs.levels import Scale

_COLUMN = "Column of {}; guessed if not given."

Items = Annotated[
    Path, typer.Argument(help="One row per item: CSV, TSV, Excel, Parquet, JSON lines, .npz.")
]
Pairs = Annotated[
    Path, typer.Argument(help="One answer per row, or another tool's export; - reads stdin.")
]
PairsAfterItems = Annotated[
    Path | None,
    typer.Argument(help="One answer per row, or another tool's export; - reads stdin."),
]
Model = Annotated[Path, typer.Argument(help="Model file that `noisypairs fit` wrote.")]
Id = Annotated[str | None, typer.Option("--id", help=_COLUMN.format("the items' ids"))]
Labels = Annotated[Path | None, typer.Option(help="File of the few known classes: id, class.")]
Classes = Annotated[
    str | None,
    typer.Option(help="How many classes: 3, or 2-5 to choose from; else any number."),
]
Kinds = Annotated[
    str | None,
    typer.Option(help="The old name of --classes, for one version more."),
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
Table = Annotated[
    Path,
    typer.Option("-o", "--output", help="Write .csv, .tsv, .parquet or .jsonl; - is stdout."),
]
Raw = Annotated[
    bool, typer.Option("--raw", help="Write no ' before cells that a spreadsheet would run.")
]
Engine = Annotated[
    str | None,
    typer.Option(help="duckdb or spark: leave Parquet tables of any size where they are."),
]
Master = Annotated[str | None, typer.Option(help="Address of Spark's cluster; else local.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Decides every draw.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]


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


#: Nothing said: columns and format are guessed.
GUESSED = Reading()


def with_reading(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Reading`, in the place of its parameter ``reading``."""
    hints = get_type_hints(Reading, include_extras=True)
    shared = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=getattr(GUESSED, name), annotation=hint
        )
        for name, hint in hints.items()
    ]
    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(function, eval_str=True).parameters.values():
        keyword = one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        parameters += shared if one.name == "reading" else [keyword]

    @wraps(function)
    def command(**given: Any) -> None:
        function(reading=Reading(**{name: given.pop(name) for name in hints}), **given)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # for typer
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def check_outputs(outputs: dict[str, Path | None], inputs: list[Path | None], force: bool) -> None:
    """Refuse, before any work, what could not be written or would destroy an input.

    ``outputs`` are named by what they hold, for the message where two would share a file. They stay
    reserved for this process until the command ends.
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
        app.hold(reserved(path, force))
    files = {what: None if path == STANDARD_OUTPUT else path for what, path in outputs.items()}
    stopping.expect_outputs(files)


def refuse_two_on_stdout(output: Path | None, as_json: bool) -> None:
    """Refuse a table and a JSON object on standard output at once."""
    if as_json and output is not None and str(output) == "-":
        raise ValueError("-o - and --json would both write to standard output: name a file for one")


def say_written(said: str, output: Path, quiet: bool = False) -> None:
    """Print a last sentence: on standard error where the table itself is on standard output."""
    if str(output) != "-":
        terminal.console_of(100).print(f"{said} Written: {output}")
    elif not quiet:
        terminal.say(said, err=True)
