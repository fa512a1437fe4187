"""Results to be shown on a page: one that holds everything, with names made to break out of it."""

from __future__ import annotations

from dataclasses import fields as dataclass_fields
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from noisypairs import PairingNoise, datasets
from noisypairs.annotators import annotator_table
from noisypairs.annotators.crowd import Crowd, judge_crowd
from noisypairs.app.encoding import ColumnPlan
from noisypairs.app.fit.result import (
    Calibration,
    ClassSummary,
    DataSummary,
    Evidence,
    FitResult,
    ModelSummary,
    NoiseSummary,
    ReliabilityBin,
    RunFacts,
    ShownItem,
)
from noisypairs.app.learning_curve import LearningCurve, forecast
from noisypairs.app.plan import Plan, old_pairs, reach, worth_of_answers
from noisypairs.app.suspects import SuspectPair
from noisypairs.assess.verdict import Check, judged
from noisypairs.estimation import Interval
from noisypairs.graph.propagation import PairGraph, propagate

#: Ids and words from files are not to be trusted: markup, quotes, mathematics, control characters.
HOSTILE = "<script>alert('x')</script>\"&$\\frac{1}$\x00\x1b[31m</td>{{ 7*7 }}"


@cache
def fit_result(name: str = "item") -> FitResult:
    """Return a result with every part filled; ``name`` stands wherever a file could put a word."""
    simulated = datasets.simulated_crowd(
        60, 2, 8, 20, similar_flip=0.1, dissimilar_flip=0.1, random_state=0
    )
    pairs = simulated.pairs
    table = annotator_table(pairs, random_state=0)
    features = {name: "1.5", "colour": name}
    return FitResult(
        data=DataSummary(
            title=name,
            sources={"items": name, "pairs": "pairs.csv"},
            checksums={"items": "ab12", "pairs": "cd34"},
            columns={"left": name, "right": "b", "same": "same", "annotator": "who", "id": None},
            answers={name: "same", "no": "different"},
            notes=(f"2 answers about {name} left out",),
            n_items=pairs.n_items,
            n_pairs=pairs.n_pairs,
            n_annotators=8,
            n_labels=0,
            features=(ColumnPlan(name, "number", f"unlike {name}"),),
            n_features=3,
            audit=pairs.audit(),
        ),
        model=ModelSummary(
            method="joint",
            method_title="Joint learner",
            estimator="default",
            estimator_title="LogisticRegression",
            class_number=None,
            classes=(ClassSummary(name, 0.4, 24), ClassSummary("other", 0.6, 36)),
            names_known=False,
            prior=Interval(0.6, 0.55, 0.65),
            noise=NoiseSummary(
                "pairing",
                "PairingNoise(0.2, 0.1)",
                Interval(0.2, 0.18, 0.23),
                Interval(0.1, 0.08, 0.13),
                True,
                ((0.8, 0.1), (0.1, 0.8)),
            ),
            accuracy=Interval(0.93, 0.9, 0.96),
            accuracy_how="from left-out items",
            majority_share=0.6,
        ),
        evidence=Evidence(
            reliability=(
                ReliabilityBin(0.2, Interval(0.22, 0.15, 0.3), 100),
                ReliabilityBin(0.8, Interval(0.77, 0.7, 0.85), 221),
            ),
            annotators=table,
            suspects=(
                SuspectPair(
                    name,
                    "b",
                    "same",
                    name,
                    0.9999,
                    features,
                    features,
                    doubts=("others disagree",),
                    why=("2 of 2 other answers to this pair say different.",),
                ),
            ),
            n_suspects=77,
            calibration=Calibration(statistic=1.2, degrees=2, p_value=0.549, level=0.05),
        ),
        verdict=judged(
            [Check("held-out items", True, "answers about items not seen are predicted")],
            Interval(0.93, 0.9, 0.96),
            None,
            0.6,
            2,
            (3, 7),
        ),
        run=RunFacts(
            warnings=(),
            seed=3,
            versions={"noisypairs": "0.0", "python": "3.11"},
            date="2026-01-01T00:00:00+00:00",
            seconds=12.0,
        ),
    )


def with_fields(result: FitResult, **fields: Any) -> FitResult:
    """Return the result with some fields replaced, in whichever part each of them is."""
    changed = {
        part.name: replace(value, **{k: v for k, v in fields.items() if k in vars(value)})
        for part in dataclass_fields(result)
        for value in [getattr(result, part.name)]
    }
    return replace(result, **changed)


def with_classes(result: FitResult, name: str = "oak") -> FitResult:
    """Return the result with three classes, of which two are confused."""

    def summary(number: int) -> ClassSummary:
        items = [ShownItem(f"{name}{number}{k}", 0.97 - 0.4 * k, {name: "1.5"}) for k in (0, 1)]
        tells = (f"{name} larger (5, others 2)",)
        return ClassSummary(f"group {number + 1}", 0.3, 20, 4, (items[0],), (items[1],), tells)

    S = ((0.9, 0.5, 0.1), (0.5, 0.8, 0.2), (0.1, 0.2, 0.7))
    noise = replace(result.model.noise, same_probability=S)
    return with_fields(result, classes=tuple(map(summary, range(3))), noise=noise, prior=None)


SIZES = np.array([100, 150, 220, 330, 600])
NOISE = PairingNoise(0.1, 0.2)


@cache
def plan_result(target: float = 0.9) -> Plan:
    """Return a plan whose curves follow the two laws: .92 − 9/n, and 1 − .4 exp(−n/200)."""
    rng = np.random.default_rng(0)
    left, right = rng.permuted(np.tile(np.arange(40), (60, 1)), axis=1)[:, :2].T
    graph = PairGraph.from_answers(left, right, rng.random(60) < 0.5, n_items=40)
    S = NOISE.same_probability()
    beliefs = propagate(graph, rng.normal(size=(40, 2)), S)
    laws = (0.92 - 9.0 / SIZES, 1.0 - 0.4 * np.exp(-SIZES / 200))
    new, these = (
        forecast(LearningCurve(name, SIZES, law, 1e-7 * np.eye(5)), 40)
        for name, law in zip(("new items", "these items"), laws, strict=True)
    )
    return Plan(
        target=target,
        n_answers=600,
        n_items=40,
        n_classes=2,
        noise=NOISE,
        rates=(0.1, 0.2),
        chance=0.6,
        new_items=reach(new, new.accuracy(600), target),
        these_items=reach(these, these.accuracy(600), target),
        forecasts=(new, these),
        worth=worth_of_answers(graph, beliefs, S, random_state=0),
        old=old_pairs(graph, beliefs, S),
        beliefs=beliefs.item,
    )


@cache
def crowd() -> Crowd:
    """Return a judged crowd of twenty, two of them suspect."""
    rates = {"similar_flip": 0.1, "dissimilar_flip": 0.1}
    simulated = datasets.simulated_crowd(100, 2, 20, 30, **rates, random_state=0)
    return judge_crowd(simulated.pairs, labels=dict(enumerate(simulated.target[:30].tolist())))
