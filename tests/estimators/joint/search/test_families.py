"""Noise families: what one M-step promises, against all rounds and against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import JointPairClassifier, MatrixNoise, PairingNoise, sample_pairs
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.estimators.joint.search import families
from noisypairs.inference.posteriors import expected_counts

K = families.MANY_CLASSES + 2


def converged(confused, seed=0, n_items=400, n_answers=8_000):
    """Return a search of K classes and where two rates lead, two classes being confused."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_items) % K)
    X = 3.0 * np.eye(K)[y] + rng.normal(size=(n_items, K))
    S = np.where(np.eye(K, dtype=bool), 0.8, 0.1)
    S[0, 1] = S[1, 0] = 0.1 + confused
    noise = MatrixNoise(tuple(map(tuple, S.tolist())))
    pairs = sample_pairs(y, n_answers, noise, random_state=seed)
    problem = JointProblem(X, pairs, [K], "auto", seed)
    search = JointPairClassifier(n_classes=K).search(problem)
    begun = search.run_start(problem, "aligned", K)
    return search, search.go_on_with(problem, "pairing", begun)


@pytest.mark.parametrize(("confused", "pays"), [(0.0, False), (0.4, True)])
def test_one_step_of_a_matrix_promises_what_its_rounds_keep(confused, pays):
    search, begun = converged(confused)
    ended = search.go_on_with(search.problem, "free", begun)
    gained = ended.log_likelihood - begun.log_likelihood
    more = search.cost("free", ended) - search.cost("pairing", begun)
    assert (gained > more) == pays
    assert search.promising("free", "pairing", begun) == pays


def test_one_step_is_the_change_of_the_expected_log_likelihood():
    search, begun = converged(0.2)
    gain, more = search.one_step("free", "pairing", begun)
    S = begun.noise.same_probability(K)
    same, different = (one[0] for one in expected_counts(search.problem.graph, begun.beliefs, S))
    wanted = MatrixNoise.fit(same, different).same_probability(K)

    def expected(S):
        return float((same * np.log(S) + different * np.log(1 - S)).sum())

    assert gain == pytest.approx(expected(wanted) - expected(S), rel=1e-6)
    assert more == pytest.approx(search.cost("free", begun) - search.cost("pairing", begun))


def test_of_few_classes_every_number_costs_the_same():
    y = np.arange(60) % 3
    pairs = sample_pairs(y, 600, PairingNoise(0.2, 0.1), random_state=0)
    problem = JointProblem(np.eye(3)[y] + 0.1 * y[:, None], pairs, [3], "auto", 0)
    search = JointPairClassifier(n_classes=3).search(problem)
    run = search.run_start(problem, "aligned", 3)
    assert search.cost("pairing", run) == pytest.approx(2 * np.log(600) / 2)
    assert search.cost("free", run) == pytest.approx(6 * np.log(600) / 2)
    assert search.cost("given", run) == 0.0
