"""Connected components, against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from noisypairs.estimators.kmeans.components import components


def of_scipy(left, right, size):
    links = coo_array((np.ones(left.size), (left, right)), shape=(size, size))
    return connected_components(links, directed=False)[1]


@pytest.mark.parametrize("n_edges", [0, 1, 60, 100, 140, 400])
def test_random_graphs_have_the_components_that_scipy_finds(n_edges):
    for seed in range(10):
        left, right = np.random.default_rng(seed).integers(120, size=(2, n_edges))
        assert_array_equal(components(left, right, 120), of_scipy(left, right, 120))


def test_a_long_chain_in_any_order_is_one_component():
    order = np.random.default_rng(0).permutation(3000)
    assert not components(order[:-1], order[1:], 3000).any()
    assert_array_equal(components(np.array([1]), np.array([1]), 3), np.arange(3))
