"""Labels measure: each on a model that has not seen it, with an exact interval."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

from noisypairs import MatrixNoise, PairingNoise, Pairs, sample_pairs
from noisypairs.assess.labels import FEWEST_LABELS, exact_interval
from noisypairs.classifier import SearchOptions
from tests.joint.builders import joint, overlapping


def test_the_interval_is_that_of_the_binomial_test():
    for right, n in ((0, 12), (7, 12), (12, 12)):
        expected = stats.binomtest(right, n).proportion_ci(0.9, method="exact")
        found = exact_interval(right, n, 0.9)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


def some_labels(y, n, rng):
    """One label per class, and others drawn at random."""
    first = [int(np.flatnonzero(y == k)[0]) for k in np.unique(y)]
    more = rng.choice(np.setdiff1d(np.arange(len(y)), first), n - len(first), replace=False)
    return {int(item): f"class {y[item]}" for item in [*first, *more.tolist()]}


def test_measured_accuracy_is_that_of_new_items():
    X, y, pairs = overlapping(600, 4000)
    clf = joint().fit(X, pairs.with_labels(some_labels(y, 200, np.random.default_rng(0))))
    X_new, y_new, _ = overlapping(4000, 10, seed=1)
    truth = float((clf.predict(X_new) == np.array([f"class {k}" for k in y_new])).mean())
    found = clf.verdict().measured
    assert found.n_items == found.n_groups == 200
    assert truth in found.accuracy
    assert found.accuracy.estimate == pytest.approx(truth, abs=0.06)


def test_classes_that_people_confuse_are_seen_by_labels_alone():
    """Everybody calls classes 0 and 1 the same: 60 labels know better than the answers."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=300)
    X = 3.0 * np.eye(3)[y] + rng.normal(size=(300, 3))
    S = np.array([[0.9, 0.88, 0.1], [0.88, 0.9, 0.1], [0.1, 0.1, 0.9]])
    pairs = sample_pairs(y, 3000, MatrixNoise(S), random_state=0)
    known = some_labels(y, 60, rng)
    clf = joint(n_classes=3).fit(X, pairs.with_labels(known))
    found = clf.verdict()
    truth = float((clf.predict(X) == np.array([f"class {k}" for k in y])).mean())
    assert found.accuracy.low <= truth <= found.accuracy.high
    assert {t for t, _, _ in found.measured.confused[:2]} <= {"class 0", "class 1"}


def test_fewer_labels_than_ten_only_name_and_a_wrong_label_is_reported():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    X = 4.0 * y[:, None] + rng.normal(size=(200, 2))
    pairs = sample_pairs(y, 2000, PairingNoise(0.1, 0.1), random_state=0)
    known = {int(i): int(y[i]) for i in range(8)}
    few = joint().fit(X, pairs.with_labels(known)).verdict().measured
    assert few.accuracy is None
    assert few.n_items < FEWEST_LABELS
    known = {int(i): int(y[i]) for i in range(30)}
    known[17] = 1 - known[17]
    found = joint().fit(X, pairs.with_labels(known)).verdict()
    assert found.measured.contradicted == (17,)
    assert "1 labelled item has another class according to all answers" in str(
        next(one.text for one in found.checks if one.name == "labels stand")
    )


def test_rows_of_one_item_count_once():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=100).repeat(2)
    X = 3.0 * y[:, None] + rng.normal(size=(100, 2)).repeat(2, axis=0)
    pairs = sample_pairs(y, 2000, PairingNoise(0.1, 0.1), random_state=0)
    known = {int(i): int(y[i]) for i in range(40)}
    found = joint().fit(X, pairs.with_labels(known)).verdict().measured
    assert (found.n_items, found.n_groups) == (40, 20)


def test_how_often_labels_are_wrong_is_learnt_and_answers_overrule_them():
    rng = np.random.default_rng(0)
    X, y, pairs = overlapping(300, 3000)
    known = {int(item): int(y[item]) for item in rng.choice(300, 60, replace=False)}
    wrong = list(known)[:15]
    known |= {item: 1 - known[item] for item in wrong}
    soft, certain = (
        joint(search=SearchOptions(label_noise=given)).fit(X, pairs.with_labels(known))
        for given in (None, 0.0)
    )
    assert soft.label_noise_ == pytest.approx(0.25, abs=0.1)
    right = soft.item_proba_[wrong].argmax(axis=1) == y[wrong]
    assert right.mean() > 0.8
    assert (certain.item_proba_[wrong].argmax(axis=1) != y[wrong]).all()
    found = soft.verdict()
    doubted = set(found.measured.contradicted)
    assert len(doubted & set(wrong)) >= 12
    assert len(doubted - set(wrong)) <= 2
    assert "according to all answers: look at these labels again" in found.reason


def test_a_label_noise_of_one_half_says_nothing_and_is_refused():
    with pytest.raises(ValueError, match="expected a share below one half"):
        SearchOptions(label_noise=0.5)


def test_labels_without_any_pair_are_learnt_from_and_measure():
    X, y, _ = overlapping(300, 10)
    known = {int(item): int(y[item]) for item in range(60)}
    clf = joint().fit(X, Pairs([], [], [], n_items=300).with_labels(known))
    alone = LogisticRegression().fit(X[:60], y[:60])
    assert (clf.predict(X) == y).mean() > alone.score(X, y) - 0.02
    verdict = clf.verdict()
    assert (verdict.kind, verdict.measured.n_items) == ("good", 60)
    assert len(clf.suspect_pairs()[0]) == 0
    with pytest.raises(ValueError, match="no pair of two distinct items"):
        joint().fit(X, Pairs([], [], [], n_items=300).with_labels({0: 1}))
