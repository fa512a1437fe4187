"""Sums over a table: the same as those over the pairs in memory."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import Pairs
from noisypairs.tables import PairTable

ibis = pytest.importorskip("ibis", reason="pair tables need the app extra")
pytest.importorskip("duckdb", reason="pair tables need the app extra")
pa = pytest.importorskip("pyarrow", reason="pair tables need the app extra")


def both_orders(n_pairs=300):
    """Every pair asked twice, in both orders: a table and the same pairs in memory."""
    rng = np.random.default_rng(0)
    ends = rng.integers(40, size=(2, n_pairs)) + np.array([[0], [40]])
    left, right = np.concatenate(ends), np.concatenate(ends[::-1])
    pairs = Pairs(left, right, rng.random(2 * n_pairs) < 0.5, n_items=80)
    asked = pa.table({"left": pairs.left, "right": pairs.right, "same": pairs.same})
    return PairTable.from_ibis(ibis.memtable(asked), n_items=80), pairs


def test_pooled_answers_weigh_what_all_answers_do():
    table, pairs = both_orders()
    pooled = table.pooled_answers()
    assert pooled.total_weight == pairs.n_pairs
    assert pooled.weight[pooled.same].sum() == pairs.same.sum()


def test_a_sample_takes_all_answers_on_a_pair_or_none():
    table, pairs = both_orders()
    some = table.sample(150)
    assert 0 < some.n_pairs < pairs.n_pairs
    asked = dict(zip(*np.unique(pairs.pair_keys, return_counts=True), strict=True))
    for key, times in zip(*np.unique(some.pair_keys, return_counts=True), strict=True):
        assert times == asked[key]
