"""From records to rows of text."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from noisypairs.experiments import Choice, plan, tables
from noisypairs.experiments.tables import Cell
from tests.experiments.made_up_records import CANCER, record


def test_mean_and_standard_error_are_numpys() -> None:
    values = [0.7, 0.8, 0.95]
    found = tables.summary([record(replace(CANCER, seed=i), v) for i, v in enumerate(values)], 80.0)
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
    (first, second, third) = tables.paper_table(records, 1, 20.0)
    assert [line.row.rates for line in (first, second, third)] == [
        (0.2, 0.2),
        (0.1, 0.2),
        (0.3, 0.3),
    ]
    assert tables.paper_table(records, 2, 20.0) == []
    texts = dict(zip(tables.headings({}), tables.text_rows([first])[0], strict=True))
    assert texts["repeats"] == "2"
    assert texts["T-Loss"] == "**94.0 ± 1.0 [2 refused]** (97.2, -3.2)"
    assert texts["Joint"] == "**94.0 ± 1.0**"
    assert texts["best P-N"] == "94.0 ± 1.0 (97.2, -3.2)"


def test_csv_has_a_line_per_record() -> None:
    text = tables.as_csv({CANCER: record(CANCER, 0.9, 'why, "this"')})
    lines = text.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("cancer,pairing,0.1,0.2,km,2.0,0,kernel,0,False,0.9,matched,")
    assert math.isclose(float(lines[0].count(",")), 15)
