"""The page of ``noisypairs plan``: what the target takes, the curve behind it, what to ask next."""

from __future__ import annotations

from typing import Literal

import numpy as np

from noisypairs.app.plan import Forecast, Goal, Plan
from noisypairs.app.plan.statement import N_AGAIN, pair_rows, price_of, statement
from noisypairs.app.report import charts
from noisypairs.app.report.page import (
    Block,
    Page,
    Table,
    bullets,
    callout,
    figure,
    numbers,
    paragraph,
    table,
)
from noisypairs.assess import NextPairs
from noisypairs.assess.verdict import Kind
from noisypairs.assess.words import between, count, name_of, percent, sentence, span

GENERATOR = "noisypairs plan"
#: Pairs to ask next that the page shows; the file has them all.
MOST_PAIRS = 20
#: The curve is drawn on to so many times the answers at hand, or to what the target takes.
FARTHEST_DRAWN = 4.0
#: Two standard errors: the bars of the measured points.
BARS = 2.0

Tone = Kind | Literal["note"]
_KINDS: dict[str, Tone] = {
    "reached": "good",
    "more": "note",
    "open": "caution",
    "doubtful": "caution",
}
_TITLES = {
    "new items": "New items, by their features alone",
    "these items": "The compared items, by features and answers",
}


def plan_report(
    found: Plan, ids: list[str], cost: float | None = None, chosen: NextPairs | None = None
) -> str:
    """Return the whole page as HTML, the answer first.

    ``cost`` is the price of an answer, ``chosen`` the pairs to ask next, items named by ``ids``.
    """
    page = Page("How many more answers", _answer(found, cost), GENERATOR)
    goals = (found.new_items, found.these_items)
    page.open_with(
        *(callout(f"Doubtful: {sentence(text)}", "caution") for text in found.doubts),
        *(
            callout(_summary(goal, found, cost), _KINDS.get(goal.state, "problem"))
            for goal in goals
        ),
        numbers(_key_numbers(found, cost)),
    )
    for goal, law in zip(goals, found.forecasts, strict=True):
        page.section(_TITLES[goal.name], *_curve(goal, law, found))
    page.section("Fresh pairs or repeated answers", *_worth(found, ids))
    if chosen is not None:
        page.section("What to ask next", *_next(chosen, ids))
    page.section("How to read this", _how_to_read(found))
    return page.html()


def _answer(found: Plan, cost: float | None) -> str:
    goal, wanted = found.new_items, percent(found.target, 1)
    have = (
        f"With {count(found.n_answers, 'answer')} about {percent(goal.now.estimate)} of new items "
        f"are classified correctly ({between(goal.now)})."
    )
    if goal.state == "reached":
        return f"{have} The target of {wanted} is reached."
    if goal.state == "doubtful":
        return f"{have} That is above the target of {wanted}, but doubtful: see the warning."
    if goal.state == "unreachable":
        return f"{have} No number of answers leads to {wanted} with these features."
    if goal.needed is None:
        return f"{have} Whether {wanted} can be reached cannot be decided from these answers."
    price = price_of(goal, cost)
    paid = "" if price is None else f", at a cost of {span(price, '{:,.2f}')}"
    return f"{have} {wanted} takes {span(goal.needed, '{:,.0f}')} further answers{paid}."


def _summary(goal: Goal, found: Plan, cost: float | None) -> str:
    said = f"{sentence(goal.name).rstrip('.')}: {statement(goal, found.target, cost)}"
    if goal.state != "reached":
        return said
    chance = percent(found.chance)
    return f"{said} Naming every item after the largest class would be right for {chance}."


def _key_numbers(found: Plan, cost: float | None) -> list[tuple[str, str, str]]:
    goal = found.new_items
    tiles = [
        (percent(goal.now.estimate), "of new items right now (estimated)", between(goal.now)),
        (percent(goal.ceiling.estimate), "at best with these features", between(goal.ceiling)),
    ]
    these = found.these_items
    tiles.append((percent(these.now.estimate), "of the compared items right", between(these.now)))
    if goal.needed is not None:
        needed = span(goal.needed, "{:,.0f}")
        tiles.append((f"{goal.needed.estimate:,.0f}", "answers still needed", needed))
        if (price := price_of(goal, cost)) is not None:
            tiles.append((f"{price.estimate:,.2f}", "is their price", span(price, "{:,.2f}")))
    return tiles


