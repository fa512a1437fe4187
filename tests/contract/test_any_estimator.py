"""Any classifier of scikit-learn serves inside the learners, with ``sample_weight`` or without."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import noisypairs
from noisypairs import (
    JointPairClassifier,
    LossCorrectionClassifier,
    PairingNoise,
    WeightedPairClassifier,
    datasets,
    sample_pairs,
)
from noisypairs.metrics import accuracy_up_to_names

from .learners import NOISE, problem


class InContext(ClassifierMixin, BaseEstimator):
    """Has fit(X, y) and predict_proba only, and float32 output, as TabPFN and skorch do."""

    def fit(self, X, y):
        self.inner_ = GaussianNB().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict_proba(self, X):
        return self.inner_.predict_proba(X).astype(np.float32)

    def predict(self, X):
        return self.inner_.predict(X)


ESTIMATORS = [
    KNeighborsClassifier(),
    LinearDiscriminantAnalysis(),
    GaussianProcessClassifier(),
    StackingClassifier([("bayes", GaussianNB()), ("logistic", LogisticRegression())]),
    VotingClassifier([("bayes", GaussianNB()), ("logistic", LogisticRegression())]),
    GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3),
    make_pipeline(StandardScaler(), KNeighborsClassifier()),
    LinearSVC(),
    SVC(),
    RidgeClassifier(),
    NearestCentroid(),
    RandomForestClassifier(20, random_state=0),
    MLPClassifier((8,), max_iter=2000, random_state=0),
    InContext(),
]


@pytest.mark.parametrize("inner", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_inside_the_joint_learner(inner):
    X, y, _ = problem()
    X, y = X[:150], y[:150]
    pairs = sample_pairs(y, 1500, NOISE, random_state=3)
    clf = JointPairClassifier(inner, n_classes=2, class_order="falling", cv=2, random_state=0)
    assert clf.fit(X, pairs).score(X, y) > 0.95
    again = JointPairClassifier(inner, n_classes=2, class_order="falling", cv=2, random_state=0)
    np.testing.assert_array_equal(again.fit(X, pairs).predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize("inner", [KNeighborsClassifier(15), LinearDiscriminantAnalysis()])
@pytest.mark.parametrize("noise", [NOISE, "pairing"])
def test_inside_the_weighted_learner(inner, noise):
    X, y, pairs = problem()
    clf = WeightedPairClassifier(inner, noise, class_order="falling", random_state=0)
    assert clf.fit(X, pairs).score(X, y) > 0.95


def test_three_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    X = 4.0 * np.eye(3)[y] + rng.normal(size=(150, 3))
    pairs = sample_pairs(y, 2000, PairingNoise(0.1, 0.1), random_state=0)
    known = pairs.with_labels({int(np.flatnonzero(y == k)[0]): k for k in range(3)})
    clf = JointPairClassifier(KNeighborsClassifier(), n_classes=3, cv=2, random_state=0)
    assert clf.fit(X, known).score(X, y) > 0.95


@pytest.mark.parametrize(
    "learner",
    [
        WeightedPairClassifier(RandomForestClassifier(random_state=0), NOISE),
        LossCorrectionClassifier(DecisionTreeRegressor(random_state=0), NOISE),
    ],
)
def test_one_that_learns_the_errors_in_the_answers_is_named(learner):
    X, y = datasets.load("cancer", return_X_y=True)
    pairs = sample_pairs(y, 10 * len(y), PairingNoise(0.2, 0.2), random_state=0)
    learner.set_params(noise=PairingNoise(0.2, 0.2), class_order="rising")
    with pytest.warns(noisypairs.WeakEstimatorWarning, match=r"fewer items right than the default"):
        learner.fit(X, pairs)
    default = type(learner)(noise=PairingNoise(0.2, 0.2), class_order="rising").fit(X, pairs)
    worse, better = (accuracy_up_to_names(y, one.predict(X)) for one in (learner, default))
    assert better - worse > 0.1


def test_one_that_is_too_simple_is_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = (np.abs(X[:, 1]) < 0.7).astype(int)
    pairs = sample_pairs(y, 2400, NOISE, random_state=0)
    clf = JointPairClassifier(
        DecisionTreeClassifier(max_depth=1), n_classes=2, class_order="rising", random_state=0
    )
    with pytest.warns(
        noisypairs.WeakEstimatorWarning, match=r"DecisionTreeClassifier gets about .* fewer"
    ):
        clf.fit(X, pairs)
    assert clf.set_params(estimator=None).fit(X, pairs).score(X, y) > 0.95  # and no warning
