"""A plan in sentences and in plain data: what the command prints and the page repeats."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import Any

from noisypairs.app.files import delimited_text
from noisypairs.app.plan.forecast import Forecast
from noisypairs.app.plan.goal import Goal, Plan
from noisypairs.app.sentences import said
from noisypairs.assess import NextPairs
from noisypairs.estimation import Interval

#: Gain in accuracy that is not worth twice the answers.
LITTLE = 0.01
#: Old pairs shown as worth asking again.
N_AGAIN = 5


def statement(goal: Goal, target: float, cost: float | None = None) -> str:
    """Say what the target takes, at this price of an answer, or why no number can be given.

    >>> sure = Interval(0.8, 0.78, 0.82, 0.9)
    >>> statement(Goal("new items", sure, sure, "unreachable", None, 0.0), 0.95)
    'now about 0.800 [0.780, 0.820]; 0.95 is not reachable with these features: ceiling 0.800
    [0.780, 0.820].'
    """
    return said("goal.txt", "statement", goal, target, price_of(goal, cost))


def outlook(law: Forecast) -> str:
    """Say whether more answers would help, by what twice as many would add.

    The curve is flat where that is clearly below a point, and rises where it is clearly above zero.
    """
    gain = law.doubling
    low, high = (f"{100 * end:.1f}" for end in (gain.low, gain.high))
    if gain.high < LITTLE:
        return "More answers would bring little: twice as many add less than a point."
    if gain.low > 0.0:
        return f"More answers would help: twice as many add {low} to {high} points."
    return f"Whether more answers would help cannot be told: twice as many add 0 to {high} points."


def price_of(goal: Goal, cost: float | None) -> Interval | None:
    """Return what the answers needed cost in all, at ``cost`` each; None where one is unknown."""
    if goal.needed is None or cost is None:
        return None
    need = goal.needed
    return Interval(need.estimate * cost, need.low * cost, need.high * cost, need.level)


def pair_rows(chosen: NextPairs, ids: list[str]) -> list[dict[str, Any]]:
    """Return one flat dict per pair to ask, items by their ``ids``."""
    columns = (chosen.left, chosen.right, chosen.chosen, chosen.information)
    return [
        {
            "left": ids[left],
            "right": ids[right],
            "chosen": "yes" if not_random else "no",
            "expected_bits": round(bits, 4),
        }
        for left, right, not_random, bits in zip(*(c.tolist() for c in columns), strict=True)
    ]


def pairs_csv(chosen: NextPairs, ids: list[str], raw: bool = False) -> str:
    """Return the pairs to ask as the text of a CSV file; ``raw`` as in `delimited_text`."""
    rows = (list(row.values()) for row in pair_rows(chosen, ids))
    return delimited_text(["left", "right", "chosen", "expected_bits"], rows, raw=raw)


def as_dict(
    found: Plan, cost: float | None, ids: list[str], chosen: NextPairs | None
) -> dict[str, Any]:
    """Return the plan as plain data, ready for JSON; what is infinite is None."""
    goals: dict[str, Any] = {"new_items": None}
    curves = {}
    for goal, law in found.goals:
        key, curve = goal.name.replace(" ", "_"), law.curve
        goals[key] = {
            "now": _numbers(goal.now),
            "ceiling": _numbers(goal.ceiling),
            "state": goal.state,
            "answers_needed": _numbers(goal.needed),
            "cost": _numbers(price_of(goal, cost)),
            "reachable_probability": goal.reachable,
            "twice_the_answers_add": _numbers(law.doubling),
            "says": f"{statement(goal, found.target, cost)} {outlook(law)}",
        }
        curves[key] = {
            "answers": curve.sizes.tolist(),
            "accuracy": curve.accuracy.tolist(),
            "standard_error": curve.error.tolist(),
            "fitted": law.band(curve.sizes.astype(float))[0].tolist(),
        }
    return {
        "target": found.target,
        "answers": found.n_answers,
        "items": found.n_items,
        "classes": found.n_classes,
        "class_number": None if found.class_number is None else asdict(found.class_number),
        "noise": {
            "similar_flip": found.rates[0],
            "dissimilar_flip": found.rates[1],
            "same_probability": found.noise.same_probability(found.n_classes).tolist(),
        },
        "largest_class_share": found.chance,
        **goals,
        "curves": curves,
        "bits_per_fresh_answer": _numbers(found.worth.fresh),
        "bits_per_repeated_answer": _numbers(found.worth.repeated),
        "bits_per_best_repeated_answer": found.worth.best_repeated,
        "ask_again": pair_rows(found.ask_again(N_AGAIN), ids),
        "warnings": list(found.doubts),
        "next": None if chosen is None else pair_rows(chosen, ids),
    }


def _numbers(interval: Interval | None) -> dict[str, float | None] | None:
    """Return the three numbers; an infinite one is None, as JSON has no infinity."""
    if interval is None:
        return None
    ends = {"estimate": interval.estimate, "low": interval.low, "high": interval.high}
    return {name: end if isfinite(end) else None for name, end in ends.items()}
