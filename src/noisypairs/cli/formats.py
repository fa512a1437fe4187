"""``noisypairs formats``: which files of answers are read, with an example of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from noisypairs.cli import app, options, terminal

if TYPE_CHECKING:
    from noisypairs.app.files.importers import Importer


@app.command()
def formats(
    name: Annotated[str | None, typer.Argument(help="Show this format, with an example.")] = None,
    as_json: options.Json = False,
) -> None:
    """List the formats in which answers are read.

    Files are recognised by what they hold; --format of the other commands names one of these.

    Example: noisypairs formats prodigy
    """
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app.files.importers import IMPORTERS
        from noisypairs.errors import did_you_mean
        from noisypairs.pairs.answers import WORDS

        if name is not None and name not in IMPORTERS:
            raise ValueError(f"unknown format {name!r}: {did_you_mean(name, IMPORTERS)}")
    shown = list(IMPORTERS.values()) if name is None else [IMPORTERS[name]]
    if as_json:
        terminal.say_json({"formats": [_facts(one) for one in shown], "words": WORDS})
    else:
        one = None if name is None else IMPORTERS[name]
        terminal.show("formats.txt", 110, one=one, shown=shown, words=WORDS)


def _facts(one: Importer) -> dict[str, object]:
    example = one.example
    return {
        "name": one.name,
        "title": one.title,
        "reading": one.reading,
        "described": one.described,
        "checked": one.checked,
        "example": None if example is None else {"file": example.file, "text": example.text},
    }
