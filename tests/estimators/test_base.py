"""What every pair classifier shares: names of classes, and predictions for any number of them."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from noisypairs import (
    ClassNamesWarning,
    CopiedAnswersWarning,
    JointPairClassifier,
    PairingNoise,
    Pairs,
    WeightedPairClassifier,
    datasets,
    sample_pairs,
)
from noisypairs.estimators import copies
from noisypairs.estimators.base import PairClassifier, label_names, match_labels, order_by_size

NOISE = PairingNoise(0.1, 0.2)


class Softmax(PairClassifier):
    """Reads P(class | x) off the features: rows in proportion to X, classes named a, b, c, …."""

    def fit(self, X, pairs):
        X, pairs, _ = self._check_training(X, pairs)
        self.classes_ = np.array(list("abcdef"))[: X.shape[1]]
        self.noise_ = NOISE
        return self

    def _class_proba(self, X):
        return X / X.sum(axis=1, keepdims=True)


def fitted(n_classes, n_items=30, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n_items, n_classes)) + 0.01
    left = rng.integers(n_items, size=80)
    right = (left + rng.integers(1, n_items, size=80)) % n_items
    pairs = Pairs(left, right, rng.random(80) < 0.5, n_items=n_items)
    return Softmax().fit(X, pairs), X, pairs


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_predictions_for_any_number_of_classes(n_classes):
    clf, X, pairs = fitted(n_classes)
    winner = clf.classes_[X.argmax(axis=1)]
    assert_array_equal(clf.predict(X), winner)
    assert clf.decision_function(X).shape == ((30,) if n_classes == 2 else (30, n_classes))
    assert_array_equal(clf.predict_same(X, pairs), winner[pairs.left] == winner[pairs.right])
    eta = X / X.sum(axis=1, keepdims=True)
    expected = [eta[i] @ eta[j] for i, j in zip(pairs.left, pairs.right, strict=True)]
    assert_allclose(clf.same_proba(X, pairs), expected)
    assert clf.score(X, winner) == 1.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_score_on_pairs_is_the_mean_log_likelihood(n_classes):
    clf, X, pairs = fitted(n_classes)
    weight = np.arange(1, 81, dtype=float)
    agree = clf.same_proba(X, pairs)
    chance = 0.9 * agree + 0.2 * (1 - agree)
    log_chance = np.log(np.where(pairs.same, chance, 1 - chance))
    assert clf.score(X, pairs) == pytest.approx(log_chance.mean())
    weighted = np.average(log_chance, weights=weight)
    assert clf.score(X, pairs.reweighted(weight)) == pytest.approx(weighted)


def test_label_names():
    pairs = Pairs([0, 1], [1, 2], [1, 0])
    assert label_names(pairs, 2) is None
    assert label_names(pairs.with_labels({2: "x", 0: "b", 1: "x"}), 2).tolist() == ["b", "x"]
    with pytest.raises(ValueError, match=r"name 3 classes \(a, b, c\), but the model has 2"):
        label_names(pairs.with_labels({0: "a", 1: "b", 2: "c"}), 2)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 4))
def test_match_labels_finds_the_likeliest_naming(seed, n_classes):
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet(np.ones(n_classes), size=12)
    names = np.array(list("abcd"))[:n_classes]
    given_names = np.r_[names, rng.choice(names, 4)]
    items = rng.permutation(12)[: len(given_names)]
    pairs = Pairs([0], [1], [1], 12).with_labels(
        {int(i): str(name) for i, name in zip(items, given_names, strict=True)}
    )
    found = match_labels(proba, pairs, names)

    def likelihood(columns):
        code = dict(zip(names, columns, strict=True))
        chances = [proba[i, code[name]] for i, name in zip(items, given_names, strict=True)]
        return np.log(np.maximum(chances, 1e-6)).sum()

    best = max(likelihood(columns) for columns in itertools.permutations(range(n_classes)))
    assert sorted(found) == list(range(n_classes))
    assert likelihood(found) == pytest.approx(best)


def test_match_labels_survives_certain_mistakes():
    proba = np.array([[1.0, 0.0]] * 5 + [[0.0, 1.0]] * 5)
    labels = {0: "a", 1: "a", 2: "a", 3: "b", 5: "b", 6: "b", 7: "b"}  # item 3 is mislabelled
    pairs = Pairs([0], [1], [1], 10).with_labels(labels)
    assert match_labels(proba, pairs, np.array(["a", "b"])).tolist() == [0, 1]
    assert match_labels(proba[:, ::-1], pairs, np.array(["a", "b"])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("prior", "positive", "order"),
    [
        ([0.3, 0.7], "majority", [0, 1]),
        ([0.7, 0.3], "majority", [1, 0]),
        ([0.3, 0.7], "minority", [1, 0]),
        ([0.7, 0.3], "minority", [0, 1]),
    ],
)
def test_order_by_size(prior, positive, order):
    assert order_by_size(prior, positive).tolist() == order


def test_order_by_size_warns_and_refuses():
    with pytest.warns(ClassNamesWarning, match="0 to 1, 1 is the larger group"):
        assert order_by_size([0.7, 0.3], None).tolist() == [1, 0]
    with pytest.warns(ClassNamesWarning, match="0 to 2, in rising order of size"):
        assert order_by_size([0.5, 0.2, 0.3], None).tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="positive='small': expected"):
        order_by_size([0.7, 0.3], "small")
    with pytest.raises(ValueError, match="one of two classes"):
        order_by_size([0.5, 0.2, 0.3], "minority")


def test_positions_of_pairs():
    clf, X, pairs = fitted(2)
    with pytest.raises(ValueError, match="X has 29 rows, but the pairs are about 30 items"):
        clf.same_proba(X[:-1], pairs)
    with pytest.raises(ValueError, match=r"shape \(3, 3\), expected Pairs or \(n_pairs, 2\)"):
        clf.predict_same(X, np.zeros((3, 3), int))


def test_lists_are_items_too():
    clf, X, pairs = fitted(3)
    listed = Softmax().fit(X.tolist(), pairs)
    assert_allclose(listed.predict_proba(X.tolist()), clf.predict_proba(X))


@pytest.mark.parametrize("learner", [JointPairClassifier, WeightedPairClassifier])
def test_copies_are_warned_of_once(learner):
    X, y = datasets.load("gaussians", n_samples=60, prior=0.2, random_state=0)
    pairs = sample_pairs(y, 400, PairingNoise(0.1, 0.1), random_state=0)
    named = Pairs(pairs.left, pairs.right, pairs.same, 60, annotator=np.arange(400) % 7)
    for asked, words in ((pairs, "look copied"), (named, "67% of the answers are copies")):
        copied = asked.select(np.tile(np.arange(400), 3))
        with pytest.warns(CopiedAnswersWarning) as said:
            learner(positive="minority", random_state=0).fit(X, copied)
        assert sum(words in str(one.message) for one in said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", CopiedAnswersWarning)
        learner(positive="minority", random_state=0).fit(X, named)


@pytest.mark.parametrize("people", [None, 7])
def test_of_many_answers_some_show_copies(people):
    n = 2 * copies.ANSWERS_LOOKED_AT
    pairs = sample_pairs(np.arange(1_000) % 2, n, PairingNoise(0.1, 0.1), random_state=0)
    who = None if people is None else np.arange(n) % people
    pairs = Pairs(pairs.left, pairs.right, pairs.same, 1_000, annotator=who)
    twice = pairs.select(np.tile(np.arange(n), 2))
    with pytest.warns(CopiedAnswersWarning, match="look copied|5[0-9]% of the answers are copies"):
        copies.warn_of_copies(twice)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        copies.warn_of_copies(pairs)


def test_of_more_than_two_classes_every_one_has_its_log_odds():
    class Known(PairClassifier):
        def _class_proba(self, X):
            return np.asarray(X)

    proba = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    model = Known()
    model.classes_, model.n_features_in_ = np.array(["ash", "oak", "yew"]), 3
    odds = model.transform(proba)
    np.testing.assert_allclose(odds[0], np.log([0.25, 3 / 7, 1.0]))
    assert np.isfinite(odds).all()
    assert model.get_feature_names_out().tolist() == [
        "log_odds_ash",
        "log_odds_oak",
        "log_odds_yew",
    ]
