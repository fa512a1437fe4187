"""What every pair classifier shares: names of classes, and predictions for any number of them."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csc_array, csr_array, random_array
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, learning_curve

from noisypairs import (
    ClassNamesWarning,
    CopiedAnswersWarning,
    COPKMeans,
    JointPairClassifier,
    PairingNoise,
    PairKMeans,
    Pairs,
    WeightedPairClassifier,
    datasets,
    sample_pairs,
)
from noisypairs.estimators import base
from noisypairs.estimators.base import (
    GivenOrder,
    PairClassifier,
    in_order,
    item_order,
    label_names,
    match_labels,
    order_by_size,
    row_order,
)
from noisypairs.model_selection import cross_val_predict
from noisypairs.pairs.groups import row_hashes

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
    with pytest.raises(ValueError, match=r"name 3 classes \(a, b, c\), but n_classes=2"):
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
    ("prior", "class_order", "order"),
    [
        ([0.3, 0.7], "rising", [0, 1]),
        ([0.7, 0.3], "rising", [1, 0]),
        ([0.3, 0.7], "falling", [1, 0]),
        ([0.7, 0.3], "falling", [0, 1]),
    ],
)
def test_order_by_size(prior, class_order, order):
    assert order_by_size(prior, class_order)[0].tolist() == order


def test_an_order_of_classes_that_is_none():
    with pytest.raises(ValueError, match="class_order='small': expected 'rising' or 'falling'"):
        order_by_size([0.7, 0.3], "small")
    with pytest.raises(ValueError, match="expected 'rising' or 'falling'"):
        order_by_size([0.7, 0.3], ["a", "a"])
    with pytest.raises(ValueError, match="names 2 classes, and the model has 3"):
        order_by_size([0.5, 0.2, 0.3], ["a", "b"])


def test_positions_of_pairs():
    clf, X, pairs = fitted(2)
    with pytest.raises(ValueError, match="X has 29 rows, but the pairs are about 30 items"):
        clf.same_proba(X[:-1], pairs)
    with pytest.raises(ValueError, match=r"shape \(3, 3\), expected \(n_pairs, 2\)"):
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
            learner(class_order="falling", random_state=0).fit(X, copied)
        assert sum(words in str(one.message) for one in said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", CopiedAnswersWarning)
        learner(class_order="falling", random_state=0).fit(X, named)


@pytest.mark.parametrize("people", [None, 7])
def test_of_many_answers_some_show_copies(people):
    n = 2 * base.ANSWERS_LOOKED_AT
    pairs = sample_pairs(np.arange(1_000) % 2, n, PairingNoise(0.1, 0.1), random_state=0)
    who = None if people is None else np.arange(n) % people
    pairs = Pairs(pairs.left, pairs.right, pairs.same, 1_000, annotator=who)
    twice = pairs.select(np.tile(np.arange(n), 2))
    with pytest.warns(CopiedAnswersWarning, match="look copied|5[0-9]% of the answers are copies"):
        base.warn_of_copies(twice)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        base.warn_of_copies(pairs)


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


RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 7))


def places(order: np.ndarray) -> np.ndarray:
    """Return the place of every item in an order of them."""
    return np.argsort(order)


def test_hashes_are_equal_for_identical_rows_only():
    some = RNG.integers(3, size=(400, 5)).astype(float)
    _, group = np.unique(some, axis=0, return_inverse=True)
    _, by_hash = np.unique(row_hashes(some), return_inverse=True)
    np.testing.assert_array_equal(group[:, None] == group, by_hash[:, None] == by_hash)


def test_hashes_go_by_value():
    rows = np.array([[1.0, 0.0, np.nan], [3.0, 2.0, np.inf]])
    hashes = row_hashes(rows)
    assert hashes.dtype == np.uint64
    same = (
        rows.astype(np.float32),
        np.asfortranarray(rows),
        rows.tolist(),
        rows * [1, -1, 1] * [1, -1, 1],  # −0
        np.where(np.isnan(rows), -rows, rows),  # NaN of the other sign
        csc_array(rows),
        pd.DataFrame(rows),
        pl.DataFrame(rows),
    )
    for other in same:
        np.testing.assert_array_equal(row_hashes(other), hashes)
    whole = np.array([[1, 0], [3, 2]])
    np.testing.assert_array_equal(row_hashes(whole), row_hashes(whole.astype(float)))


def test_hashes_know_the_column():
    assert len(set(row_hashes(np.eye(50)).tolist())) == 50
    assert len(set(row_hashes([[1.0, 2.0], [2.0, 1.0], [0.0, 3.0]]).tolist())) == 3


def test_hashes_of_sparse_tables_count_stored_zeros_and_repeated_entries_as_what_they_are():
    table = random_array((100, 400), density=0.02, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(row_hashes(table), row_hashes(table.toarray()))
    twice = coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    np.testing.assert_array_equal(row_hashes(twice), row_hashes([[0.0, 3.0], [0.0, 0.0]]))


def test_hashes_of_words_dates_and_empty_tables():
    table = pd.DataFrame(
        {
            "word": ["ash", "oak", "ash", None],
            "day": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-01", None]),
            "size": [1.5, 1.5, 1.5, 1.5],
        }
    )
    hashes = row_hashes(table)
    assert hashes[0] == hashes[2]
    assert len(set(hashes.tolist())) == 3
    assert row_hashes(np.zeros((0, 3))).shape == (0,)
    assert len(set(row_hashes(np.zeros((2, 0))).tolist())) == 1


@pytest.mark.parametrize("form", [np.asarray, csc_array, pd.DataFrame])
def test_order_of_rows_does_not_depend_on_the_one_given(form):
    moved = RNG.permutation(len(X))
    one, other = row_order(form(X)), row_order(form(X[moved]))
    np.testing.assert_array_equal(moved[other], one)


def test_sparse_and_dense_rows_have_one_order():
    table = random_array((200, 50), density=0.2, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(row_order(table), row_order(table.toarray()))


@pytest.mark.parametrize(("change", "kept"), [(1e-15, 1.0), (1e-7, 0.99), (1e-5, 0.9)])
def test_small_changes_of_the_features_keep_nearly_all_items_in_their_place(change, kept):
    many = np.random.default_rng(2).normal(size=(2_000, 10))
    other = many * (1 + change * np.random.default_rng(3).normal(size=many.shape))
    assert np.mean(row_order(many) == row_order(other)) >= kept


def test_the_order_follows_no_feature():
    place = places(row_order(X))
    assert np.abs(np.corrcoef(X.T, place)[-1, :-1]).max() < 0.15  # of 500: 3.4 standard errors


def test_ties_of_rows_go_by_what_is_given():
    few, ties = np.repeat(X[:5], 4, axis=0), RNG.permutation(20)
    moved = RNG.permutation(20)
    one, other = row_order(few, ties), row_order(few[moved], ties[moved])
    np.testing.assert_array_equal(moved[other], one)


@pytest.mark.parametrize("table", [None, np.repeat(X[:20], 3, axis=0), np.full((60, 1), np.nan)])
def test_identical_items_are_told_apart_by_answers(table):
    y = np.arange(60) % 2
    pairs = sample_pairs(y, 300, random_state=0)
    assert pairs.item_counts().total.min() > 0
    moved = RNG.permutation(60)
    one = item_order(table, pairs)
    other = item_order(None if table is None else table[moved], pairs[moved])
    np.testing.assert_array_equal(moved[other], one)


@pytest.mark.parametrize("what", ["same", "annotator", "weight", "labels"])
def test_items_are_told_apart_by_whatever_an_answer_or_label_says(what):
    said = {"same": [True, False], "annotator": ["a", "b"], "weight": [1.0, 2.0]}
    more = {"same": [True, True]} | ({what: said[what]} if what in said else {})
    pairs = Pairs([0, 2], [1, 3], n_items=4, **more)
    pairs = pairs.with_labels({0: "ash", 2: "oak"}) if what == "labels" else pairs
    moved = np.array([2, 3, 0, 1])
    one, other = item_order(None, pairs), item_order(None, pairs[moved])
    group = np.array([0, 0, 1, 1])  # ends of one pair can take each other's place
    np.testing.assert_array_equal(group[moved[other]], group[one])


def test_values_are_put_back_into_the_order_given():
    pairs = sample_pairs(np.arange(500) % 2, 900, random_state=0)
    items, ordered, given = in_order(X, pairs)
    np.testing.assert_array_equal(given.of_items(items), X)
    np.testing.assert_array_equal(given.reordered_items(X), items)
    np.testing.assert_array_equal(given.of_answers(ordered.same), pairs.same)
    assert GivenOrder().of_items(None) is None


PLAIN_NOISE = PairingNoise(0.1, 0.1)


@pytest.fixture(scope="module")
def problem():
    X, y = datasets.load("gaussians", n_samples=120, prior=0.15, random_state=0)
    return X, sample_pairs(y, 2000, PLAIN_NOISE, random_state=0)


def count(call) -> int:
    """Return how often the names of the classes are warned of, whatever the filters."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return sum(issubclass(one.category, ClassNamesWarning) for one in caught)


