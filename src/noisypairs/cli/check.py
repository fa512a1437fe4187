"""``noisypairs check``: what two files hold, what is wrong with them, and what can be learnt."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from noisypairs.cli import app, options, progress, terminal

#: How long the steps take in comparison: reading, counting, fitting, intervals, triangles.
_SHARES = (1.0, 0.2, 12.0, 2.0, 0.5)


@app.command()
def check(
    *,
    files: options.Files,
    no_fit: Annotated[bool, typer.Option("--no-fit", help="A quick look, nothing fitted.")] = False,
    report: options.Report = None,
    show: options.Showing,
) -> None:
    """Show what two files hold, how noisy they are, what can work.

    ITEMS may be the same file as PAIRS if that file holds the items too (dedupe, Label Studio,
    metric-learn). Without ITEMS the check uses the answers alone.

    Example: noisypairs check items.csv pairs.csv
    """
    with app.failing_with(app.WRONG_USE):
        files.check()
        show.reserve({"the report": report}, files.inputs)
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app import check as work

        with progress.steps(_SHARES, show.quiet) as step:
            step("reading the files")
            data, numbers = files.dataset(), files.n_classes
            found = work.check(data, fit=not no_fit, n_classes=numbers, seed=files.seed, step=step)
        show.write(report, lambda: options.pages().check_report(found))
    if show.as_json:
        written = {} if report is None else {"written": {"report": str(report)}}
        terminal.say_json(found.to_dict() | written)
    else:
        columns = asdict(found.dataset.columns)
        terminal.show("check.txt", 110, found=found, columns=columns, report=report)
