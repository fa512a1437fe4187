"""What every pair classifier refuses, with a message that says what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import IsolationForest, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

import noisypairs
from noisypairs import JointPairClassifier, NotIdentifiable, Pairs, sample_pairs

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
        ({"class_order": 1}, "class_order=1: expected 'rising' or 'falling' by size, or the nam"),
        ({"estimator": []}, "estimator is an empty list: expected classifiers, or None"),
        ({"estimator": StandardScaler()}, "StandardScaler is no classifier"),
        ({"estimator": IsolationForest()}, "IsolationForest is no classifier"),
        ({"estimator": JointPairClassifier()}, "JointPairClassifier learns from pairs itself"),
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


@every
def test_what_is_no_pairs_and_no_table(kind):
    X, _, pairs = problem()
    with pytest.raises(TypeError, match="X and pairs are swapped: expected the items first"):
        build(kind).fit(pairs, X)
    with pytest.raises(TypeError, match=r"learns from noisypairs\.Pairs, got the class Pairs"):
        build(kind).fit(X, Pairs)
    dates = pd.DataFrame({"a": X[:, 0], "seen": pd.date_range("2020-01-01", periods=len(X))})
    with pytest.raises(ValueError, match=r"column 'seen' of X holds datetime values.*Encode it"):
        build(kind).fit(dates, pairs)


def test_questions_to_a_fitted_learner():
    X, _, pairs = problem()
    clf = JointPairClassifier(LogisticRegression(), 2, class_order="falling").fit(X, pairs)
    for wrong, says in (
        ([("a", "b")], "pairs holds values such as 'a', expected integer positions"),
        ([(0, 300)], "position 300 is too large for n_items=300"),
        ([(0, -1)], "pairs has -1 at pair 0"),
        ([(0, 1.5)], "pairs has 1.5 at pair 0"),
    ):
        with pytest.raises((ValueError, TypeError), match=says):
            clf.same_proba(X, wrong)
    with pytest.raises(ValueError, match=r"level=90: expected a share such as 0\.9"):
        clf.intervals(X, pairs, level=90)
    with pytest.raises(ValueError, match="n='ten': expected at least one pair"):
        clf.next_pairs("ten")


def test_labels_and_more_answers():
    pairs = Pairs.from_ids(["p", "q"], ["q", "r"], [True, False])
    with pytest.raises(ValueError, match=r"labels names 1 ids that are not .*: 'z'. Correct them"):
        pairs.with_labels({"z": 1})
    with pytest.raises(TypeError, match=r"labels is a ndarray.*dict\(enumerate\(column\)\)"):
        pairs.with_labels(np.array([0, 1, 1]))
    assert pairs.with_labels(pd.Series({"r": "cat"})).labels == {2: "cat"}
    with pytest.raises(TypeError, match=r"more is a DataFrame, expected Pairs.*from_frame"):
        pairs.update(pairs.to_frame())
    with pytest.raises(IndexError, match="there are 3 items, 0 … 2: 5 is none of them"):
        pairs[[0, 5]]
    with pytest.raises(TypeError, match=r"noise=\(0.1, 0.1\): expected a noise model such as"):
        sample_pairs([0, 1, 1], 3, (0.1, 0.1))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"methods": "jont"}, "unknown method 'jont': did you mean 'joint'"),
        ({"methods": {"mine": LogisticRegression()}}, r"such as JointPairClassifier\(classifier\)"),
        ({"noises": ["pairing"]}, "noises holds 'pairing': expected noise models"),
        ({"densities": -1}, "densities=-1, repeats=1: expected numbers above 0"),
        ({"y": np.linspace(0, 1, 300)}, "y has 300 values of kind continuous for 300 items"),
        ({"y": [0, 1]}, "y has 2 values of kind binary for 300 items: expected one class"),
        ({"y": problem()[2]}, "compare draws pairs of its own from true classes"),
        ({"X": np.full((300, 2), np.nan)}, "X has 600 missing or infinite numbers: fill them in"),
        ({"X": [["a", "b"]] * 300}, "column 0 of X holds str values such as 'a'"),
    ],
)
def test_comparisons_that_are_none(given, says):
    X, y, _ = problem()
    settings = {"X": X, "y": y, "methods": "km", "repeats": 1} | given
    with pytest.raises((ValueError, TypeError), match=says):
        noisypairs.compare(**settings)


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
