"""Figures 2 and 3 and the flat priors in numbers, against made-up records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from noisypairs.experiments import Choice, plan
from noisypairs.experiments.numbers import figure2, figure3, flat_priors
from tests.experiments.made_up_records import record


def test_figure_2_shows_the_spread_of_the_draws() -> None:
    specs = plan("figure2", Choice(methods=("t-loss",), repeats=3))
    found = {spec: record(spec, (0.67, 0.99, 0.98)[spec.seed]) for spec in specs}
    headings, rows = figure2(found)
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
    headings, rows = figure3(found)
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
    headings, rows = flat_priors(found)
    assert [row[2] for row in rows] == ["(0.2, 0.2)", "(0.1, 0.2)", "(0.3, 0.3)"]
    row = dict(zip(headings, rows[0], strict=True))
    assert row["T-Loss"] == "91.5 → 92.0 (+0.5 ± 1.5)"
    assert float(row["α moved by at most"]) == pytest.approx(0.02)


def test_without_records_there_are_no_rows() -> None:
    assert [make({})[1] for make in (figure2, figure3, flat_priors)] == [(), (), ()]
