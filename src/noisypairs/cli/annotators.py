"""``noisypairs annotators``: who answers well, who does not, and what leaving them out changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noisypairs.cli import app, options, progress, terminal

#: Rows of the table on the screen; files hold them all.
MOST_ROWS = 20


@app.command()
def annotators(
    *,
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
    reading: options.Reading,
    classes: Annotated[
        str | None, typer.Option(help="How many: 3, or 2-6 to choose; else as gold has, or 2-6.")
    ] = None,
    seed: options.Seed = 0,
    show: options.Writing,
) -> None:
    """Judge who answers well: rates, verdicts, whom to drop.

    Finds people who answer at random, always give the same answer, or give the opposite answer.
    People with too few answers are not judged.

    Example: noisypairs annotators pairs.csv items.csv -o annotators.html
    """
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app.fit.request import class_numbers

        numbers = class_numbers(classes)
        reading.check()
        kind = "" if output is None else output.suffix.lower()
        if kind not in ("", ".html", ".csv"):
            raise ValueError(f"{output}: the output is a page (.html) or a table (.csv)")
        if salt is not None and not hash_ids:
            raise ValueError("--salt is the key of --hash-ids: give both, or neither")
        if salt == "":
            raise ValueError("--salt is empty: anybody could then look up the names; give a secret")
        what = "the page" if kind == ".html" else "the output"
        show.reserve({what: output}, [pairs, items, gold])
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app.annotators import PRIVACY, judge_annotators, with_hashed_names

        with progress.steps((1.0, 20.0, 1.0), show.quiet) as step:
            step("reading the files")
            data = reading.dataset(items, pairs)
            step("judging the annotators")
            found, more = judge_annotators(data, gold, numbers, seed)
            notes = [*data.notes, *more]
            if hash_ids:
                found = with_hashed_names(found, salt)
                notes = [PRIVACY]  # other notes may quote names
            step("writing")
            if kind == ".html":
                show.write(output, lambda: options.pages().annotators_report(found, notes))
            else:
                from noisypairs.app.files import delimited_text

                records = found.to_records()
                rows = [list(record.values()) for record in records]
                show.write(output, lambda: delimited_text(list(records[0]), rows, raw=show.raw))
    if show.as_json:
        terminal.say_json(found.to_dict() | {"notes": notes})
        return
    from noisypairs.app.report import advice

    told = {
        "answer": advice.crowd_answer(found),
        "order": advice.by_suspicion(found.table),
        "most_rows": MOST_ROWS,
        "meanings": advice.meanings(found.table),
        "least_missed": advice.least_missed(found),
        "notes": notes if hash_ids else [],
        "output": output,
    }
    terminal.show("crowd.txt", 170, found=found, **told)
