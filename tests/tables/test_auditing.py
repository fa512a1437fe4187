"""The audit of a pair table is that of its pairs."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from noisypairs import (
    Pairs,
)
from noisypairs.tables import PairTable
from tests.tables.written_pairs import arrow_table


def test_audit_equals_that_of_pairs(written, engine):
    folder, pairs = written
    table = PairTable.from_parquet(folder, n_items=30, engine=engine)
    expected, found = pairs.audit().to_dict(), table.audit().to_dict()
    assert found.pop("same_share") == pytest.approx(expected.pop("same_share"))
    assert found == expected


def test_sampled_triangles_are_near_the_count(tmp_path):
    rng = np.random.default_rng(0)
    left, right = rng.integers(300, size=(2, 12000))
    pairs = Pairs(left, right, rng.random(12000) < 0.5, 300)
    pq.write_table(arrow_table(pairs), tmp_path / "pairs.parquet")
    found = PairTable.from_parquet(tmp_path / "pairs.parquet", n_items=300).audit(6000).triangles
    exact = pairs.audit().triangles
    assert found.sampled
    assert found.closed == pytest.approx(exact.closed, rel=0.25)
    assert found.broken_share == pytest.approx(exact.broken_share, abs=0.05)


def test_answers_of_nobody_in_particular_have_no_annotators(tmp_path):
    pairs = Pairs([0, 1], [1, 2], [True, False], 3)
    pq.write_table(arrow_table(pairs), tmp_path / "pairs.parquet")
    found = PairTable.from_parquet(tmp_path / "pairs.parquet", n_items=3).audit()
    assert (found.n_annotators, found.to_dict()) == (0, pairs.audit().to_dict())
