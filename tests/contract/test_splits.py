"""Pairs in the place of y: every split keeps class names, and what needs classes says so."""

from __future__ import annotations

import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn.model_selection
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisypairs import (
    ClassNamesWarning,
    JointPairClassifier,
    PairingNoise,
    datasets,
    model_selection,
    sample_pairs,
)
from noisypairs.metrics import accuracy_up_to_names

from .learners import build, every, problem


@pytest.fixture(scope="module")
def balanced():
    X, y = datasets.load("gaussians", n_samples=300, prior=0.5, random_state=0)
    return X, y, sample_pairs(y, 2500, PairingNoise(0.1, 0.1), random_state=0)


def learner(**settings):
    defaults = {"n_classes": 2, "class_order": "rising", "random_state": 0}
    return JointPairClassifier(LogisticRegression(), **defaults | settings)


@every
def test_a_part_keeps_all_class_names(kind):
    X, y, pairs = problem()
    pairs = pairs.with_labels({i: ("no", "yes")[y[i]] for i in (int(y.argmin()), int(y.argmax()))})
    for seed in range(6):
        X_train, _, train, test = train_test_split(X, pairs, random_state=seed)
        assert train.class_names == test.class_names == ("no", "yes")
    clf = build(kind, class_order=None).fit(X_train, train)
    assert clf.classes_.tolist() == ["no", "yes"]
    assert accuracy_up_to_names(y, clf.predict(X)) > 0.95


@pytest.mark.filterwarnings("ignore::noisypairs.ClassNamesWarning")
def test_folds_and_searches_have_scores(balanced):
    X, y, pairs = balanced
    named = pairs.with_labels({int(y.argmin()): 0, int(y.argmax()): 1})
    clf = learner(class_order=None)
    scores = cross_val_score(clf, X, named, cv=3, error_score="raise")
    assert np.isfinite(scores).all()
    search = GridSearchCV(clf, {"noise": ["pairing", "free"]}, cv=3, error_score="raise")
    assert np.isfinite(search.fit(X, named).best_score_)
    halving = HalvingGridSearchCV(
        clf, {"noise": ["pairing", "free"]}, cv=2, min_resources=100, random_state=0
    )
    assert np.isfinite(halving.fit(X, named).best_score_)


def test_groups_reach_the_splitters(balanced):
    X, _, pairs = balanced
    groups = np.arange(300) // 3
    grouped = pairs.with_groups(groups)
    scores = cross_val_score(
        learner(), X, grouped, cv=GroupKFold(3), groups=grouped.groups, error_score="raise"
    )
    assert np.isfinite(scores).all()
    for train, test in GroupKFold(3).split(X, grouped, groups):
        assert not set(grouped[train].groups) & set(grouped[test].groups)


def test_what_needs_classes_says_so(balanced):
    X, y, pairs = balanced
    with pytest.raises(ValueError, match="StratifiedKFold needs the class of every item"):
        cross_val_score(learner(), X, pairs, cv=StratifiedKFold(3))
    with pytest.raises(ValueError, match="leave stratify out"):
        train_test_split(X, pairs, stratify=pairs)
    for cv in (2, KFold(2)):  # no score of nan in either way
        with pytest.raises(ValueError, match="scoring='accuracy' compares predictions with cla"):
            cross_val_score(learner(), X, pairs, scoring="accuracy", cv=cv)
    with pytest.raises(ValueError, match="scoring='roc_auc' compares predictions with classes"):
        GridSearchCV(learner(), {"noise": ["free"]}, scoring="roc_auc").fit(X, pairs)
    several = ["accuracy", "f1"], make_scorer(accuracy_score), {"mine": make_scorer(f1_score)}
    for scoring in several:
        with pytest.raises(ValueError, match="compares predictions with classes"):
            cross_validate(learner(), X, pairs, scoring=scoring, cv=2)
    with pytest.raises(ValueError, match=r"GroupKFold keeps groups.*groups=pairs\.groups"):
        cross_val_score(learner(), X, pairs, cv=GroupKFold(3))
    with pytest.raises(ValueError, match="min_resources=100"):
        HalvingGridSearchCV(learner(), {"noise": ["free"]}).fit(X, pairs)
    stratified = train_test_split(X, pairs, stratify=y, random_state=0)  # the classes are known
    assert stratified[2].n_items == 225


