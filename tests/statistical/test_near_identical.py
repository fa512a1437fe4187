"""Rows that are nearly identical: found where items were seen several times, and only there.

Seeds are fixed. `benchmarks/near_identical.py` has no alarm in 2,000 plain tables.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from noisypairs import Pairs, RepeatedItemsWarning
from noisypairs.pairs import groups as group_module
from noisypairs.pairs.groups import near_identical, warn_of_repeated_items


def visits(n_items=100, n_rows=4, noise=0.3, d=10, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_items, d)).repeat(n_rows, axis=0)
    return rows + noise * rng.normal(size=rows.shape)


@pytest.mark.parametrize(("n_rows", "noise", "d"), [(4, 0.3, 10), (2, 0.3, 10), (8, 0.3, 10)])
def test_items_seen_several_times_are_found(n_rows, noise, d):
    for seed in range(5):
        found = near_identical(visits(n_rows=n_rows, noise=noise, d=d, seed=seed))
        assert 0.7 * found.n_rows < found.n_near <= found.n_rows == 100 * n_rows
        first, second = found.example
        assert first // n_rows == second // n_rows


def test_a_few_repeated_items_are_found_and_counted():
    plain = np.random.default_rng(1).normal(size=(600, 10))
    found = near_identical(np.vstack([plain, visits(n_items=40, n_rows=3, noise=0.1)]))
    assert 60 <= found.n_near <= 180  # 120 are, and a few more by chance
    assert min(found.example) >= 600


@pytest.mark.parametrize(
    "X",
    [
        datasets.load_iris().data,
        datasets.load_wine().data,
        datasets.load_breast_cancer().data,
        datasets.load_digits().data,
        datasets.load_diabetes(scaled=False).data,
        datasets.make_classification(500, random_state=0)[0],
        datasets.make_classification(2000, 40, n_informative=10, random_state=0)[0],
        datasets.make_blobs(400, 4, centers=3, random_state=0)[0],
        datasets.make_blobs(500, 10, centers=10, random_state=0)[0],
        datasets.make_moons(300, noise=0.1, random_state=0)[0],
        datasets.make_swiss_roll(500, random_state=0)[0],
        datasets.make_hastie_10_2(500, random_state=0)[0],
        datasets.make_friedman1(500, random_state=0)[0],
        np.random.default_rng(0).uniform(size=(400, 10)),
        np.random.default_rng(0).uniform(size=(2000, 2)),
        np.random.default_rng(0).lognormal(0, 2, size=(400, 5)),
        np.random.default_rng(0).standard_cauchy(size=(400, 5)),
        np.random.default_rng(0).normal(size=(400, 10)).round(1),
        np.random.default_rng(0).poisson(4, size=(400, 8)),
        np.random.default_rng(0).integers(0, 2, size=(400, 30)),
        np.random.default_rng(0).integers(15, size=(400, 3)),
        np.column_stack([np.random.default_rng(0).integers(60, size=(500, 2)), np.arange(500) % 3]),
        np.random.default_rng(0).normal(size=(300, 5)) * np.eye(5).repeat(60, axis=0),
        np.random.default_rng(0).normal(size=(400, 20))
        * (np.arange(8000).reshape(400, 20) % 7 < 1),
        np.eye(12)[np.random.default_rng(0).integers(0, 12, size=(600, 3))].reshape(600, -1),
        np.random.default_rng(0).normal(size=(300, 50)) * 1e200,
        np.random.default_rng(0).normal(size=(99, 5)),
        np.ones((300, 3)),
        np.full((300, 3), np.nan),
        np.zeros((0, 3)),
    ],
)
def test_plain_tables_raise_no_alarm(X):
    found = near_identical(X)
    assert (found.n_near, found.example) == (0, None)


def test_identical_rows_count_once():
    X = np.random.default_rng(0).normal(size=(200, 5)).repeat(3, axis=0)
    assert near_identical(X) == near_identical(X[::3])
    assert near_identical(X).n_rows == 200


def test_order_scale_and_kind_of_table_do_not_matter():
    X = visits()
    found = near_identical(X)
    order = np.random.default_rng(1).permutation(400)
    moved = near_identical(X[order])
    assert moved.n_near == found.n_near
    assert tuple(sorted(order[list(moved.example)])) == found.example
    assert near_identical(sparse.csr_array(X)) == near_identical(pd.DataFrame(X)) == found
    scaled = near_identical(StandardScaler().fit_transform(X) * 10.0 ** np.arange(10) + 3.0)
    assert scaled.n_near == pytest.approx(found.n_near, abs=5)


def test_levels_texts_and_missing_cells_beside_numbers_do_not_hide_it():
    rng = np.random.default_rng(2)
    table = pd.DataFrame(visits(noise=0.1)).rename(columns=str)
    table["sex"] = rng.choice(["m", "f"], 100).repeat(4)
    table["site"] = rng.choice(list("abcdefghijkl"), 100).repeat(4)
    table["height"] = rng.integers(150, 200, 100).repeat(4)  # rounded, and equal in all visits
    table.loc[rng.random(400) < 0.05, "3"] = np.nan
    assert near_identical(table).n_near > 300
    words = sparse.random_array((400, 500), density=0.02, rng=rng)
    both = sparse.hstack([sparse.csr_array(visits(noise=0.1)), words])
    assert near_identical(both).n_near > 300


def test_large_tables_are_looked_at_in_part(monkeypatch):
    X = visits(n_items=300)
    monkeypatch.setattr(group_module, "MOST_QUERIES", 200)
    monkeypatch.setattr(group_module, "MOST_NUMBERS", 1200 * 8)  # eight of the ten columns
    found = near_identical(X)
    assert found.n_rows == 1200
    assert found.n_near > 800


def test_the_warning_names_two_items_and_groups_answer_it():
    X = visits()
    pairs = Pairs([0], [1], [1], n_items=400)
    with pytest.warns(RepeatedItemsWarning, match=r"\(about 3\d\d of 400, such as \d+ and \d+\)"):
        warn_of_repeated_items(X, pairs)
    ids = [f"v{k}" for k in range(400)]
    named = Pairs.from_ids(["v0"], ["v1"], [1], items=ids)
    with pytest.warns(RepeatedItemsWarning, match=r"such as 'v\d+' and 'v\d+'\). If they are"):
        warn_of_repeated_items(X, named)
    warn_of_repeated_items(X, pairs.with_groups(np.repeat(np.arange(100), 4)))
    warn_of_repeated_items(X[::4], pairs[:100])
    assert near_identical(X[::4]).text() == ""
