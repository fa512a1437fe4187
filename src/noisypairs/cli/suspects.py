"""``noisypairs suspects``: answers that are probably wrong, by a model, with the reasons."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from noisypairs.cli import app, options, terminal

#: Rows on the screen; files hold them all.
MOST_ROWS = 10


@app.command()
def suspects(
    *,
    model: options.Model,
    pairs: options.Pairs,
    items: Annotated[
        Path | None, typer.Argument(help="The items, unless the file of pairs holds them.")
    ] = None,
    output: options.TableIfAny = None,
    report: options.Report = None,
    reading: options.Reading,
    show: options.Writing,
) -> None:
    """List all answers that are probably wrong, and why.

    These may be the answers of the fit, or new ones about items with the same columns.

    Example: noisypairs suspects model.skops pairs.csv items.csv -o suspects.csv
    """
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app.files import table_writer

        reading.check()
        if reading.encode != "auto":
            raise ValueError("--encode is for fit: a model has its encoders inside")
        show.refuse_two_on_stdout(output)
        content = None if output is None else table_writer(output, show.raw)
        outputs = {"the table": output, "the page": report}
        show.reserve(outputs, [model, pairs, items])
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app.suspects import suspects_in_files

        data = reading.dataset(items, pairs, stream=False)
        found, notes = suspects_in_files(model, data)
        if content is not None:
            show.write(output, lambda: content(found.frame()))
        show.write(report, lambda: options.pages().suspects_report(found, data))
    n_pairs, files = data.pairs.n_pairs, options.plain({"table": output, "report": report})
    if show.as_json:
        rows = [asdict(one) for one in found]
        terminal.say_json({"n_pairs": n_pairs, "suspects": rows, "notes": notes, "written": files})
        return
    from noisypairs.app.sentences import said

    show.say_notes(notes)
    summary = said("suspects.txt", "summary", found, n_pairs)
    if str(output) == "-":
        show.say_written(summary, Path("-"))
    else:
        facts = {"said": summary, "files": files, "most_rows": MOST_ROWS}
        terminal.show("suspects.txt", 150, found=found, **facts)
