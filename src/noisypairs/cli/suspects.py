"""``noisypairs suspects``: answers that are probably wrong, by a model, with the reasons."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noisypairs.cli import app, options, terminal

#: Rows on the screen; files hold them all.
MOST_ROWS = 10


@app.command()
@options.with_reading
def suspects(
    model: options.Model,
    pairs: options.Pairs,
    items: Annotated[
        Path | None, typer.Argument(help="The items, unless the file of pairs holds them.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Write .csv, .tsv, .parquet or .jsonl; - is stdout."),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="HTML page to write, items included.")] = None,
    reading: options.Reading = options.GUESSED,
    raw: options.Raw = False,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """List all answers that are probably wrong, and why.

    The answers may be those of the fit, or others about items with the same columns.

    Example: noisypairs suspects model.skops pairs.csv items.csv -o suspects.csv
    """
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app.files import table_writer

        reading.check()
        if reading.encode != "auto":
            raise ValueError("--encode is for fit: a model has its encoders inside")
        options.refuse_two_on_stdout(output, as_json)
        content = None if output is None else table_writer(output, raw)
        outputs = {"the table": output, "the page": report}
        options.check_outputs(outputs, [model, pairs, items], force)
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app.files import atomic_write
        from noisypairs.app.suspects import MOST_SHOWN, items_of, of_files

        dataset = reading.dataset(items, pairs, stream=False)
        found, notes = of_files(model, dataset)
        if output is not None and content is not None:
            atomic_write(output, content(found.frame()), force)
        if report is not None:
            from noisypairs.app.report.pages import suspects_report
            from noisypairs.app.report.thumbnails import image_source

            shown = list(found.first(MOST_SHOWN))
            pictures = image_source(dataset.features, dataset.ids)
            small = None if pictures is None else pictures.thumbnails(items_of(shown))
            n_pairs = dataset.pairs.n_pairs
            counts = found.n_wrong, n_pairs
            page = suspects_report(shown, *counts, small, found.n_hard)
            atomic_write(report, page, force)
    n_pairs = dataset.pairs.n_pairs
    files = {
        what: None if path is None else str(path)
        for what, path in (("table", output), ("report", report))
    }
    if as_json:
        from dataclasses import asdict

        rows = [asdict(one) for one in found]
        app.print_json({"n_pairs": n_pairs, "suspects": rows, "notes": notes, "written": files})
        return
    for note in notes if not quiet else []:
        terminal.say(f"Note: {terminal.one_line(note)}", err=True)
    from noisypairs.app.sentences import said

    summary = said("suspects.txt", "summary", found, n_pairs)
    if str(output) != "-":
        facts = {"said": summary, "files": files, "most_rows": MOST_ROWS}
        terminal.show("suspects.txt", 150, found=found, **facts)
    elif not quiet:
        terminal.say(summary, err=True)
