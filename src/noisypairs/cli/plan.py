"""``noisypairs plan``: how many more pairs a target takes, what they cost, and which to ask."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisypairs.cli.app import (
    BAD_DATA,
    WRONG_USE,
    command,
    console_of,
    failing_with,
    progress,
    table,
)

if TYPE_CHECKING:
    from noisypairs.estimation import Interval
    from noisypairs.planning import Candidates, Goal, Plan

#: Old pairs shown as worth asking again.
N_AGAIN = 5


@command()
def plan(
    items: Annotated[Path, typer.Argument(help="One row per item: CSV, TSV, Parquet, JSON lines.")],
    pairs: Annotated[Path, typer.Argument(help="One answer per row, or another tool's export.")],
    target: Annotated[float, typer.Option(help="The accuracy wanted, such as 0.95.")],
    cost: Annotated[float | None, typer.Option(min=0.0, help="The price of one answer.")] = None,
    next_pairs: Annotated[
        int | None, typer.Option("--next", min=1, help="How many pairs to choose for asking next.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="CSV file for the pairs of --next.")
    ] = None,
    left: Annotated[str | None, typer.Option(help="Column of the first item.")] = None,
    right: Annotated[str | None, typer.Option(help="Column of the second item.")] = None,
    same: Annotated[str | None, typer.Option(help="Column of the answers.")] = None,
    annotator: Annotated[str | None, typer.Option(help="Column of who answered.")] = None,
    id: Annotated[str | None, typer.Option("--id", help="Column of the items' ids.")] = None,
    classes: Annotated[int, typer.Option(min=2, max=50, help="How many classes there are.")] = 2,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output file.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Decides every draw.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Tell how many more answers a target accuracy takes, and which pairs to ask next.

    Judged by left-out noisy answers alone; no true class is used.

    Example: noisypairs plan items.csv pairs.csv --target 0.95 --cost 0.04 --next 100 -o next.csv
    """
    with failing_with(WRONG_USE):
        _check_use(target, classes, next_pairs, output, force)
    with failing_with(BAD_DATA):
        from noisypairs import planning
        from noisypairs.encoding import item_encoder
        from noisypairs.files import Columns, read_dataset
        from noisypairs.planning.goal import N_STEPS

        with progress(N_STEPS + 1, quiet) as step:
            step("reading the files")
            data = read_dataset(items, pairs, Columns(left, right, same, annotator, id))
            if data.features is None:
                raise ValueError(f"{items} holds no features of the items: a plan needs them")
            X = item_encoder(data.features, seed).fit_transform(data.features)
            found = planning.plan(
                X, data.pairs, target, n_classes=classes, random_state=seed, step=step
            )
            chosen = None if next_pairs is None else found.next_pairs(next_pairs)
            if output is not None and chosen is not None:
                _write(output, chosen, data.ids, force)
    if as_json:
        import json

        shown = _as_dict(found, cost, data.ids, chosen)
        typer.echo(json.dumps(shown, allow_nan=False, ensure_ascii=False))
    else:
        _tell(found, cost, data.ids, chosen, output)


def _check_use(
    target: float, classes: int, chosen: int | None, output: Path | None, force: bool
) -> None:
    from noisypairs.files import check_writable

    if not 1.0 / classes < target < 1.0:
        raise ValueError(
            f"--target {target:g}: expected an accuracy above {1.0 / classes:.2g}, which guessing "
            f"among {classes} classes reaches, and below 1, such as 0.95"
        )
    if (chosen is None) != (output is None):
        raise ValueError("--next N and -o FILE.csv belong together: give both, or neither")
    if output is not None:
        if output.suffix.lower() != ".csv":
            raise ValueError(f"{output}: the pairs to ask next are written as .csv")
        check_writable(output, force)


def _write(output: Path, chosen: Candidates, ids: list[str], force: bool) -> None:
    import pandas as pd

    from noisypairs.files import atomic_write

    frame = pd.DataFrame(_rows(chosen, ids))
    atomic_write(output, frame.to_csv(index=False), force)


def _rows(chosen: Candidates, ids: list[str]) -> list[dict[str, Any]]:
    rows = zip(
        chosen.left.tolist(),
        chosen.right.tolist(),
        chosen.again.tolist(),
        chosen.information.tolist(),
        strict=True,
    )
    return [
        {
            "left": ids[left],
            "right": ids[right],
            "kind": "again" if again else "new",
            "expected_bits": round(bits, 4),
        }
        for left, right, again, bits in rows
    ]