def _curve(goal: Goal, law: Forecast, found: Plan) -> list[Block]:
    curve, level = law.curve, percent(goal.now.level)
    last = FARTHEST_DRAWN * found.n_answers
    if goal.needed is not None:
        last = min(last, 1.2 * (found.n_answers + goal.needed.estimate))
    sizes = np.linspace(float(curve.sizes[0]), max(last, 1.2 * found.n_answers), 120)
    middle, low, high = law.band(sizes)
    bars = BARS * curve.error
    picture = charts.learning_curve(
        curve.sizes,
        curve.accuracy,
        (curve.accuracy - bars, np.minimum(curve.accuracy + bars, 1.0)),
        fitted=(sizes, middle),
        fitted_interval=(low, high),
        target=found.target,
        ceiling=goal.ceiling.estimate if goal.ceiling.estimate < 1.0 else None,
        now=found.n_answers,
        x_label="answers in all",
    )
    caption = (
        "Dots: share classified correctly after learning from so many answers, judged by answers "
        "left out, with bars of two standard errors. The dashed curve is fitted to them and "
        f"extended; it is at most {law.miss:.1f} standard errors from a dot, and the shaded band "
        f"is its {level} interval. There are {found.n_answers:,} answers now."
    )
    rows = [
        (f"{n:,}", f"{percent(a, 1)} ± {percent(e, 1)}")
        for n, a, e in zip(curve.sizes, curve.accuracy, curve.error, strict=True)
    ]
    return [figure(picture, caption), table(("answers", "right (± one standard error)"), rows)]


def _worth(found: Plan, ids: list[str]) -> list[Block]:
    worth = found.worth
    fresh, again = worth.fresh, worth.repeated
    better = "New pairs are worth more." if fresh.low > again.high else "Neither is clearly better."
    if again.low > fresh.high:
        better = "Old pairs are worth more."
    text = (
        f"One more answer gives, on average, {fresh.estimate:.3f} bits on a random new pair and "
        f"{again.estimate:.3f} on a random old pair asked again. {better} On the tenth of the old "
        f"pairs most worth asking again it gives {worth.best_repeated:.3f}."
    )
    caption = "Old pairs most worth asking again."
    return [paragraph(text), _pairs(found.ask_again(N_AGAIN), ids, caption)]


def _next(chosen: NextPairs, ids: list[str]) -> list[Block]:
    n_chosen = int(chosen.chosen.sum())
    text = (
        f"{count(len(chosen), 'new pair')} to ask next: {n_chosen:,} chosen by what their answers "
        f"tell together, and {len(chosen) - n_chosen:,} drawn at random. Only the latter show by "
        "their share of “same” how large the classes are."
    )
    shown = chosen[slice(MOST_PAIRS)]
    caption = f"The first {len(shown)}." if len(shown) < len(chosen) else None
    return [paragraph(text), _pairs(shown, ids, caption)]


def _pairs(shown: NextPairs, ids: list[str], caption: str | None) -> Table:
    rows = [
        (name_of(row["left"]), name_of(row["right"]), row["chosen"], f"{row['expected_bits']:.3f}")
        for row in pair_rows(shown, ids)
    ]
    return table(("first item", "second item", "chosen", "bits"), rows, caption, numeric=[3])


def _how_to_read(found: Plan) -> Block:
    missed, mixed = map(percent, found.rates)
    chance = percent(found.chance)
    return bullets(
        (
            "No true class was used: agreement with left-out answers is turned into accuracy by "
            f"the estimated noise. Of same pairs {missed} are called different, of different ones "
            f"{mixed} same.",
            f"Brackets and shaded bands are {percent(found.new_items.now.level)} intervals; the "
            "error of the noise itself is not in them.",
            "The same left-out answers judge all points of a curve, which therefore share most of "
            "their error: the curve passes through the dots, but all of them may lie too high or "
            "too low together. The shaded band takes that into account.",
            f"Naming every item after the largest class would be right for {chance}.",
            "New pairs are assumed to be drawn at random, like the old ones.",
            "A bit is the information in a certain answer to an even question; noisy answers give "
            "much less.",
        )
    )
