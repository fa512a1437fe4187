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
        app.print_json({"formats": [_facts(one) for one in shown], "words": WORDS})
    elif name is not None:
        _print_one(IMPORTERS[name])
    else:
        console = terminal.console_of(110)
        rows = [(one.name, one.title) for one in shown]
        console.print(app.table(console, ("format", "what it is"), rows))
        console.print("", "Words for answers, whatever their case:", sep="\n")
        for meaning, words in WORDS.items():
            console.print(f"  {meaning}: {', '.join(words)}", soft_wrap=True)
        console.print("and the same in other languages: ja/nein, oui/non, sí/no, да/нет, 是/否 …")
        console.print("", "noisypairs formats NAME shows an example.", sep="\n")


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


def _print_one(one: Importer) -> None:
    console = terminal.console_of(110)
    console.print(f"{one.name}: {one.title}", style="bold")
    if one.reading:
        console.print("", one.reading, sep="\n")
    if one.example is not None:
        how = "written by this Python code" if one.example.code else "for example"
        console.print("", f"{one.example.file}, {how}:", "", sep="\n")
        for line in one.example.text.rstrip("\n").split("\n"):
            console.print(f"  {line}", soft_wrap=True)
    if one.described:
        console.print("", f"Described by its maker: {one.described}", sep="\n")
    console.print(f"Checked against: {one.checked}.")
