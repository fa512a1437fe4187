"""Splits, pairs and answers of a spec."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from noisypairs.experiments import Spec
from noisypairs.experiments.problem import make_problem, noise_of
from tests.experiments.made_up_records import CANCER


def test_the_split_is_stratified_standardised_and_cut() -> None:
    problem = make_problem(CANCER)
    assert (len(problem.y), len(problem.y_test)) == (426, 143)
    assert abs(problem.y.mean() - problem.y_test.mean()) < 0.01
    assert np.abs(problem.X).max() <= 10
    np.testing.assert_allclose(problem.X.mean(axis=0), 0, atol=0.05)  # cutting moves it a little
    assert problem.pairs.n_pairs == 852


def test_rates_change_answers_and_nothing_else() -> None:
    one, other = (make_problem(replace(CANCER, rates=r)) for r in ((0.1, 0.2), (0.3, 0.3)))
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.pairs.left, other.pairs.left)
    np.testing.assert_array_equal(one.pairs.right, other.pairs.right)
    truth = one.y[one.pairs.left] == one.y[one.pairs.right]
    assert np.mean(one.pairs.same != truth) < np.mean(other.pairs.same != truth)


def test_the_gaussians_use_every_item_once() -> None:
    spec = Spec("gaussians", "labeling", (0.4, 0.4), "weighted", 0.5, 3, "logistic", told=True)
    problem = make_problem(spec)
    ends = np.concatenate([problem.pairs.left, problem.pairs.right])
    np.testing.assert_array_equal(np.sort(ends), np.arange(20_000))
    assert len(problem.y_test) == 3_000


def test_noise_of_clean_specs_is_none() -> None:
    S = noise_of("clean", (0.0, 0.0)).same_probability()
    np.testing.assert_array_equal(S, np.eye(2))


def test_the_seed_decides_split_and_pairs() -> None:
    one, again, other = (make_problem(replace(CANCER, seed=seed)) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.X, again.X)
    np.testing.assert_array_equal(one.pairs.left, again.pairs.left)
    assert not np.array_equal(one.X, other.X)
    assert not np.array_equal(one.pairs.left, other.pairs.left)


def test_the_scale_is_that_of_the_training_items_alone() -> None:
    problem = make_problem(CANCER)
    uncut = np.abs(problem.X).max(axis=0) < 10
    assert uncut.sum() > 10
    np.testing.assert_allclose(problem.X[:, uncut].mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(problem.X[:, uncut].std(axis=0), 1, atol=1e-9)
