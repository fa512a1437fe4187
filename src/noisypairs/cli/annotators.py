"""``noisypairs annotators``: who answers well, who does not, and what leaving them out changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noisypairs.cli import app, options, progress, terminal

if TYPE_CHECKING:
    from noisypairs.annotators.crowd import Crowd

#: Rows of the table on the screen; files hold them all.
MOST_ROWS = 20


@app.command()
@options.with_reading
def annotators(
    pairs: options.Pairs,
    items: Annotated[Path | None, typer.Argument(help="One row per item: features help.")] = None,
    gold: Annotated[
        Path | None, typer.Option(help="Known classes (id, class) or answers (left, right, same).")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write a page (.html) or table (.csv).")
    ] = None,
    hash_ids: Annotated[bool, typer.Option("--hash-ids", help="Hide annotators' names.")] = False,
    salt: Annotated[
        str | None, typer.Option(help="Key of the hash; random for each run if not given.")
    ] = None,
    reading: options.Reading = options.GUESSED,
    classes: Annotated[
        str | None, typer.Option(help="How many: 3, or 2-6 to choose; else as gold has, or 2-6.")
    ] = None,
    raw: options.Raw = False,
    force: options.Force = False,
    seed: options.Seed = 0,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Judge who answers well: rates, verdicts, whom to drop.

    Names the spammers, those who always say the same, and those who say the opposite of what they
    see. Whoever gave too few answers is not judged.

    Example: noisypairs annotators pairs.csv items.csv -o annotators.html
    """
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app.fit.request import class_numbers

        numbers = None if classes is None else class_numbers(classes)
        reading.check()
        _check_use(output, hash_ids, salt)
        options.check_outputs({"the output": output}, [pairs, items, gold], force)
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app.annotators import PRIVACY, judge_annotators, with_hashed_names

        with progress.steps((1.0, 20.0, 1.0), quiet) as step:
            step("reading the files")
            data = reading.dataset(items, pairs)
            step("judging the annotators")
            found, more = judge_annotators(data, gold, numbers, seed)
            notes = [*data.notes, *more]
            if hash_ids:
                found = with_hashed_names(found, salt)
                notes = [PRIVACY]  # other notes may quote names
            step("writing")
            if output is not None:
                _write(output, found, notes, raw, force)
    if as_json:
        app.print_json(found.to_dict() | {"notes": notes})
    else:
        _print_crowd(found, notes if hash_ids else [], output)


def _check_use(output: Path | None, hash_ids: bool, salt: str | None) -> None:
    if output is not None and output.suffix.lower() not in (".html", ".csv"):
        raise ValueError(f"{output}: the output is a page (.html) or a table (.csv)")
    if output is not None and output.suffix.lower() == ".html":
        import noisypairs.app.report.pages  # noqa: F401  # a missing package is named at once
    if salt is not None and not hash_ids:
        raise ValueError("--salt is the key of --hash-ids: give both, or neither")
    if salt == "":
        raise ValueError("--salt is empty: anybody could then look up the names; give a secret")


def _write(output: Path, found: Crowd, notes: list[str], raw: bool, force: bool) -> None:
    from noisypairs.app.files import atomic_write, delimited_text

    if output.suffix.lower() == ".csv":
        records = found.to_records()
        rows = (list(record.values()) for record in records)
        content = delimited_text(list(records[0]), rows, raw=raw)
    else:
        from noisypairs.app.report.pages import annotators_report

        content = annotators_report(found, notes)
    atomic_write(output, content, force)


def _print_crowd(found: Crowd, notes: list[str], output: Path | None) -> None:
    from noisypairs.app.report.advice import by_suspicion, crowd_answer, least_missed, meanings

    terminal.show(
        "crowd.txt",
        170,
        found=found,
        answer=crowd_answer(found),
        order=by_suspicion(found.table),
        most_rows=MOST_ROWS,
        meanings=meanings(found.table),
        least_missed=least_missed(found),
        notes=notes,
        output=output,
    )
