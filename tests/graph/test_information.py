"""What one more answer says of two classes, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs.graph.information import pair_information
from tests.assess.plan_problems import NOISE, mutual_information


@pytest.mark.parametrize("K", [2, 3])
def test_information_is_the_enumerated_mutual_information(K: int) -> None:
    rng = np.random.default_rng(K)
    S = NOISE.same_probability(K)
    laws = rng.dirichlet(np.full(K * K, 0.5), size=20).reshape(-1, K, K)
    expected = [mutual_information(law, S) for law in laws]
    np.testing.assert_allclose(pair_information(laws, S), expected, atol=1e-12)


def test_information_of_certain_pairs_and_coins_is_zero() -> None:
    certain = np.zeros((1, 2, 2))
    certain[0, 1, 0] = 1.0
    assert pair_information(certain, NOISE.same_probability())[0] == pytest.approx(0, abs=1e-12)
    coin = np.full((2, 2), 0.5)
    assert pair_information(np.full((1, 2, 2), 0.25), coin)[0] == pytest.approx(0, abs=1e-12)


def test_information_refuses_laws_of_another_size() -> None:
    with pytest.raises(ValueError, match=r"expected \(m, 2, 2\)"):
        pair_information(np.zeros((1, 3, 3)), np.eye(2))
