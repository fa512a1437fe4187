"""Sums over a pair table equal those of `Pairs`, whatever the engine."""

from __future__ import annotations

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noisypairs import Pairs
from noisypairs.pairs.counts import weights_of
from noisypairs.pairs.pairs import keys_of, neighbour_sums
from noisypairs.tables import PairTable
from tests.tables.written_pairs import arrow_table, random_pairs, rows_of


def test_counts_equal_those_of_pairs(written, engine):
    folder, pairs = written
    table = PairTable.from_parquet(folder, n_items=30, engine=engine)
    assert table.n_pairs == pairs.n_pairs
    expected, found = pairs.item_counts(), table.item_counts()
    np.testing.assert_allclose(found.same, expected.same, rtol=1e-12)
    np.testing.assert_allclose(found.different, expected.different, rtol=1e-12)


def test_annotator_counts_equal_a_count_by_hand(written, engine):
    folder, pairs = written
    counts = PairTable.from_parquet(folder, n_items=30, engine=engine).annotator_counts
    assert counts.names.tolist() == ["ann", "bob", "eve"]
    for r in range(3):
        mine = pairs.annotator == r
        assert counts.n_answers[r] == mine.sum()
        assert counts.total[r] == pytest.approx(pairs.weight[mine].sum())
        assert counts.same[r] == pytest.approx(pairs.weight[mine & pairs.same].sum())


def test_neighbour_sums_equal_a_loop(written, engine):
    folder, pairs = written
    values = np.random.default_rng(3).normal(size=(30, 2))
    expected = np.zeros((2, 30, 2))
    for i, j, same, w in zip(pairs.left, pairs.right, pairs.same, pairs.weight, strict=True):
        if i != j:
            expected[int(same), i] += w * values[j]
            expected[int(same), j] += w * values[i]
    for source in (pairs, PairTable.from_parquet(folder, n_items=30, engine=engine)):
        same, different = neighbour_sums(source, values)
        np.testing.assert_allclose(same, expected[1], atol=1e-10)
        np.testing.assert_allclose(different, expected[0], atol=1e-10)


def test_subgraph_of_items_equals_that_of_pairs(written, engine):
    folder, pairs = written
    table = PairTable.from_parquet(folder, n_items=30, engine=engine)
    rows = np.random.default_rng(5).permutation(30)[:20]
    assert rows_of(table[rows].to_pairs()) == rows_of(pairs[rows])
    again = np.arange(20)[::-2]
    assert rows_of(table[rows][again].to_pairs()) == rows_of(pairs[rows][again])
    np.testing.assert_allclose(table[rows].item_counts().same, pairs[rows].item_counts().same)


def test_sample_is_a_part_and_the_same_for_any_order(tmp_path):
    pairs = random_pairs(7, n_items=400, n_pairs=5000)
    order = np.random.default_rng(0).permutation(5000)
    samples = []
    for k, given in enumerate((pairs, pairs.select(order))):
        pq.write_table(arrow_table(given), tmp_path / f"{k}.parquet")
        samples.append(PairTable.from_parquet(tmp_path / f"{k}.parquet", n_items=400).sample(1000))
    assert samples[0] == samples[1]
    assert 800 < samples[0].n_pairs < 1200
    assert set(rows_of(samples[0])) <= set(rows_of(pairs))
    low = np.minimum(samples[0].left, samples[0].right)
    assert np.ptp(low) > 300  # not one corner of the items


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
    assert weights_of(pooled).sum() == pairs.n_pairs
    assert pooled.weight[pooled.same].sum() == pairs.same.sum()


def test_a_sample_takes_all_answers_on_a_pair_or_none():
    table, pairs = both_orders()
    some = table.sample(150)
    assert 0 < some.n_pairs < pairs.n_pairs
    asked = dict(zip(*np.unique(keys_of(pairs), return_counts=True), strict=True))
    for key, times in zip(*np.unique(keys_of(some), return_counts=True), strict=True):
        assert times == asked[key]
