"""Simulated data have the moments, rates and shares that their parameters state."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression

from noisypairs import datasets

# --- gaussians --------------------------------------------------------------------------------


def test_gaussians_have_the_moments_of_the_paper():
    n = 20_000
    X, y = datasets.gaussians(n, prior=0.2, random_state=1)
    # Five standard errors each: a false alarm in about one of a million runs.
    assert y.mean() == pytest.approx(0.2, abs=5 * np.sqrt(0.16 / n))
    for label, centre in ((0, -2.0), (1, 2.0)):
        part = X[y == label]
        error = 5 / np.sqrt(len(part))
        np.testing.assert_allclose(part.mean(axis=0), centre, atol=error)
        np.testing.assert_allclose(np.cov(part.T), np.eye(2), atol=error * np.sqrt(2))


def test_gaussians_are_as_hard_as_the_bayes_rule_says():
    n, prior = 200_000, 0.2
    X, y = datasets.gaussians(n, prior, random_state=2)
    cut = np.log((1 - prior) / prior) / 4
    scale = np.sqrt(2)  # standard deviation of x0 + x1; its mean is ±4
    error = prior * norm.cdf((cut - 4) / scale) + (1 - prior) * norm.sf((cut + 4) / scale)
    assert error == pytest.approx(0.002, abs=5e-4)
    wrong = np.mean((X.sum(axis=1) > cut) != y)
    assert wrong == pytest.approx(error, abs=5 * np.sqrt(error / n))


def test_load_passes_parameters_on_and_seeds_repeat():
    X, y = datasets.load("gaussians", n_samples=50, prior=0.7, random_state=3)
    X2, y2 = datasets.gaussians(50, 0.7, random_state=3)
    np.testing.assert_array_equal(X, X2)
    np.testing.assert_array_equal(y, y2)
    bunch = datasets.load("gaussians", return_X_y=False, n_samples=5, prior=0.7)
    assert (bunch.prior, bunch.source) == (0.7, "simulated")


def test_a_legacy_random_state_is_used_and_advanced():
    state = np.random.RandomState(0)
    first, second = (datasets.gaussians(10, random_state=state)[0] for _ in range(2))
    again = datasets.gaussians(10, random_state=np.random.RandomState(0))[0]
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 0}, "n_samples=0: expected a whole number of at least 1"),
        ({"n_samples": 2.5}, "n_samples=2.5"),
        ({"prior": 1.0}, "prior=1.0: expected P"),
        ({"prior": float("nan")}, "prior=nan"),
    ],
)
def test_gaussians_refuse(parameters, message):
    with pytest.raises(ValueError, match=message):
        datasets.gaussians(**parameters)


# --- the simulated crowd ----------------------------------------------------------------------


def answers_right(crowd):
    pairs = crowd.pairs
    truly_same = crowd.target[pairs.left] == crowd.target[pairs.right]
    return truly_same, pairs.same == truly_same


def test_default_crowd_looks_like_the_real_one():
    crowd = datasets.simulated_crowd(n_items=3000, n_annotators=2000, random_state=0)
    assert crowd.pairs.n_pairs == 60_000
    # The mean of 2,000 rates of standard deviation under .2 has a standard error under .0045.
    np.testing.assert_allclose(crowd.annotator_rates.mean(axis=0), [0.35, 0.30], atol=0.015)
    # Accuracy on 30 answers, one third of them about same pairs, as the real annotators gave.
    chance_wrong = crowd.annotator_rates @ [1 / 3, 2 / 3]
    right = 1 - np.random.default_rng(0).binomial(30, chance_wrong) / 30
    # Shares of 30 move in steps of .033: the percentiles may be one step off, the spread, which
    # was .138, may not.
    np.testing.assert_allclose(np.quantile(right, [0.1, 0.9]), [15 / 30, 25 / 30], atol=0.034)
    assert right.std() == pytest.approx(0.138, abs=0.012)


def test_honest_rates_have_the_means_that_were_asked():
    crowd = datasets.simulated_crowd(
        n_items=1000,
        n_annotators=20_000,
        spammer_share=0.2,
        similar_flip=0.1,
        dissimilar_flip=0.3,
        spread=0.5,
        random_state=1,
    )
    honest = crowd.annotator_rates[crowd.annotator_kind == "honest"]
    assert len(honest) == 16_000
    assert (honest.sum(axis=1) < 1).all()
    # Var(h(1+t)) < .12, so five standard errors are below 1.5 % of the mean.
    np.testing.assert_allclose(honest.mean(axis=0), [0.1, 0.3], rtol=0.015)


def test_answers_follow_the_rates_of_their_annotator():
    crowd = datasets.simulated_crowd(
        n_items=400, n_annotators=20, pairs_per_item=500, spammer_share=0.4, random_state=2
    )
    truly_same, right = answers_right(crowd)
    for who, rates in enumerate(crowd.annotator_rates):
        for truth, rate in zip((True, False), rates, strict=True):
            rows = (crowd.pairs.annotator == who) & (truly_same == truth)
            error = 5 * np.sqrt(rate * (1 - rate) / rows.sum()) + 1e-12
            assert np.mean(~right[rows]) == pytest.approx(rate, abs=error)


def test_the_kinds_are_dealt_evenly_and_do_what_they_say():
    crowd = datasets.simulated_crowd(n_annotators=200, spammer_share=0.2, random_state=3)
    kinds, counts = np.unique(crowd.annotator_kind, return_counts=True)
    assert dict(zip(kinds.tolist(), counts.tolist(), strict=True)) == {
        "honest": 160,
        "spammer": 10,
        "always-same": 10,
        "always-different": 10,
        "reversed": 10,
    }
    said = {
        kind: crowd.pairs.same[crowd.annotator_kind[crowd.pairs.annotator] == kind]
        for kind in kinds
    }
    assert said["always-same"].all()
    assert not said["always-different"].any()
    assert (crowd.annotator_rates[crowd.annotator_kind == "spammer"] == 0.5).all()
    assert (crowd.annotator_rates[crowd.annotator_kind == "reversed"].sum(axis=1) > 1).all()


def test_pairs_are_uniform_over_distinct_items():
    crowd = datasets.simulated_crowd(n_items=4, pairs_per_item=3000, random_state=4)
    left, right = np.asarray(crowd.pairs.left), np.asarray(crowd.pairs.right)
    counts = np.zeros((4, 4))
    np.add.at(counts, (left, right), 1)
    assert (np.diag(counts) == 0).all()
    expected = 12_000 / 12
    off = counts[~np.eye(4, dtype=bool)]
    np.testing.assert_allclose(off, expected, atol=5 * np.sqrt(expected))


def test_answers_per_annotator_are_long_tailed():
    crowd = datasets.simulated_crowd(n_items=2000, n_annotators=1000, random_state=5)
    counts = np.sort(np.bincount(crowd.pairs.annotator, minlength=1000))
    # For log-normal shares of unit spread the busiest tenth gives Φ(1 − z) with Φ(−z) = .1.
    assert counts[-100:].sum() / counts.sum() == pytest.approx(
        norm.cdf(1 - norm.isf(0.1)), abs=0.06
    )


def test_features_tell_the_classes_apart_as_in_the_real_crowd():
    crowd = datasets.simulated_crowd(n_items=2000, random_state=6)
    X, y = crowd.data, crowd.target
    assert LogisticRegression().fit(X, y).score(X, y) == pytest.approx(0.98, abs=0.01)
    groups = KMeans(3, n_init=5, random_state=0).fit_predict(X)
    right = sum(np.bincount(y[groups == group]).max() for group in range(3))
    assert right / len(y) == pytest.approx(0.97, abs=0.02)


def test_crowd_through_load_has_pairs_and_truth():
    parameters = {"n_items": 40, "n_classes": 2, "prior": 0.2, "random_state": 7}
    crowd = datasets.load("crowd", return_X_y=False, **parameters)
    X, y = datasets.load("crowd", **parameters)
    np.testing.assert_array_equal(crowd.data, X)
    np.testing.assert_array_equal(crowd.target, y)
    np.testing.assert_allclose(crowd.prior, [0.8, 0.2])
    assert crowd.pairs.n_items == 40


def test_every_annotator_answers_so_codes_are_rows_of_the_rates():
    crowd = datasets.simulated_crowd(n_items=50, n_annotators=90, pairs_per_item=2, random_state=8)
    np.testing.assert_array_equal(np.unique(crowd.pairs.annotator), np.arange(90))
    np.testing.assert_array_equal(crowd.pairs.annotator_names, np.arange(90))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_items": 1}, "n_items=1: expected a whole number of at least 2"),
        ({"n_classes": 1}, "n_classes=1"),
        ({"n_annotators": 0}, "n_annotators=0"),
        ({"pairs_per_item": 0.5}, "give 250 pairs: expected at least one for each of the 300"),
        ({"spammer_share": 1.5}, r"spammer_share=1.5: expected a number in \[0, 1\]"),
        ({"similar_flip": 0.6, "dissimilar_flip": 0.3}, "the worst honest annotator"),
        ({"prior": [0.5, 0.5]}, "expected 3 positive class shares"),
        ({"prior": [0.5, 0.5, 0.5]}, "that sum to 1"),
        ({"prior": 0.2}, "expected 3 positive class shares"),
    ],
)
def test_crowd_refuses(parameters, message):
    with pytest.raises(ValueError, match=message):
        datasets.simulated_crowd(**parameters)