def unnamed() -> WeightedPairClassifier:
    return WeightedPairClassifier(noise=PLAIN_NOISE, random_state=0)


@pytest.mark.parametrize(
    "call",
    [
        lambda X, pairs: cross_val_score(unnamed(), X, pairs, cv=KFold(3)),
        lambda X, pairs: GridSearchCV(unnamed(), {"random_state": [0, 1]}, cv=KFold(2)).fit(
            X, pairs
        ),
        lambda X, pairs: learning_curve(unnamed(), X, pairs, cv=KFold(2), train_sizes=[0.7, 1.0]),
        lambda X, pairs: unnamed().fit(X, pairs),
        lambda X, pairs: cross_val_predict(unnamed(), X, pairs, cv=3),
    ],
    ids=["cross_val_score", "GridSearchCV", "learning_curve", "fit", "cross_val_predict"],
)
def test_a_call_warns_once_and_the_next_one_again(call, problem):
    assert [count(lambda: call(*problem)) for _ in range(2)] == [1, 1]


def test_fits_in_a_loop_are_calls_of_their_own(problem):
    X, pairs = problem
    assert count(lambda: [unnamed().fit(X, pairs) for _ in range(3)]) == 3


def test_with_labels_nothing_is_warned_of(problem):
    X, pairs = problem
    labelled = pairs.with_labels(dict(enumerate(range(2))))
    assert isinstance(labelled, Pairs)
    assert count(lambda: unnamed().fit(X, labelled)) == 0


@pytest.mark.parametrize("kind", [np.asarray, csr_array, pd.DataFrame])
@pytest.mark.parametrize("learner", [JointPairClassifier, PairKMeans, COPKMeans])
def test_numbers_whose_squares_are_infinite_are_refused(kind, learner):
    X = np.random.default_rng(0).normal(size=(30, 2))
    pairs = Pairs(range(29), range(1, 30), [True, False] * 14 + [True])
    with pytest.raises(ValueError, match="1e\\+110: expected numbers within ±1e\\+100"):
        learner().fit(kind(np.where(X[3, 1] == X, 1e110, X)), pairs)


def test_new_items_are_held_to_the_same():
    X = np.random.default_rng(0).normal(size=(30, 2))
    pairs = Pairs(range(29), range(1, 30), [True] * 29)
    model = PairKMeans(class_order="rising", random_state=0).fit(X, pairs)
    with pytest.raises(ValueError, match="column 1 of X holds -1e\\+300"):
        model.predict(np.array([[0.0, -1e300]]))
