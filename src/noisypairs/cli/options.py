"""Options that several commands share, so that they are called and explained alike everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_COLUMN = "Column of {}; guessed if not given."

Items = Annotated[Path, typer.Argument(help="One row per item: CSV, TSV, Parquet, JSON lines.")]
Pairs = Annotated[Path, typer.Argument(help="One answer per row, or another tool's export.")]
Left = Annotated[str | None, typer.Option(help=_COLUMN.format("the first item"))]
Right = Annotated[str | None, typer.Option(help=_COLUMN.format("the second item"))]
Same = Annotated[str | None, typer.Option(help=_COLUMN.format("the answers"))]
Annotator = Annotated[str | None, typer.Option(help=_COLUMN.format("who answered"))]
Id = Annotated[str | None, typer.Option("--id", help=_COLUMN.format("the items' ids"))]
Format = Annotated[
    str | None, typer.Option("--format", help="Format of the pairs; guessed if not given.")
]
Labels = Annotated[Path | None, typer.Option(help="File of the few known classes: id, class.")]
Classes = Annotated[int, typer.Option(min=2, max=50, help="How many classes there are.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Decides every draw.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress.")]


def check_format(name: str | None) -> None:
    """Refuse a format of pairs that no importer knows."""
    from noisypairs.app.files import FORMATS
    from noisypairs.errors import did_you_mean

    if name is not None and name not in FORMATS:
        raise ValueError(f"unknown format {name!r}: {did_you_mean(name, FORMATS)}")


def check_outputs(outputs: dict[str, Path | None], inputs: list[Path | None], force: bool) -> None:
    """Refuse, before any work, what could not be written or would destroy an input.

    ``outputs`` are named by what they hold, for the message where two would share a file.
    """
    from noisypairs.app.files import check_writable

    given = {path.resolve() for path in inputs if path is not None}
    taken: dict[Path, str] = {}
    for what, path in outputs.items():
        if path is None:
            continue
        place = path.resolve()
        if place in given:
            raise ValueError(f"{path} is an input: name another file to write")
        if place in taken:
            raise ValueError(
                f"{taken[place]} and {what} would both be written to {path}: name two files"
            )
        taken[place] = what
        check_writable(path, force)
