"""``noisypairs plan``: how many more pairs a target takes, what they cost, and which to ask."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from noisypairs.cli import app, options, progress, terminal


@app.command()
@options.with_reading
def plan(
    items: options.Items,
    target: Annotated[float, typer.Option(help="The accuracy wanted, such as 0.95.")],
    pairs: options.PairsAfterItems = None,
    cost: Annotated[float | None, typer.Option(min=0.0, help="The price of one answer.")] = None,
    next_pairs: Annotated[
        int | None, typer.Option("--next", min=1, help="How many pairs to choose for asking next.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="CSV file for the pairs of --next.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="HTML page with the curves to write.")] = None,
    labels: options.Labels = None,
    reading: options.Reading = options.GUESSED,
    classes: options.Classes = None,
    raw: options.Raw = False,
    force: options.Force = False,
    seed: options.Seed = 0,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Estimate how many more answers a target takes, and choose them.

    The accuracy now is what noisypairs fit states of the same files. -o plan.html is short for
    --report plan.html.

    Example: noisypairs plan items.csv pairs.csv --target 0.95 --cost 0.04 --next 100 -o next.csv
    """
    only, pairs = (None, items) if pairs is None else (items, pairs)
    with app.failing_with(app.WRONG_USE):
        if output is not None and output.suffix.lower() == ".html" and report is None:
            output, report = None, output
        reading.check()
        from noisypairs.app.fit.request import class_numbers

        numbers = class_numbers(classes)
        _check_use(target, numbers, next_pairs, output)
        outputs = {"the pairs to ask next": output, "the page": report}
        options.check_outputs(outputs, [only, pairs, labels], force)
        if report is not None:
            import noisypairs.app.report.pages  # noqa: F401  # a missing package is named at once
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app import plan
        from noisypairs.app.files import atomic_write
        from noisypairs.app.plan.goal import N_STEPS
        from noisypairs.app.plan.statement import (
            N_AGAIN,
            as_dict,
            outlook,
            pair_rows,
            pairs_csv,
            statement,
        )

        with progress.steps([1.0] * (N_STEPS + 1), quiet) as step:
            step("reading the files")
            data = reading.dataset(only, pairs, labels, stream=False)
            found = plan.plan_dataset(data, target, n_classes=numbers, seed=seed, step=step)
        chosen = None if next_pairs is None else found.next_pairs(next_pairs)
        if output is not None and chosen is not None:
            atomic_write(output, pairs_csv(chosen, data.ids, raw), force)
        if report is not None:
            from noisypairs.app.report.pages import plan_report

            atomic_write(report, plan_report(found, data.ids, cost, chosen), force)
    n_groups = None if data.pairs.groups is None else data.pairs.n_groups
    if as_json:
        app.print_json(as_dict(found, cost, data.ids, chosen) | {"groups": n_groups})
    else:
        again = pair_rows(found.ask_again(N_AGAIN), data.ids)
        says = partial(statement, target=target, cost=cost)
        files = {"output": output, "report": report, "chosen": chosen}
        told = {"says": says, "outlook": outlook, "again": again}
        terminal.show("plan.txt", 110, found=found, data=data, **told, **files)


def _check_use(
    target: float,
    numbers: int | tuple[int, ...] | None,
    chosen: int | None,
    output: Path | None,
) -> None:
    from noisypairs.app.plan.goal import require_above_chance

    require_above_chance(target, numbers if isinstance(numbers, int) else max(numbers or (6,)))
    if (chosen is None) != (output is None):
        raise ValueError("--next N and -o FILE.csv belong together: give both, or neither")
    if output is not None and output.suffix.lower() != ".csv":
        raise ValueError(f"{output}: the pairs to ask next are written as .csv")
