"""The pages of the commands: each takes what was found, and a template has the words.

Here is what a template cannot do: the pictures, and who and what is shown first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from noisypairs.annotators import KINDS, UNDECIDED, AnnotatorRow
from noisypairs.annotators.choice import TOOLS
from noisypairs.app.learning_curve import NEW, THESE, Forecast
from noisypairs.app.plan import (
    N_AGAIN,
    Goal,
    Plan,
    outlook,
    pair_rows,
    price_of,
    statement,
)
from noisypairs.app.report import advice, charts
from noisypairs.app.report.page import render
from noisypairs.app.report.thumbnails import Thumbnails, image_source
from noisypairs.app.suspects import MOST_SHOWN, items_of
from noisypairs.assess.words import name_of

if TYPE_CHECKING:
    from noisypairs.annotators.crowd import Crowd
    from noisypairs.app.check import DataCheck
    from noisypairs.app.files import Dataset
    from noisypairs.app.fit.result import ClassSummary, FitResult, ModelSummary, ShownItem
    from noisypairs.app.suspects import Suspects
    from noisypairs.assess import NextPairs

#: Flip rates below this are shown with what they cannot show.
NEAR_ZERO = 0.02
#: Classes that are called "same" at least so often as this share of one class's own pairs are
#: confused: people then see hardly a difference.
CONFUSED = 0.5
#: The curve is drawn on to so many times the answers at hand, or to what the target takes.
FARTHEST_DRAWN = 4.0
#: Two standard errors: the bars of the measured points.
BARS = 2.0
#: Outlook of the joint learner -> tone of the callout, and its words.
_OUTLOOKS = {
    "works": ("consistent", "can work"),
    "doubtful": ("caution", "is doubtful"),
    "fails": ("problem", "cannot work"),
    "not tried": ("note", "was not tried"),
}
_NO_PICTURES = Thumbnails({}, ())


def check_report(found: DataCheck) -> str:
    """Return the page of ``noisypairs check``: what is wrong first, then what it was found in."""
    names = [Path(source["path"]).name for source in found.dataset.sources]
    columns = asdict(found.dataset.columns)
    given = {"found": found, "names": names, "columns": columns, "OUTLOOKS": _OUTLOOKS}
    return render("check.html", "noisypairs check", **given)


def fit_report(
    result: FitResult,
    thumbnails: Thumbnails = _NO_PICTURES,
    of_classes: Thumbnails = _NO_PICTURES,
    commands: Sequence[str] = (),
) -> str:
    """Return the page of a fit: what was learnt, how good it is, whether it may be trusted.

    ``thumbnails`` are pictures of the items of suspect answers, ``of_classes`` those of items
    that show classes; ``commands`` are what to do next.
    """
    model, bins = result.model, result.evidence.reliability
    S = np.array(model.noise.same_probability)
    return render(
        "fit.html",
        "noisypairs fit",
        result=result,
        thumbnails=thumbnails,
        of_classes=of_classes,
        commands=commands,
        couples=_couples,
        heat_map=charts.heat_map(model.groups, S),
        confused=_confused(model, S),
        accuracy_bars=None if model.accuracy is None else _accuracy_bars(model),
        reliability=_reliability(bins) if bins else None,
        farthest=max((abs(one.predicted - one.observed.estimate) for one in bins), default=0.0),
        NEAR_ZERO=NEAR_ZERO,
        **_ADVICE,
    )


def plan_report(
    found: Plan, ids: list[str], cost: float | None = None, chosen: NextPairs | None = None
) -> str:
    """Return the page of a plan: what the target takes, the curve behind it, what to ask next.

    ``cost`` is the price of an answer, ``chosen`` the pairs to ask next, items named by ``ids``.
    """
    headings = {
        NEW: "New items, by their features alone",
        THESE: "The compared items, by features and answers",
    }
    curves = [(headings[goal.name], law, _curve(goal, law, found)) for goal, law in found.goals]
    return render(
        "plan.html",
        "noisypairs plan",
        found=found,
        ids=ids,
        cost=cost,
        price=price_of(found.goals[0][0], cost),
        chosen=chosen,
        curves=curves,
        statement=statement,
        outlook=outlook,
        pair_rows=pair_rows,
        N_AGAIN=N_AGAIN,
    )


def annotators_report(found: Crowd, notes: Sequence[str] = ()) -> str:
    """Return the page of ``noisypairs annotators``: who answers how well, and what follows."""
    given = {"found": found, "notes": notes, "TOOLS": TOOLS, **_ADVICE}
    return render("crowd.html", "noisypairs annotators", **given)


def suspects_report(found: Suspects, data: Dataset) -> str:
    """Return the page of ``noisypairs suspects``: nothing but the answers to look at again."""
    shown = list(found.first(MOST_SHOWN))
    (seen,) = pictures(data, items_of(shown))
    given: dict[str, Any] = {"found": shown, "n_suspects": found.n_wrong, "seen": seen}
    given |= {"n_pairs": data.pairs.n_pairs, "n_hard": found.n_hard}
    return render("suspects.html", "noisypairs suspects", **given)


def pictures(data: Dataset, *wanted: Iterable[str]) -> Iterator[Thumbnails]:
    """Yield small pictures of these items, of each list by itself, as far as there are any."""
    source = image_source(data.features, data.ids)
    for prefix, ids in zip(("picture", "class"), wanted, strict=False):
        yield _NO_PICTURES if source is None else source.thumbnails(ids, prefix)


def _annotator_chart(shown: Sequence[AnnotatorRow]) -> str:
    rates = [(row.similar_flip, row.dissimilar_flip) for row in shown]
    return charts.annotator_plot(
        [name_of(row.name) for row in shown],
        [[one.estimate for one in row] for row in rates],
        [[one.low for one in row] for row in rates],
        [[one.high for one in row] for row in rates],
        stressed=[row.verdict in KINDS[1:] for row in shown],
    )


_ADVICE = {
    "UNDECIDED": UNDECIDED,
    "annotator_chart": _annotator_chart,
    "by_suspicion": advice.by_suspicion,
    "standing_out": advice.standing_out,
    "crowd_answer": advice.crowd_answer,
    "least_missed": advice.least_missed,
    "meanings": advice.meanings,
}


def _couples(one: ClassSummary) -> Iterator[tuple[ShownItem, ShownItem, str]]:
    """Yield items two by two: typical beside doubtful, or two typical ones where none is."""
    if one.doubtful:
        for both in zip(one.typical, one.doubtful, strict=False):
            yield (*both, "typical and doubtful")
    else:
        for both in zip(one.typical[::2], one.typical[1::2], strict=False):
            yield (*both, "typical")


def _confused(found: ModelSummary, S: np.ndarray) -> list[tuple[str, str, float]]:
    """Return the classes that are called "same" almost as often as one class's own pairs."""
    own, names = np.diag(S), found.groups
    return [
        (names[a], names[b], float(S[a, b]))
        for a, b in combinations(range(len(S)), 2)
        if S[a, b] >= CONFUSED * min(own[a], own[b])
    ]


