"""What every pair classifier refuses, with a message that says what to do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import KFold

from noisypairs import JointPairClassifier, NotIdentifiable, Pairs

from .learners import (
    ALL,
    build,
    every,
    every_with,
    has,
    problem,
)


@every
def test_what_is_not_pairs(kind):
    X, y, _ = problem()
    with pytest.raises(TypeError, match=r"noisypairs\.Pairs, got ndarray"):
        build(kind).fit(X, y)


@every
def test_items_and_pairs_of_different_sizes(kind):
    X, _, pairs = problem()
    with pytest.raises(ValueError, match=r"299 rows.*300 items"):
        build(kind).fit(X[:-1], pairs)


@every
def test_nothing_to_learn_from(kind):
    X, _, _ = problem()
    with pytest.raises(ValueError, match="nothing to learn"):
        build(kind).fit(X, Pairs([0, 1], [0, 1], [1, 1], n_items=len(X)))


@every
def test_another_number_of_features(kind):
    X, _, pairs = problem()
    clf = build(kind).fit(X, pairs)
    with pytest.raises(ValueError, match=r"3 features.*expecting 2"):
        clf.predict(np.column_stack([X, X[:, 0]]))


#: Where no estimator is given, missing numbers are filled in (test_estimators.py).
UNREADABLE = [(kind, np.inf, "infinity") for kind in ALL]
UNREADABLE += [(kind, np.nan, "NaN") for kind in ALL if not has(kind, "estimator")]


@pytest.mark.parametrize(("kind", "bad", "says"), UNREADABLE)
def test_features_that_are_no_numbers(kind, bad, says):
    X, _, pairs = problem()
    broken = X.copy()
    broken[3, 1] = bad
    with pytest.raises(ValueError, match=says):
        build(kind).fit(broken, pairs)
    clf = build(kind).fit(X, pairs)
    with pytest.raises(ValueError, match=says):
        clf.predict(broken)


@every
def test_text_features(kind):
    X, _, pairs = problem()
    with pytest.raises(ValueError, match=r"column 0 of X holds str values such as 'red'.*Encode"):
        build(kind).fit(np.array([["red", "blue"]] * len(X)), pairs)


@every_with("noise")
def test_unknown_noise(kind):
    X, _, pairs = problem()
    with pytest.raises((ValueError, TypeError), match="noise="):
        build(kind, noise="paring").fit(X, pairs)


@every_with("prior")
@pytest.mark.parametrize("prior", ["guess", 0.0, 1.0, 1.5])
def test_impossible_prior(kind, prior):
    X, _, pairs = problem()
    with pytest.raises(ValueError, match="prior="):
        build(kind, prior=prior).fit(X, pairs)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"n_classes": 2.5}, r"n_classes=2\.5: expected a whole number of at least 2"),
        (
            {"noise": (0.1, 0.2)},
            r"noise=\(0\.1, 0\.2\): expected a noise model, such as PairingNoise",
        ),
        ({"cv": 1}, "cv=1: expected a whole number of at least 2, or 'auto'"),
        ({"cv": KFold(3)}, "expected a whole number of at least 2, or 'auto'"),
        ({"search": {"max_iter": 3}}, "expected SearchOptions, such as"),
        ({"answer_model": None}, "answer_model=None: expected 'auto' or a list of parts"),
    ],
)
def test_impossible_settings_of_the_joint_learner(given, says):
    X, _, pairs = problem()
    with pytest.raises((ValueError, TypeError), match=says):
        JointPairClassifier(**given).fit(X, pairs)


def test_names_that_are_no_parameters():
    with pytest.raises(
        TypeError, match=r"has no parameter 'starts': .*Known: answer_model, class_"
    ):
        JointPairClassifier(starts="kmeans")


def test_messages_say_what_to_do():
    pairs = Pairs([0, 1], [1, 2], [True, False])
    with pytest.raises(TypeError, match=r"0 is no index of items.*for answers use select"):
        pairs[0]
    with pytest.raises(ValueError, match=r"begin at 0. If these begin at 1, subtract 1"):
        Pairs([1, 2], [2, 3], [True, False], n_items=3)
    with pytest.raises(ValueError, match=r"mean: Pairs\.from_frame\(\.\.\., words=\{'aye': "):
        Pairs([0], [1], ["aye"])
    with pytest.raises(NotIdentifiable, match='all 2 answers are "same": nothing can be learnt'):
        JointPairClassifier().fit(np.eye(3), Pairs([0, 1], [1, 2], [True, True]))


def test_what_sits_on_classes_says_so():
    X, _, pairs = problem()
    learner = JointPairClassifier(n_classes=2)
    for outer in (VotingClassifier([("joint", learner)]), CalibratedClassifierCV(learner)):
        with pytest.raises(ValueError, match=f"{type(outer).__name__} needs the class of every"):
            outer.fit(X, pairs)
