"""Which group gets which name, and when no one can know: the same for every pair classifier."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import (
    ClassNamesWarning,
    CleanPairs,
    JointPairClassifier,
    NotIdentifiable,
    PairingNoise,
    datasets,
    sample_pairs,
)
from noisypairs.estimators.pointwise import PointwiseClassifier
from noisypairs.metrics import accuracy_up_to_names

from .learners import assert_same_model, build, every, every_with, problem


@every
@pytest.mark.parametrize("names", [("no", "yes"), ("yes", "no"), (True, False), (7, 3)])
def test_labels_name_the_classes(kind, names):
    X, y, pairs = problem()
    known = np.r_[np.flatnonzero(y == 0)[:3], np.flatnonzero(y == 1)[:3]]
    labels = {int(item): names[y[item]] for item in known}
    clf = build(kind, class_order=None).fit(X, pairs.with_labels(labels))
    assert clf.classes_.tolist() == sorted(names)
    truth = np.array(names)[y]
    assert clf.score(X, truth) > 0.97
    share = np.mean(truth == clf.classes_[1])
    assert float(clf.prior_) == pytest.approx(share, abs=0.06)


@every_with("class_order")
def test_the_order_by_size_names_the_classes(kind):
    X, y, pairs = problem()
    assert build(kind, class_order="falling").fit(X, pairs).score(X, y) > 0.97
    assert build(kind, class_order="rising").fit(X, pairs).score(X, 1 - y) > 0.97
    with pytest.raises(ValueError, match="rising"):
        build(kind, class_order="larger").fit(X, pairs)


@every_with("class_order")
def test_without_names_one_warning_says_how_they_were_chosen(kind):
    X, y, pairs = problem()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf = build(kind, class_order=None).fit(X, pairs)
    assert [warning.category for warning in caught] == [ClassNamesWarning]
    assert "with_labels(" in str(caught[0].message)
    assert caught[0].filename == __file__  # it points at the call of fit
    assert clf.score(X, 1 - y) > 0.97  # class 1 is the larger group


@every
@pytest.mark.parametrize("prior", [0.2, 0.8])
def test_both_signs_of_the_signal(kind, prior):
    X, y, pairs = problem(prior=0.2)
    y = y if prior < 0.5 else 1 - y  # the same pairs: only the names of the classes changed
    clf = build(kind, prior=prior, class_order="falling" if prior < 0.5 else "rising")
    clf.fit(X, pairs)
    assert clf.score(X, y) > 0.97
    assert float(clf.prior_) == pytest.approx(prior, abs=0.06)
    assert clf.predict_proba(X)[:, 1].mean() == pytest.approx(prior, abs=0.12)


@every
def test_near_one_half_refuse_or_learn(kind):
    X, y, pairs = problem(prior=0.5)
    if not issubclass(kind, PointwiseClassifier):
        clf = build(kind).fit(X, pairs)
        assert accuracy_up_to_names(y, clf.predict(X)) > 0.97
        return
    with pytest.raises(NotIdentifiable, match=r"(?i)joint"):
        build(kind).fit(X, pairs)
    for prior in (0.5, 0.501):
        with pytest.raises(NotIdentifiable, match=r"(?i)joint"):
            build(kind, prior=prior).fit(X, pairs)


@every_with("noise")
def test_zero_rates_are_clean_pairs(kind):
    X, y, pairs = problem(noise=CleanPairs())
    zero, clean = (
        build(kind, noise=noise).fit(X, pairs) for noise in (PairingNoise(0, 0), CleanPairs())
    )
    assert_same_model(zero, clean, X, atol=0)
    assert clean.score(X, y) > 0.97


def test_a_label_names_its_class_though_the_answers_about_the_item_err():
    # Half of the answers about item 0 are wrong, so that a start puts it into the other class.
    X, y = datasets.load("gaussians", n_samples=300, prior=0.4, random_state=0)
    pairs = sample_pairs(y, 1500, PairingNoise(0.2, 0.1), random_state=1)
    for labels in ({0: 0}, {0: 0, 1: 1}):
        clf = JointPairClassifier(LogisticRegression(), n_classes=2, random_state=0)
        assert clf.fit(X, pairs.with_labels(labels)).score(X, y) > 0.97


@every
def test_labels_of_one_class_only(kind):
    X, y, pairs = problem()
    clf = build(kind).fit(X, pairs.with_labels({0: "yes"}))
    assert clf.classes_.tolist() == ["unnamed 1", "yes"]
    assert clf.score(X, np.where(y == y[0], "yes", "unnamed 1")) > 0.97
    numbered = build(kind).fit(X, pairs.with_labels({0: int(y[0])}))
    assert numbered.classes_.tolist() == [0, 1]
    assert numbered.score(X, y) > 0.97
    listed = build(kind, class_order=["yes", "no"]).fit(X, pairs.with_labels({0: "yes"}))
    assert listed.classes_.tolist() == ["no", "yes"]