def test_folds_are_matched_to_each_other(balanced):
    X, y, pairs = balanced
    predict = partial(model_selection.cross_val_predict, learner(), X, pairs)
    predicted = predict(random_state=0)
    assert accuracy_up_to_names(y, predicted) > 0.95
    proba = predict(method="predict_proba", random_state=0)
    np.testing.assert_array_equal(predicted, proba.argmax(axis=1))
    margin = predict(method="decision_function", random_state=0)
    np.testing.assert_allclose(margin, proba[:, 1] - 0.5)
    by_splitter = predict(cv=KFold(3))
    assert accuracy_up_to_names(y, by_splitter) > 0.95
    with pytest.raises(ValueError, match="method='transform': Known: decision_function, pred"):
        predict(method="transform")
    with pytest.warns(ClassNamesWarning, match=r"model_selection\.cross_val_predict matches them"):
        sklearn.model_selection.cross_val_predict(learner(), X, pairs, cv=2)  # sizes are near


def test_output_and_metadata_of_scikit_learn(balanced):
    X, _, pairs = balanced
    table = pd.DataFrame(X, columns=["length", "width"], index=[f"item {k}" for k in range(300)])
    frame = learner().set_output(transform="pandas").fit(table, pairs).transform(table)
    assert frame.columns.tolist() == ["log_odds_1"]
    assert frame.index.equals(table.index)
    groups = np.arange(300) // 3
    with sklearn.config_context(enable_metadata_routing=True):
        whole = make_pipeline(StandardScaler(), learner())
        grid = {"jointpairclassifier__noise": ["pairing"]}
        search = GridSearchCV(whole, grid, cv=GroupKFold(3), error_score="raise")
        assert np.isfinite(search.fit(X, pairs, groups=groups).best_score_)


def test_a_call_says_a_thing_once(balanced):
    X, _, pairs = balanced
    few = pairs.select(slice(0, 90))
    for call in (
        lambda: cross_val_score(learner(class_order=None), X, few, cv=3),
        lambda: model_selection.cross_val_predict(learner(class_order=None), X, few, cv=3),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        kinds = [(one.category, re.sub(r"[-\d.]+", "", str(one.message))) for one in caught]
        assert ClassNamesWarning in {kind for kind, _ in kinds}
        assert len(kinds) == len(set(kinds))


@pytest.mark.filterwarnings("ignore::noisypairs.CopiedAnswersWarning")  # a third class too many
def test_folds_of_other_numbers_of_classes_cannot_be_matched(balanced, monkeypatch):
    X, _, pairs = balanced
    numbers = iter([2, 3])
    fit = JointPairClassifier.fit

    def fit_another(self, X, pairs):
        return fit(self.set_params(n_classes=next(numbers)), X, pairs)

    monkeypatch.setattr(JointPairClassifier, "fit", fit_another)
    with pytest.raises(ValueError, match=r"folds have 2 and 3 classes.*n_classes=2"):
        model_selection.cross_val_predict(learner(), X, pairs, cv=2)


@every
def test_score_without_names_is_up_to_names(kind):
    X, y, pairs = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClassNamesWarning)
        clf = build(kind, class_order=None).fit(X, pairs)
    assert not clf.names_known_
    with pytest.warns(ClassNamesWarning, match="up to class names"):
        assert clf.score(X, y) > 0.97
    weight = np.arange(len(y)) + 1.0
    with pytest.warns(ClassNamesWarning):
        assert clf.score(X, y, weight) == accuracy_up_to_names(y, clf.predict(X), weight)
    assert clf.score(X, 1 - y) > 0.97  # the names as they are: nothing is matched
    with pytest.warns(ClassNamesWarning):
        assert clf.score(X, np.array(["no", "yes"])[y]) > 0.97
    known = build(kind, class_order="rising").fit(X, pairs)
    assert known.names_known_
    assert known.score(X, y) < 0.03
