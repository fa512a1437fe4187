"""``noisypairs plan``: how many more pairs a target takes, what they cost, and which to ask."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from noisypairs.cli import app, options, progress, terminal


@app.command()
def plan(
    *,
    files: options.Files,
    target: Annotated[float, typer.Option(help="The accuracy wanted, such as 0.95.")],
    cost: Annotated[float | None, typer.Option(min=0.0, help="The price of one answer.")] = None,
    next_pairs: Annotated[
        int | None, typer.Option("--next", min=1, help="How many pairs to choose for asking next.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="CSV file for the pairs of --next.")
    ] = None,
    report: options.Report = None,
    show: options.Writing,
) -> None:
    """Estimate how many more answers a target takes, and choose them.

    The accuracy now is the one that noisypairs fit states for the same files. -o plan.html is
    short for --report plan.html.

    Example: noisypairs plan items.csv pairs.csv --target 0.95 --cost 0.04 --next 100 -o next.csv
    """
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app import plan as work
        from noisypairs.pairs.groups import group_number

        if output is not None and output.suffix.lower() == ".html" and report is None:
            output, report = None, output
        files.check()
        numbers = files.n_classes
        work.require_above_chance(
            target, numbers if isinstance(numbers, int) else max(numbers or (6,))
        )
        if (next_pairs is None) != (output is None):
            raise ValueError("--next N and -o FILE.csv belong together: give both, or neither")
        if output is not None and output.suffix.lower() != ".csv":
            raise ValueError(f"{output}: the pairs to ask next are written as .csv")
        show.reserve({"the pairs to ask next": output, "the page": report}, files.inputs)
    with app.failing_with(app.BAD_DATA):
        with progress.steps([1.0] * (work.N_STEPS + 1), show.quiet) as step:
            step("reading the files")
            data = files.dataset(stream=False)
            found = work.plan_dataset(data, target, n_classes=numbers, seed=files.seed, step=step)
        chosen = None if next_pairs is None else found.next_pairs(next_pairs)
        if chosen is not None:
            show.write(output, lambda: work.pairs_csv(chosen, data.ids, show.raw))
        show.write(report, lambda: options.pages().plan_report(found, data.ids, cost, chosen))
    if show.as_json:
        n_groups = group_number(data.pairs.groups)
        terminal.say_json(work.as_dict(found, cost, data.ids, chosen) | {"groups": n_groups})
    else:
        told = {
            "says": partial(work.statement, target=target, cost=cost),
            "outlook": work.outlook,
            "again": work.pair_rows(found.ask_again(work.N_AGAIN), data.ids),
            "output": output,
            "report": report,
            "chosen": chosen,
        }
        terminal.show("plan.txt", 110, found=found, data=data, **told)