def _accuracy_bars(found: ModelSummary) -> str:
    sure, largest = found.accuracy, found.majority_share
    assert sure is not None
    return charts.bars(
        ["this model", "always the largest class"],
        [sure.estimate, largest],
        ([sure.low, largest], [sure.high, largest]),
        baseline=[False, True],
        stressed=[True, False],
        x_label="share of new items in the right class (estimated)",
    )


def _reliability(bins: Sequence[Any]) -> str:
    observed = [one.observed for one in bins]
    return charts.reliability(
        [one.predicted for one in bins],
        [one.estimate for one in observed],
        [one.n_answers for one in bins],
        ([one.low for one in observed], [one.high for one in observed]),
    )


def _curve(goal: Goal, law: Forecast, found: Plan) -> str:
    curve, now = law.curve, found.n_answers
    last = FARTHEST_DRAWN * now
    if goal.needed is not None:
        last = min(last, 1.2 * (now + goal.needed.estimate))
    sizes = np.linspace(float(curve.sizes[0]), max(last, 1.2 * now), 120)
    middle, low, high = law.band(sizes)
    bars = BARS * curve.error
    return charts.learning_curve(
        curve.sizes,
        curve.accuracy,
        (curve.accuracy - bars, np.minimum(curve.accuracy + bars, 1.0)),
        fitted=(sizes, middle),
        fitted_interval=(low, high),
        target=found.target,
        ceiling=goal.ceiling.estimate if goal.ceiling.estimate < 1.0 else None,
        now=now,
        x_label="answers in all",
    )
