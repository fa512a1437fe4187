"""The mean of classifiers' probabilities, against scikit-learn's soft voting and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from noisypairs.estimators.inner.average import AveragedClassifier


def data(n=120, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, 2)) + np.column_stack([y, y % 2])
    return X, y, rng.uniform(0.1, 3, n)


@pytest.mark.parametrize("weighted", [False, True])
def test_is_soft_voting(weighted):
    X, y, weight = data()
    members = [LogisticRegression(), GaussianNB()]
    weight = weight if weighted else None
    found = AveragedClassifier(members).fit(X, y, weight)
    voting = VotingClassifier([("a", members[0]), ("b", members[1])], voting="soft")
    voting.fit(X, y) if weight is None else voting.fit(X, y, sample_weight=weight)
    assert_allclose(found.predict_proba(X), voting.predict_proba(X), rtol=0, atol=1e-12)
    assert_array_equal(found.predict(X), voting.predict(X))


def test_weights_reach_the_last_step_of_a_pipeline():
    X, y, weight = data()
    curved = make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression())
    found = AveragedClassifier([curved, GaussianNB()]).fit(X, y, weight)
    first = clone(curved).fit(X, y, logisticregression__sample_weight=weight)
    second = GaussianNB().fit(X, y, weight)
    expected = (first.predict_proba(X) + second.predict_proba(X)) / 2
    assert_allclose(found.predict_proba(X), expected, rtol=0, atol=1e-12)
    unweighted = AveragedClassifier([curved, GaussianNB()]).fit(X, y)
    assert np.abs(unweighted.predict_proba(X) - expected).max() > 1e-3


def test_names_of_classes_and_members_left_alone():
    X, y, _ = data()
    names = np.array(["ash", "birch", "cedar"])
    members = [LogisticRegression(), GaussianNB()]
    found = AveragedClassifier(members).fit(X, names[y])
    assert found.classes_.tolist() == names.tolist()
    assert set(found.predict(X)) <= set(names)
    assert found.score(X, names[y]) > 0.5
    assert found.estimators is members
    assert not any(hasattr(member, "classes_") for member in members)
    assert clone(found).get_params()["estimators"][0].get_params() == members[0].get_params()


def test_ask_only_after_fit():
    with pytest.raises(NotFittedError):
        AveragedClassifier([GaussianNB()]).predict([[0.0]])


def test_the_mean_of_what_is_fitted_already():
    X, y, weight = data()
    members = [LogisticRegression().fit(X, y), make_pipeline(StandardScaler(), GaussianNB())]
    members[1].fit(X, y)
    mean = AveragedClassifier.of(members)
    expected = (members[0].predict_proba(X) + members[1].predict_proba(X)) / 2
    assert_allclose(mean.predict_proba(X), expected, rtol=0, atol=1e-12)
    assert_array_equal(mean.predict(X), expected.argmax(axis=1))
    # Fitted anew, to other weights, it leaves alone what it was made of.
    again = clone(mean).fit(X, y, weight)
    assert np.abs(again.predict_proba(X) - expected).max() > 1e-3
    assert_allclose(mean.predict_proba(X), expected, rtol=0, atol=1e-12)


def test_a_class_that_one_member_never_saw():
    X, y, _ = data()
    all_three, two = GaussianNB().fit(X, y), GaussianNB().fit(X[y != 1], y[y != 1])
    mean = AveragedClassifier.of([two, all_three])
    assert mean.classes_.tolist() == [0, 1, 2]
    expected = all_three.predict_proba(X) / 2
    expected[:, [0, 2]] += two.predict_proba(X) / 2
    assert_allclose(mean.predict_proba(X), expected, rtol=0, atol=1e-12)
