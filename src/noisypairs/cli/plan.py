"""``noisypairs plan``: how many more pairs a target takes, what they cost, and which to ask."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noisypairs.cli import app, options, progress, terminal

if TYPE_CHECKING:
    from noisypairs.app.plan import Plan
    from noisypairs.assess import NextPairs


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
        from noisypairs.app.plan.statement import as_dict, pairs_csv

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
        if n_groups is not None:
            terminal.say(f"{data.pairs.n_items:,} items in {n_groups:,} groups.")
        _print_plan(found, cost, data.ids)
        _print_files(chosen, output, report)


def _check_use(
    target: float,
    numbers: int | tuple[int, ...] | None,
    chosen: int | None,
    output: Path | None,
) -> None:
    classes = numbers if isinstance(numbers, int) else max(numbers or (6,))
    if not 1.0 / classes < target < 1.0:
        raise ValueError(
            f"--target {target:g}: expected an accuracy above {1.0 / classes:.2g}, which guessing "
            f"among {classes} classes reaches, and below 1, such as 0.95"
        )
    if (chosen is None) != (output is None):
        raise ValueError("--next N and -o FILE.csv belong together: give both, or neither")
    if output is not None and output.suffix.lower() != ".csv":
        raise ValueError(f"{output}: the pairs to ask next are written as .csv")


def _print_plan(found: Plan, cost: float | None, ids: list[str]) -> None:
    from noisypairs.app.plan.statement import N_AGAIN, outlook, pair_rows, statement
    from noisypairs.assess.words import decimal, percent, sentence

    console = terminal.console_of(110)
    if found.class_number is not None:
        console.print(f"{found.class_number.text}.", soft_wrap=True)
    goals = (found.new_items, found.these_items)
    for text in found.doubts:
        console.print(f"Warning: {sentence(text)}", soft_wrap=True)
    for goal, law in zip(goals, found.forecasts, strict=True):
        said = f"{statement(goal, found.target, cost)} {outlook(law)}"
        console.print(f"{goal.name}: {said}", soft_wrap=True)
    missed, mixed = found.rates
    console.print(
        f"Naming every item after the largest class would be right for {percent(found.chance, 1)}. "
        f"Same pairs called different: {percent(missed, 1)}; different pairs called same: "
        f"{percent(mixed, 1)}. Brackets are {percent(goals[0].now.level)} intervals.",
        "",
        sep="\n",
        soft_wrap=True,
    )
    new, these = found.curves
    columns = zip(new.sizes, new.accuracy, new.error, these.accuracy, these.error, strict=True)
    rows = [
        (f"{n:,}", f"{decimal(a)} ± {e:.3f}", f"{decimal(b)} ± {f:.3f}")
        for n, a, e, b, f in columns
    ]
    console.print(
        app.table(console, ("answers", "right on new items", "right on these items"), rows)
    )
    worth = found.worth
    console.print(
        "",
        f"One more answer gives, in bits: on a random new pair {worth.fresh}, on a "
        f"random old pair again {worth.repeated}, on the best tenth of those "
        f"{worth.best_repeated:.3f}.",
        sep="\n",
        soft_wrap=True,
    )
    again = [
        (r["left"], r["right"], f"{r['expected_bits']:.3f}")
        for r in pair_rows(found.ask_again(N_AGAIN), ids)
    ]
    console.print("", "Old pairs most worth asking again:", sep="\n")
    console.print(app.table(console, ("left", "right", "bits"), again))


def _print_files(chosen: NextPairs | None, output: Path | None, report: Path | None) -> None:
    console = terminal.console_of(110)
    if chosen is not None:
        n_chosen = int(chosen.chosen.sum())
        console.print(
            "",
            f"{len(chosen)} new pairs to ask next, mean {chosen.information.mean():.3f} bits, are "
            f"in {output}: {n_chosen} chosen and {len(chosen) - n_chosen} drawn at random. Keep "
            "the column 'chosen' beside the answers: it says which of them show the prior.",
            sep="\n",
            soft_wrap=True,
        )
    if report is not None:
        console.print("", f"The curves: {report}", sep="\n")
