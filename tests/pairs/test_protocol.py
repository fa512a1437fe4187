"""What `Pairs` and `PairTable` share: learners ask both the same questions."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import Pairs
from noisypairs.pairs import Answers
from noisypairs.pairs.counts import weights_of
from noisypairs.pairs.pairs import in_memory, neighbour_sums, pooled_answers

PAIRS = Pairs([0, 1, 2, 2, 0], [1, 2, 0, 2, 1], [1, 0, 1, 1, 0], weight=[1, 2, 3, 4, 0.5])


@pytest.fixture(scope="module")
def table():
    ibis = pytest.importorskip("ibis", reason="pair tables need the app extra")
    pytest.importorskip("duckdb", reason="pair tables need the app extra")
    pa = pytest.importorskip("pyarrow", reason="pair tables need the app extra")
    from noisypairs import PairTable

    names = ("left", "right", "same", "weight")
    columns = pa.table({name: getattr(PAIRS, name) for name in names})
    return PairTable.from_ibis(ibis.memtable(columns), n_items=3)


def test_both_are_recognised_without_being_read(table, monkeypatch):
    def fail(self):
        raise AssertionError("a table must not be read to find out whether it is one")

    monkeypatch.setattr(type(table), "annotator_names", property(fail))
    assert isinstance(table, Answers)
    assert isinstance(PAIRS, Answers)
    assert not isinstance(np.zeros((3, 2)), Answers)


def test_both_give_the_same_sums(table):
    for found, expected in ((table.item_counts(), PAIRS.item_counts()),):
        np.testing.assert_allclose(found.same, expected.same)
        np.testing.assert_allclose(found.different, expected.different)
    assert table.degrees().tolist() == [3, 3, 2]
    values = np.array([[1.0], [2.0], [4.0]])
    np.testing.assert_allclose(neighbour_sums(table, values), neighbour_sums(PAIRS, values))
    pooled = pooled_answers(table), pooled_answers(PAIRS)
    assert [weights_of(one).sum() for one in pooled] == [6.5, 6.5]
    assert [weights_of(one)[one.same].sum() for one in pooled] == [4, 4]


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_table_streams_every_answer_once(table, size):
    batches = list(table.batches(size))
    assert all(len(batch.left) <= size for batch in batches)
    rows = [
        (min(a, b), max(a, b), bool(s), float(w))
        for left, right, same, _, weight in batches
        for a, b, s, w in zip(left.tolist(), right.tolist(), same, weight, strict=True)
    ]
    assert sorted(rows) == [
        (0, 1, False, 0.5),
        (0, 1, True, 1.0),
        (0, 2, True, 3.0),
        (1, 2, False, 2.0),
        (2, 2, True, 4.0),
    ]


def test_pairs_in_memory_are_never_cut_down():
    assert in_memory(PAIRS) is PAIRS
    assert in_memory(PAIRS, 1) is PAIRS
