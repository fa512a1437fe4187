"""From records to rows of text."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from noisypairs.experiments import Choice, Spec, plan, tables
from noisypairs.experiments.records import Record
from noisypairs.experiments.spec import EFFICIENCY_DENSITIES
from noisypairs.experiments.tables import Cell, runs_of
from tests.experiments.made_up_records import CANCER, record


def test_mean_and_standard_error_are_numpys() -> None:
    values = [0.7, 0.8, 0.95]
    specs = [replace(CANCER, seed=i) for i in range(3)]
    found = tables.summary(
        runs_of({spec: record(spec, v) for spec, v in zip(specs, values, strict=True)}), 80.0
    )
    assert found is not None
    assert found.mean == pytest.approx(100 * np.mean(values))
    assert found.error == pytest.approx(100 * np.std(values, ddof=1) / np.sqrt(3))
    assert found.difference == pytest.approx(100 * np.mean(values) - 80)


def test_bold_is_within_a_point_of_the_best_competing_cell() -> None:
    means = {"pn": 99.0, "t-loss": 90.0, "weighted": 89.0, "km": 88.9, "joint": None}
    cells = {m: None if v is None else Cell(v, 0.1, 3, 0, None) for m, v in means.items()}
    found = tables.stressed(cells)
    assert {m for m, c in found.items() if c and c.bold} == {"t-loss", "weighted"}


def test_a_paper_table_shows_ours_published_and_difference() -> None:
    specs = plan("table1", Choice(("cancer",), repeats=2))
    records = {s: record(s, 0.95 if s.seed else 0.93, "no" if s.method == "t-loss" else None)
               for s in specs}  # fmt: skip
    runs = runs_of(records)
    (first, second, third) = tables.paper_table(runs, 1, 20.0)
    assert [line.row.rates for line in (first, second, third)] == [
        (0.2, 0.2),
        (0.1, 0.2),
        (0.3, 0.3),
    ]
    assert tables.paper_table(runs, 2, 20.0) == []
    texts = dict(zip(tables.headings(runs), tables.text_rows([first])[0], strict=True))
    assert texts["repeats"] == "2"
    assert texts["T-Loss"] == "**94.0 ± 1.0 [2 refused]** (97.2, -3.2)"
    assert texts["Joint"] == "**94.0 ± 1.0**"
    assert texts["best P-N"] == "94.0 ± 1.0 (97.2, -3.2)"


def test_csv_has_a_line_per_record() -> None:
    text = tables.as_csv(runs_of({CANCER: record(CANCER, 0.9, 'why, "this"')}))
    lines = text.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("cancer,pairing,0.1,0.2,km,2.0,0,kernel,0,False,0.9,matched,")
    assert math.isclose(float(lines[0].count(",")), 15)


def test_figure_2_shows_the_spread_of_the_draws() -> None:
    specs = plan("figure2", Choice(methods=("t-loss",), repeats=3))
    found = {spec: record(spec, (0.67, 0.99, 0.98)[spec.seed]) for spec in specs}
    headings, rows = tables.figure2(runs_of(found))
    assert len(rows) == 3  # no noise, pairing, labeling
    row = dict(zip(headings, rows[-1], strict=True))
    assert row["noise"] == "labeling"
    assert row["mean"] == "88.00 ± 10.50"
    assert (row["least"], row["most"], row["draws"]) == ("67.00", "99.00", "3")
    assert row["published"] == "99.67"


def test_figure_3_counts_refusals_and_shows_the_published_accuracy() -> None:
    specs = plan("figure3", Choice(repeats=2))
    found = {
        spec: record(spec, 0.9, "no signal" if spec.rates[0] == 0.3 and spec.seed else None)
        for spec in specs
    }
    headings, rows = tables.figure3(runs_of(found))
    cells = {row[:3]: dict(zip(headings, row, strict=True)) for row in rows}
    assert cells["clean", "0", "0"]["best P-N"] == "90.0 ± 0.0 (published 90.8)"
    assert cells["labeling", "0.3", "20"]["T-Loss"] == "90.0 ± 0.0 [1 refused]"
    assert cells["pairing", "0.2", "5"]["T-Loss"] == "–"  # the rates vary at 20 pairs per item
    assert cells["pairing", "0.2", "5"]["Weighted"] == "90.0 ± 0.0"


def test_flat_priors_are_compared_on_the_same_splits() -> None:
    specs = plan("flat-priors", Choice(("cancer",), repeats=2))
    assert all(spec.flat_priors for spec in specs)
    found = {}
    for spec in specs:
        flat = record(spec, 0.90 if spec.seed else 0.94)
        weak = record(replace(spec, flat_priors=False), 0.88 if spec.seed else 0.95)
        found[spec] = replace(flat, details={"alpha": 0.52})
        found[weak.spec] = replace(weak, details={"alpha": 0.5})
        # A split that has no run with flat priors does not count.
        other = replace(weak.spec, seed=7)
        found[other] = record(other, 0.1)
    headings, rows = tables.flat_priors(runs_of(found))
    assert [row[2] for row in rows] == ["(0.2, 0.2)", "(0.1, 0.2)", "(0.3, 0.3)"]
    row = dict(zip(headings, rows[0], strict=True))
    assert row["T-Loss"] == "91.5 → 92.0 (+0.5 ± 1.5)"
    assert float(row["α moved by at most"]) == pytest.approx(0.02)


def test_without_records_there_are_no_rows() -> None:
    assert [
        make(runs_of({}))[1] for make in (tables.figure2, tables.figure3, tables.flat_priors)
    ] == [(), (), ()]


def made_up(accuracy: dict[str, list[float]], own: float | None = None) -> dict[Spec, Record]:
    """Return records of cancer: accuracies by method and density, best P-N at .96."""
    records = {}
    for spec in plan("efficiency", Choice(("cancer",), ("pn", *accuracy), repeats=2)):
        value = (
            0.96
            if spec.method == "pn"
            else accuracy[spec.method][EFFICIENCY_DENSITIES.index(spec.density)]
        )
        made = record(spec, value + (0.01 if spec.seed else -0.01))
        if own is not None and spec.method == "joint":
            made = replace(made, details={"true_labels": own + (0.01 if spec.seed else -0.01)})
        records[spec] = made
    return records


def needed(records: dict[Spec, Record], column: str) -> str:
    headings, rows = tables.pairs_needed(runs_of(records))
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
