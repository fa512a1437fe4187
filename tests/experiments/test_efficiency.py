"""How many pairs a method needs, against made-up records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from noisypairs.experiments import Choice, Spec, plan
from noisypairs.experiments.efficiency import pairs_needed
from noisypairs.experiments.records import Record
from tests.experiments.made_up_records import record

DENSITIES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)


def made_up(accuracy: dict[str, list[float]], own: float | None = None) -> dict[Spec, Record]:
    """Return records of cancer: accuracies by method and density, best P-N at .96."""
    records = {}
    for spec in plan("efficiency", Choice(("cancer",), ("pn", *accuracy), repeats=2)):
        value = (
            0.96 if spec.method == "pn" else accuracy[spec.method][DENSITIES.index(spec.density)]
        )
        made = record(spec, value + (0.01 if spec.seed else -0.01))
        if own is not None and spec.method == "joint":
            made = replace(made, details={"true_labels": own + (0.01 if spec.seed else -0.01)})
        records[spec] = made
    return records


def needed(records: dict[Spec, Record], column: str) -> str:
    headings, rows = pairs_needed(records)
    (row,) = rows
    return dict(zip(headings, row, strict=True))[column]


@pytest.mark.parametrize(
    ("accuracies", "expected"),
    [
        ([0.95, 0.80, 0.95, 0.95, 0.95, 0.95, 0.95], "2"),  # near, away, near: the last time counts
        ([0.80, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95], "1"),
        ([0.95, 0.95, 0.95, 0.95, 0.95, 0.95, 0.80], "> 50"),
        ([0.9401] * 7, "0.5"),
        ([0.9399] * 7, "> 50"),
    ],
)
def test_pairs_needed_is_where_a_method_stays_near(accuracies: list[float], expected: str) -> None:
    records = made_up({"t-loss": accuracies})
    assert needed(records, "T-Loss") == expected
    assert needed(records, "KM") == "–"


def test_joint_is_held_against_its_own_estimator() -> None:
    """Within 2 points of best P-N from the start, of its own estimator from 5 pairs per item on."""
    rising = [0.95, 0.95, 0.95, 0.97, 0.97, 0.97, 0.97]
    assert needed(made_up({"joint": rising}), "Joint") == "0.5"
    records = made_up({"joint": rising}, own=0.98)
    assert needed(records, "Joint") == "5"
    assert needed(records, "Joint's estimator, true classes") == "98.0 ± 1.0"
