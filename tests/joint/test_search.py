"""What a search keeps: the number of classes, the noise family, the simplest of equals."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs

from noisypairs import (
    ClassNamesWarning,
    ClassNumberWarning,
    JointPairClassifier,
    LabelingNoise,
    MatrixNoise,
    PairingNoise,
    Pairs,
    datasets,
    sample_pairs,
)
from noisypairs.joint.em import Spec, beliefs_from
from noisypairs.joint.heldout import HeldOut
from noisypairs.joint.problem import Problem
from noisypairs.joint.search import Search, beyond_chance, cut, cuts, log_chance, mergers
from noisypairs.metrics import accuracy_up_to_names
from tests.joint.builders import labelled, overlapping


def blobs(n_classes, noise, n_items=240, per_item=10, seed=0, std=1.0):
    X, y = make_blobs(n_items, centers=6.0 * np.eye(n_classes), cluster_std=std, random_state=seed)
    return X, y, sample_pairs(y, per_item * n_items, noise, random_state=seed)


def found_on(X, pairs, numbers, **settings):
    search = Search(Problem(X, pairs, random_state=0), **settings)
    return search, search.choose(numbers)


def quiet_fit(X, pairs, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClassNamesWarning)
        return JointPairClassifier(random_state=0, **settings).fit(X, pairs)


# --- the number of classes -----------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_number_of_classes_is_found_from_nothing(n_classes):
    X, y, pairs = blobs(n_classes, PairingNoise(0.2, 0.2))
    search, spec = found_on(X, pairs, None)
    assert spec.n_classes == n_classes
    assert search.class_numbers()[n_classes] >= max(search.class_numbers().values()) - 0.02
    fit = search.final(spec)
    assert accuracy_up_to_names(y, fit.item_proba.argmax(axis=1)) > 0.97


def test_answers_alone_show_the_number_too():
    _, y, pairs = blobs(3, PairingNoise(0.15, 0.15), n_items=120, per_item=20)
    search, spec = found_on(None, pairs, [2, 3, 4])
    assert (spec.n_classes, spec.class_model) == (3, "shares")
    fit = search.final(spec)
    assert accuracy_up_to_names(y, fit.item_proba.argmax(axis=1)) > 0.97


@pytest.mark.parametrize("rates", [(0.1, 0.3), (0.05, 0.4)])
def test_noise_that_treats_classes_differently_is_not_a_third_class(rates):
    X, _, pairs = blobs(2, LabelingNoise(*rates), n_items=300)
    _, spec = found_on(X, pairs, [2, 3])
    assert (spec.n_classes, spec.family) == (2, "free")


def test_too_few_classes_are_warned_of_and_the_right_number_is_not():
    X, y, pairs = blobs(5, PairingNoise(0.2, 0.1))
    with pytest.warns(ClassNumberWarning, match="want more than 2 classes"):
        quiet_fit(X, sample_pairs(y, 2400, MatrixNoise(CONFUSING), random_state=1), n_classes=2)
    assert quiet_fit(X, pairs, n_classes=5).n_classes_ == 5  # a warning would be an error here


#: Pairs of one class are mostly called "different": each class is really two of which one is asked.
CONFUSING = tuple(tuple(0.4 if i == j else 0.02 for j in range(5)) for i in range(5))


def test_labels_may_name_fewer_classes_than_are_chosen():
    X, y, pairs = blobs(3, PairingNoise(0.2, 0.2))
    known = {int(np.flatnonzero(y == k)[n]): name for k, name in enumerate("ab") for n in (0, 1)}
    with pytest.warns(ClassNamesWarning, match="called unnamed 1"):
        clf = JointPairClassifier(n_classes="auto", random_state=0).fit(X, pairs.with_labels(known))
    assert clf.classes_.tolist() == ["a", "b", "unnamed 1"]
    assert (clf.predict(X) == np.array(["a", "b", "unnamed 1"])[y]).mean() > 0.95


@pytest.mark.parametrize(
    ("n_classes", "says"),
    [("three", "'auto'"), (1, "2 or more"), ((), "2 or more"), (3, "name 2 classes")],
)
def test_numbers_that_cannot_be(n_classes, says):
    X, _, pairs = blobs(2, PairingNoise(0.1, 0.1), n_items=60)
    with pytest.raises(ValueError, match=says):
        JointPairClassifier(n_classes=n_classes).fit(X, pairs.with_labels({0: 0, 1: 1}))


# --- the family of the noise ---------------------------------------------------------------------


def test_classes_that_people_confuse_are_found():
    S = np.where(np.eye(4, dtype=bool), 0.85, 0.1)
    S[0, 1] = S[1, 0] = 0.6
    X, y, pairs = blobs(4, MatrixNoise(tuple(map(tuple, S.tolist()))), per_item=20)
    search, spec = found_on(X, pairs, [4])
    assert spec.family == "free"
    fit = search.final(spec)
    named = fit.item_proba.argmax(axis=1)
    order = [int(np.bincount(named[y == k], minlength=4).argmax()) for k in range(4)]
    assert sorted(order) == [0, 1, 2, 3]
    assert_allclose(fit.answers.S[np.ix_(order, order)], S, atol=0.08)


def test_two_rates_are_kept_where_they_are_the_truth_and_given_noise_stays():
    X, _, pairs = overlapping(n_pairs=6000)
    assert found_on(X, pairs, [2])[1].family == "pairing"
    noise = PairingNoise(0.2, 0.2)
    search, spec = found_on(X, pairs, [2], families=("given",), given=noise)
    assert spec.family == "given"
    assert search.final(spec).answers.table is noise


# --- the rule ------------------------------------------------------------------------------------


def judged(scores, n_answers=400):
    """Return what is kept when Specs predict answers with these means, each with its own scatter.

    Answers share no items, so that the error of a difference is that of independent answers.
    """
    rng = np.random.default_rng(0)
    ends = np.arange(2 * n_answers).reshape(2, -1)
    pairs = Pairs(*ends, rng.random(n_answers) < 0.5, 2 * n_answers)
    search = Search(Problem(rng.normal(size=(2 * n_answers, 2)), pairs, random_state=0))
    search.held = HeldOut.by_pair(search.problem.pairs, 5, 0)
    tried = {}
    for spec, (mean, spread) in scores.items():
        values = rng.normal(size=n_answers)
        values -= values.mean()
        tried[spec] = mean + spread * values / values.std()
    return search._simplest(tried)


TWO, THREE = Spec(2, "ridge", "pairing"), Spec(3, "ridge", "pairing")
FREE = Spec(2, "ridge", "free")


@pytest.mark.parametrize(
    ("lead", "kept"),
    [(0.9, TWO), (1.1, THREE)],  # in standard errors of the difference
)
def test_the_simplest_within_one_error_of_the_best_is_kept(lead, kept):
    error = np.sqrt(2 * 0.1**2 / 400)  # of a mean of 400 differences, each of variance 2 · .1²
    tried = {TWO: (-0.3, 0.1), THREE: (-0.3 + lead * error, 0.1)}
    assert judged(tried) == kept


def test_a_simpler_family_comes_before_a_richer_one_and_fewer_classes_before_both():
    equal = {THREE: (-0.3, 0.1), FREE: (-0.3, 0.1), TWO: (-0.3, 0.1)}
    assert judged(equal) == TWO
    assert judged({THREE: (-0.3, 0.1), FREE: (-0.3, 0.1)}) == FREE


# --- what a fit predicts -------------------------------------------------------------------------


@pytest.mark.parametrize("people", [False, True])
def test_log_chance_by_loops(people):
    y, pairs, noise = labelled(n=40)
    who = np.arange(pairs.n_pairs) % 2 if people else None
    pairs = Pairs(pairs.left, pairs.right, pairs.same, 40, who)
    problem = Problem(None, pairs, annotators=people)
    search = Search(problem)
    guess = 0.2 + 0.6 * np.eye(2)[y]
    fit = search.run(problem, Spec(2, "shares", "pairing"), "truth", guess, 3)
    assert noise.similar_flip == 0.2
    S = fit.answers.matrices()
    found = log_chance(fit, pairs)
    for n in range(0, pairs.n_pairs, 7):
        own = S[pairs.annotator[n]] if S.ndim == 3 else S
        one, two = fit.beliefs.item[pairs.left[n]], fit.beliefs.item[pairs.right[n]]
        same = one @ own @ two
        assert found[n] == pytest.approx(np.log(same if pairs.same[n] else 1 - same))


def test_copies_of_an_answer_are_held_out_together():
    X, _, once = blobs(3, PairingNoise(0.2, 0.2))
    twice = once.select(np.repeat(np.arange(once.n_pairs), 2))
    search, spec = found_on(X, twice, [3])
    predicted = search.log_chance[spec].reshape(-1, 2)
    assert np.isfinite(predicted).any()
    # Both are predicted by the same beliefs, which saw neither.
    assert_allclose(predicted[:, 0], predicted[:, 1], atol=1e-12)


def test_the_gain_is_that_over_the_share_of_same():
    X, _, pairs = blobs(2, PairingNoise(0.2, 0.2))
    search, spec = found_on(X, pairs, [2])
    share = pairs.same.mean()
    blind = np.log(np.where(search.problem.pairs.same, share, 1 - share))
    out = np.isfinite(search.log_chance[spec])
    assert search.gain.nats == pytest.approx((search.log_chance[spec] - blind)[out].sum())
    assert search.gain.n_answers == out.sum()


def test_permuted_answers_are_not_beyond_chance_and_true_ones_are():
    seen = {"true": [], "permuted": []}
    for seed in range(4):
        X, _, pairs = overlapping(seed=seed, n=300)
        order = np.random.default_rng(seed).permutation(pairs.n_pairs)
        permuted = Pairs(pairs.left, pairs.right, pairs.same[order], 300)
        for name, one in (("true", pairs), ("permuted", permuted)):
            seen[name].append(beyond_chance(Problem(X, one, random_state=0))["features"])
    assert min(seen["true"]) > 6 > 2 > np.mean(seen["permuted"])


# --- repairs -------------------------------------------------------------------------------------


def merged_fit(n_classes=4):
    """Four blobs of which the first two are believed to be one class, and the last to be two."""
    X, y, pairs = blobs(n_classes, PairingNoise(0.1, 0.1), n_items=200)
    side = np.random.default_rng(0).integers(2, size=200)
    believed = np.where(y < 2, 0, np.where(y == 2, 1, 2 + side))
    problem = Problem(X, pairs, random_state=0)
    vague = PairingNoise(0.4, 0.4)  # which leaves the beliefs where they are
    phi = 0.01 / 4 + 0.99 * np.eye(4)[believed]
    fit = beliefs_from(problem.graph, phi, vague, pairs, rounds=1)
    return problem, replace(fit, spec=Spec(4, "ridge", "pairing")), y


def test_the_class_that_is_two_is_cut_first_and_the_halves_are_merged_first():
    problem, fit, y = merged_fit()
    c, mine, side = next(cuts(problem, fit))
    assert c == 0
    assert set(y[mine]) == {0, 1}
    assert accuracy_up_to_names(y[mine], side.astype(int)) > 0.95
    assert next(mergers(problem, fit)) == (2, 3)


def test_a_cut_moves_beliefs_of_one_class_only():
    B = np.random.default_rng(0).dirichlet(np.ones(3), 10)
    mine, side = np.array([1, 4, 7]), np.array([True, False, True])
    new = cut(B, 2, mine, side)
    assert_allclose(new.sum(axis=1), 1)
    assert_allclose(new[:, :2], B[:, :2])
    assert_allclose(new[:, 2] + new[:, 3], B[:, 2])
    assert_allclose(new[mine, 3] / B[mine, 2], [0.8, 0.2, 0.8])
    assert not np.delete(new[:, 3], mine).any()


def test_repairs_find_what_a_poor_start_did_not():
    problem, fit, y = merged_fit()
    search = Search(problem)
    repaired = search.repaired(problem, fit)
    assert repaired.log_likelihood > fit.log_likelihood
    assert accuracy_up_to_names(y, repaired.item_proba.argmax(axis=1)) > 0.97


def test_a_class_without_items_counts_for_the_smaller_number():
    """Of 60 items of two classes without features, no fit that is kept has an empty class."""
    for seed in range(6):
        crowd = datasets.simulated_crowd(
            60, 2, 15, 25, random_state=seed, similar_flip=0.1, dissimilar_flip=0.1, spread=0.2
        )
        problem = Problem(None, crowd.pairs, 2, random_state=0, annotators=False)
        search = Search(problem, ("pairing",))
        spec = search.choose([2, 3, 4, 5, 6])
        assert spec.n_classes == 2
        owned = np.unique(search.final(spec).item_proba.argmax(axis=1))
        assert len(owned) == 2


def test_a_number_that_is_given_is_kept_even_if_a_class_stays_empty():
    X, _, pairs = blobs(2, PairingNoise(0.2, 0.2))
    _, spec = found_on(X, pairs, [3])
    assert spec.n_classes == 3
