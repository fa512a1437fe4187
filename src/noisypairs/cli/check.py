"""``noisypairs check``: what two files hold, what is wrong with them, and what can be learnt."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from noisypairs.cli import app, options, progress, terminal

#: How long the steps take in comparison: reading, counting, fitting, intervals, triangles.
_SHARES = (1.0, 0.2, 12.0, 2.0, 0.5)


@app.command()
@options.with_reading
def check(
    items: options.Items,
    pairs: options.PairsAfterItems = None,
    reading: options.Reading = options.GUESSED,
    labels: options.Labels = None,
    classes: options.Classes = None,
    no_fit: Annotated[bool, typer.Option("--no-fit", help="A quick look, nothing fitted.")] = False,
    report: Annotated[Path | None, typer.Option(help="HTML report to write.")] = None,
    seed: options.Seed = 0,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what two files hold, how noisy they are, what can work.

    ITEMS may be the same file as PAIRS where that holds the items too (dedupe, Label Studio,
    metric-learn), and may be left out: the answers alone then say what they can.

    Example: noisypairs check items.csv pairs.csv
    """
    only, pairs = (None, items) if pairs is None else (items, pairs)
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app.fit.request import class_numbers

        reading.check()
        numbers = class_numbers(classes)
        options.check_outputs({"the report": report}, [only, pairs, labels], force)
        if report is not None:
            import noisypairs.app.report.pages  # noqa: F401  # a missing package is named at once
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app import check

        with progress.steps(_SHARES, quiet) as step:
            step("reading the files")
            dataset = reading.dataset(only, pairs, labels)
            found = check.check(dataset, fit=not no_fit, n_classes=numbers, seed=seed, step=step)
        if report is not None:
            from noisypairs.app.files import atomic_write
            from noisypairs.app.report.pages import check_report

            atomic_write(report, check_report(found), force)
    if as_json:
        written = {} if report is None else {"written": {"report": str(report)}}
        app.print_json(found.to_dict() | written)
    else:
        columns = asdict(found.dataset.columns)
        columns = {role: name for role, name in columns.items() if name}
        terminal.show("check.txt", 110, found=found, columns=columns, report=report)
