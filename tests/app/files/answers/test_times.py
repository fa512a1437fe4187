"""Times of answers: which column, in which unit, and that they stay with their answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from noisypairs.app.files import read_dataset, read_pairs
from noisypairs.app.files.answers import seconds_of
from noisypairs.app.files.table import read_table


def table_of(folder: Path, name: str, cells: list[str]):
    path = folder / "pairs.csv"
    path.write_text("\n".join([f"left,right,same,{name}", *(f"a,b,yes,{one}" for one in cells)]))
    return read_table(path)


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("time_ms", ["1500", "", "2500"], [1.5, np.nan, 2.5]),
        ("Seconds", ["1.5", "x", "-1", "2.5", "3"], [1.5, np.nan, np.nan, 2.5, 3.0]),
        ("time", ["1500", "2500"], [1.5, 2.5]),  # a median of half an hour is in milliseconds
        ("time", ["2024-01-01", "2024-01-02"], None),
        ("time", ["1700000000", "1700000100"], None),  # seconds since 1970
        ("colour", ["1", "2"], None),
    ],
)
def test_times_are_found_by_name_and_size(tmp_path, name, cells, expected):
    found, notes = seconds_of(table_of(tmp_path, name, cells))
    if expected is None:
        assert found is None
        assert notes == []
    else:
        np.testing.assert_allclose(found, expected)
        assert "time of an answer in column" in notes[0]


def test_times_stay_with_their_answers_whatever_is_left_out_or_sorted(tmp_path):
    (tmp_path / "items.csv").write_text("id,size\nc,3\na,1\nb,2\n")
    rows = ["c,b,yes,1.0", "a,zz,no,2.0", "b,a,unsure,3.0", "a,b,no,4.0", "a,c,yes,5.0"]
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("\n".join(["left,right,same,time", *rows]))
    for data in (
        read_dataset(tmp_path / "items.csv", pairs),
        read_dataset(tmp_path / "items.csv", pairs).in_order(),
    ):
        ends = zip(data.pairs.left, data.pairs.right, data.seconds, strict=True)
        found = {frozenset((data.ids[i], data.ids[j])): time for i, j, time in ends}
        assert found == {frozenset("cb"): 1.0, frozenset("ab"): 4.0, frozenset("ac"): 5.0}
    assert read_pairs(pairs).seconds.tolist() == [1.0, 2.0, 4.0, 5.0]