def _as_dict(
    found: Plan, cost: float | None, ids: list[str], chosen: Candidates | None
) -> dict[str, Any]:
    from dataclasses import asdict

    goals = {}
    for key, goal in (("new_items", found.new_items), ("these_items", found.these_items)):
        goals[key] = {
            "now": _numbers(goal.now),
            "ceiling": _numbers(goal.ceiling),
            "state": goal.state,
            "answers_needed": None if goal.needed is None else _numbers(goal.needed),
            "cost": _cost(goal, cost),
            "reachable_probability": goal.reachable,
            "says": _sentence(goal, found, cost),
        }
    return {
        "target": found.target,
        "answers": found.n_answers,
        "items": found.n_items,
        "classes": found.n_classes,
        "noise": asdict(found.noise),  # type: ignore[call-overload]
        "largest_class_share": found.chance,
        **goals,
        "curves": {
            curve.name.replace(" ", "_"): {
                "answers": curve.sizes.tolist(),
                "accuracy": curve.accuracy.tolist(),
                "standard_error": curve.error.tolist(),
            }
            for curve in found.curves
        },
        "bits_per_fresh_answer": _numbers(found.worth.fresh),
        "bits_per_repeated_answer": _numbers(found.worth.repeated),
        "bits_per_best_repeated_answer": found.worth.best_repeated,
        "ask_again": _rows(found.ask_again(N_AGAIN), ids),
        "next": None if chosen is None else _rows(chosen, ids),
    }


def _numbers(interval: Interval) -> dict[str, float | None]:
    """Return the three numbers; an infinite one is None, as JSON has no infinity."""
    from math import isfinite

    ends = {"estimate": interval.estimate, "low": interval.low, "high": interval.high}
    return {name: end if isfinite(end) else None for name, end in ends.items()}


def _cost(goal: Goal, cost: float | None) -> dict[str, float | None] | None:
    if goal.needed is None or cost is None:
        return None
    return {
        name: None if count is None else count * cost
        for name, count in _numbers(goal.needed).items()
    }


def _tell(
    found: Plan, cost: float | None, ids: list[str], chosen: Candidates | None, output: Path | None
) -> None:
    console = console_of(110)
    goals = (found.new_items, found.these_items)
    for goal in goals:
        console.print(f"{goal.name}: {_sentence(goal, found, cost)}", soft_wrap=True)
    console.print(
        f"Naming every item after the largest class would be right for {found.chance:.1%}. Noise: "
        f"{found.noise}. Brackets are {goals[0].now.level:.0%} intervals.",
        "",
        sep="\n",
        soft_wrap=True,
    )
    new, these = found.curves
    columns = zip(new.sizes, new.accuracy, new.error, these.accuracy, these.error, strict=True)
    rows = [(f"{n:,}", f"{a:.3f} ± {e:.3f}", f"{b:.3f} ± {f:.3f}") for n, a, e, b, f in columns]
    console.print(table(console, ("answers", "right on new items", "right on these items"), rows))
    worth = found.worth
    console.print(
        "",
        f"One more answer tells, in bits: on a random new pair {worth.fresh}, on a "
        f"random old pair again {worth.repeated}, on the best tenth of those "
        f"{worth.best_repeated:.3f}.",
        sep="\n",
        soft_wrap=True,
    )
    again = [
        (r["left"], r["right"], f"{r['expected_bits']:.3f}")
        for r in _rows(found.ask_again(N_AGAIN), ids)
    ]
    console.print("", "Old pairs most worth asking again:", sep="\n")
    console.print(table(console, ("left", "right", "bits"), again))
    if chosen is not None:
        n_again = int(chosen.again.sum())
        console.print(
            "",
            f"{len(chosen)} pairs to ask next ({len(chosen) - n_again} new, {n_again} again), mean "
            f"{chosen.information.mean():.3f} bits, are in {output}. They are chosen, not drawn at "
            "random: their share of 'same' says nothing about the prior.",
            sep="\n",
            soft_wrap=True,
        )


def _sentence(goal: Goal, found: Plan, cost: float | None) -> str:
    """Say what the target takes, or why no number can be given."""
    now = f"now about {goal.now}"
    ceiling = f"ceiling {goal.ceiling}"
    if goal.state == "reached":
        return f"{now}: the target {found.target:g} is reached."
    if goal.state == "unreachable":
        return f"{now}; {found.target:g} is not reachable with these features: {ceiling}."
    if goal.state == "open" or goal.needed is None:
        return (
            f"{now}; whether {found.target:g} can be reached cannot be identified from these "
            f"pairs: {ceiling}, above the target with probability {goal.reachable:.0%}."
        )
    text = f"{now}; {found.target:g} takes about {_span(goal.needed, '{:,.0f}')} further answers"
    if cost is not None:
        spent = _cost(goal, cost) or {}
        low, high = spent["low"], spent["high"]
        most = "no limit" if high is None else f"{high:,.2f}"
        text += f", at a cost of {spent['estimate']:,.2f} [{low:,.2f}, {most}]"
    return f"{text}; {ceiling}."


def _span(interval: Interval, form: str) -> str:
    from math import isfinite

    high = form.format(interval.high) if isfinite(interval.high) else "no limit"
    return f"{form.format(interval.estimate)} [{form.format(interval.low)}, {high}]"
