"""What every pair classifier promises, whoever wrote it: a new one is found and checked by itself.

Differences between classes are asked from the object (has it ``noise``, ``positive``, ``n_jobs``?).
"""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone, is_classifier
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisypairs import PairingNoise, Pairs
from noisypairs.estimators.base import PairClassifier
from noisypairs.estimators.pointwise import PointwiseClassifier

from .learners import (
    NOISE,
    assert_same_model,
    build,
    every,
    every_with,
    has,
    is_concrete,
    pair_classifiers,
    problem,
    rebuilt,
)


def test_the_suite_finds_the_estimators():
    names = {kind.__name__ for kind in pair_classifiers()}
    learners = {"LossCorrectionClassifier", "WeightedPairClassifier", "JointPairClassifier"}
    assert learners <= names
    assert not is_concrete(PairClassifier)
    assert not is_concrete(PointwiseClassifier)


# --- scikit-learn's contract ---------------------------------------------------------------------


@every
def test_learns_and_says_what_it_learnt(kind):
    X, y, pairs = problem()
    clf = build(kind)
    assert clf.fit(X, pairs) is clf
    assert clf.score(X, y) > 0.97
    assert is_classifier(clf)
    assert clf.n_features_in_ == X.shape[1]
    assert clf.classes_.tolist() == [0, 1]
    assert float(clf.prior_) == pytest.approx(y.mean(), abs=0.06)
    assert clf.noise_.same_probability().shape == (2, 2)


@every
def test_unfitted_says_so(kind):
    with pytest.raises(NotFittedError):
        build(kind).predict(problem()[0])


@every
def test_clone_and_params(kind):
    clf = build(kind)
    twin = clone(clf)
    assert twin is not clf
    given, copied = clf.get_params(deep=False), twin.get_params(deep=False)
    assert given == copied
    for name, value in given.items():
        token = object()
        twin.set_params(**{name: token})
        assert twin.get_params(deep=False)[name] is token, f"{name} is not stored as it is given"
        twin.set_params(**{name: value})
    assert twin.get_params(deep=False) == given
    with pytest.raises(ValueError, match="Invalid parameter"):
        twin.set_params(no_such_parameter=1)


@every
def test_fit_leaves_the_constructor_parameters_alone(kind):
    X, _, pairs = problem()
    clf = build(kind)
    before = dict(vars(clf))
    clf.fit(X, pairs)
    assert {name: vars(clf)[name] for name in before} == before
    learnt = set(vars(clf)) - set(before)
    assert learnt
    assert all(name.endswith("_") for name in learnt)


@every
def test_pickle_gives_equal_predictions(kind):
    X, _, pairs = problem()
    clf = build(kind).fit(X, pairs)
    assert_same_model(pickle.loads(pickle.dumps(clf)), clf, X, atol=0)


@every
def test_same_seed_same_model(kind):
    X, _, pairs = problem()
    clf = build(kind).fit(X, pairs)
    assert_same_model(build(kind).fit(X, pairs), clf, X, atol=0)
    first = clf.predict_proba(X)
    np.testing.assert_array_equal(clf.fit(X, pairs).predict_proba(X), first)  # refit on itself


@every_with("n_jobs")
def test_same_model_for_any_number_of_jobs(kind):
    X, _, pairs = problem()
    one, two = (build(kind, n_jobs=n).fit(X, pairs) for n in (1, 2))
    assert_same_model(one, two, X, atol=1e-12)


@every
def test_in_a_pipeline(kind):
    X, y, pairs = problem()
    shifted = X * [1.0, 50.0] + 7.0
    model = make_pipeline(StandardScaler(), build(kind)).fit(shifted, pairs)
    assert model.score(shifted, y) > 0.97
    assert np.isfinite(model.score(shifted, pairs))


@every
def test_in_the_middle_of_a_pipeline_items_become_log_odds(kind):
    X, _, pairs = problem()
    model = make_pipeline(build(kind), KMeans(2, random_state=0)).fit(X, pairs)
    first = model[0]
    odds = first.transform(X)
    proba = np.clip(first.predict_proba(X)[:, 1], 1e-6, 1 - 1e-6)
    np.testing.assert_allclose(odds[:, 0], np.log(proba / (1 - proba)), atol=1e-9)
    assert odds.shape == (len(X), 1)
    assert ((odds[:, 0] > 0) == (first.predict(X) == 1)).all()
    assert model[1].n_features_in_ == 1
    framed = first.set_output(transform="pandas").transform(X)
    assert list(framed) == first.get_feature_names_out().tolist() == ["log_odds_1"]
    np.testing.assert_allclose(framed.to_numpy(), odds)


@every
def test_in_a_grid_search(kind):
    X, y, pairs = problem()
    known = has(kind, "noise")
    name, values = ("noise", [PairingNoise(0.2, 0.4), NOISE]) if known else ("random_state", [0, 1])
    search = GridSearchCV(build(kind), {name: values}, cv=KFold(3), error_score="raise")
    search.fit(X, pairs)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    if known:
        assert search.best_params_["noise"] == NOISE  # held-out answers know the true rates
    assert accuracy_score(y, search.predict(X)) > 0.97


@every
def test_in_cross_validation(kind):
    X, _, pairs = problem()
    scores = cross_val_score(build(kind), X, pairs, cv=KFold(3), error_score="raise")
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()
    by_number = cross_val_score(build(kind), X, pairs, cv=3, error_score="raise")
    np.testing.assert_allclose(by_number, scores)


@every
@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_set_output_does_not_matter(kind, output):
    X, _, pairs = problem()
    plain = make_pipeline(StandardScaler(), build(kind)).fit(X, pairs)
    with sklearn.config_context(transform_output=output):
        framed = make_pipeline(StandardScaler(), build(kind)).fit(X, pairs)
        proba = framed.predict_proba(X)
    assert isinstance(proba, np.ndarray)
    np.testing.assert_allclose(proba, plain.predict_proba(X), rtol=0, atol=1e-5)


@every
def test_metadata_routing_does_not_matter(kind):
    X, _, pairs = problem()
    plain = build(kind).fit(X, pairs)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = build(kind).fit(X, pairs)
        inside = make_pipeline(StandardScaler(), build(kind)).fit(X, pairs)
    assert_same_model(routed, plain, X)
    assert (inside.predict(X) == plain.predict(X)).mean() > 0.98


# --- pairs, given in other ways -------------------------------------------------------------------


@every
@pytest.mark.parametrize("values", [(0, 1), (-1, 1), ("different", "same"), (0.0, 1.0)])
def test_answers_in_any_form(kind, values):
    X, _, pairs = problem()
    recoded = rebuilt(pairs, same=np.array(values)[pairs.same.astype(int)])
    assert_same_model(build(kind).fit(X, recoded), build(kind).fit(X, pairs), X, atol=0)


@pytest.mark.filterwarnings("ignore::noisypairs.CopiedAnswersWarning")
@every
def test_weight_is_repetition(kind):
    X, _, pairs = problem(n_pairs=3000)
    times = np.random.default_rng(4).integers(1, 4, pairs.n_pairs)
    weighted = build(kind).fit(X, rebuilt(pairs, weight=times))
    repeated = build(kind).fit(X, rebuilt(pairs, np.repeat(np.arange(pairs.n_pairs), times)))
    plain = build(kind).fit(X, pairs)
    if hasattr(repeated, "repeat_correlation_"):  # it sees copies, and counts them about once
        assert repeated.repeat_correlation_ > 0.5
        assert np.abs(repeated.predict_proba(X) - plain.predict_proba(X)).mean() < 0.01
        assert weighted.log_likelihood_ < plain.log_likelihood_ - 100
        return
    assert_same_model(weighted, repeated, X, atol=1e-5)
    if not hasattr(plain, "violated_"):  # constraints settled alike leave nothing to weigh
        assert np.abs(weighted.predict_proba(X) - plain.predict_proba(X)).max() > 1e-4


@every
def test_self_pairs_do_not_teach(kind):
    X, _, pairs = problem()
    alone = np.arange(50)
    more = Pairs(
        np.r_[pairs.left, alone],
        np.r_[pairs.right, alone],
        np.r_[pairs.same, np.zeros(50, bool)],
        n_items=len(X),
    )
    clf, other = (build(kind).fit(X, given) for given in (pairs, more))
    assert_same_model(other, clf, X)


# --- items, given in other ways -------------------------------------------------------------------


@every
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_dataframe_with_column_names(kind, frame):
    X, _, pairs = problem()
    table = frame({"length": X[:, 0], "width": X[:, 1]})
    clf = build(kind).fit(table, pairs)
    assert clf.feature_names_in_.tolist() == ["length", "width"]
    plain = build(kind).fit(X, pairs)
    np.testing.assert_allclose(clf.predict_proba(table), plain.predict_proba(X), rtol=0, atol=1e-5)
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame({"length": X[:, 0], "depth": X[:, 1]}))
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(table[["width", "length"]])


@every
@pytest.mark.parametrize("sparse", [csr_array, csr_matrix])
def test_sparse_items(kind, sparse):
    X, y, pairs = problem()
    clf = build(kind).fit(sparse(X), pairs)
    dense = build(kind).fit(X, pairs)
    assert clf.score(sparse(X), y) > 0.97
    assert np.mean(clf.predict(sparse(X)) == dense.predict(X)) > 0.98
    if getattr(clf, "candidates_", {}).keys() == getattr(dense, "candidates_", {}).keys():
        # unless it chose among other estimators, some of which take dense items only
        np.testing.assert_allclose(
            clf.predict_proba(sparse(X)), dense.predict_proba(X), rtol=0, atol=0.02
        )


@every
def test_float32_and_lists(kind):
    X, _, pairs = problem()
    clf = build(kind).fit(X, pairs)
    small = build(kind).fit(X.astype(np.float32), pairs)
    proba = small.predict_proba(X.astype(np.float32))
    # inner solvers that stay in float32 stop a little earlier
    assert np.abs(proba - clf.predict_proba(X)).mean() < 0.05
    assert np.mean(small.predict(X.astype(np.float32)) == clf.predict(X)) >= 0.99
    listed = build(kind).fit(X.tolist(), pairs)
    np.testing.assert_array_equal(listed.predict(X[:5].tolist()), clf.predict(X[:5]))


@every
def test_items_in_no_pair_are_welcome(kind):
    X, y, pairs = problem()
    some = np.flatnonzero((pairs.left < 250) & (pairs.right < 250))
    clf = build(kind).fit(X, pairs.select(some))
    assert clf.score(X[250:], y[250:]) > 0.95


# --- predictions ---------------------------------------------------------------------------------


@every
def test_probabilities_and_classes_agree(kind):
    X, _, pairs = problem()
    clf = build(kind).fit(X, pairs)
    grid = np.random.default_rng(5).uniform(-4, 4, (200, 2))
    proba = clf.predict_proba(grid)
    assert proba.shape == (200, 2)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert ((proba >= 0) & (proba <= 1)).all()
    predicted = clf.predict(grid)
    assert set(predicted) == {0, 1}
    np.testing.assert_array_equal(predicted, clf.classes_[proba.argmax(axis=1)])
    np.testing.assert_array_equal(predicted == clf.classes_[1], clf.decision_function(grid) > 0)


@every
def test_predictions_on_pairs(kind):
    X, _, pairs = problem()
    clf = build(kind).fit(X, pairs)
    same, proba = clf.predict_same(X, pairs), clf.same_proba(X, pairs)
    assert same.shape == proba.shape == (pairs.n_pairs,)
    assert same.dtype == bool
    eta, predicted = clf.predict_proba(X)[:, 1], clf.predict(X)
    i, j = pairs.left[:40], pairs.right[:40]
    np.testing.assert_allclose(proba[:40], eta[i] * eta[j] + (1 - eta[i]) * (1 - eta[j]))
    np.testing.assert_array_equal(same[:40], predicted[i] == predicted[j])
    positions = np.column_stack([pairs.left, pairs.right])
    np.testing.assert_array_equal(clf.predict_same(X, positions), same)
    np.testing.assert_array_equal(clf.same_proba(X, positions), proba)
    with pytest.raises(ValueError, match="items"):
        clf.same_proba(X[:-1], pairs)
    with pytest.raises(ValueError, match=r"\(n_pairs, 2\)"):
        clf.predict_same(X, [0, 1, 2])


@every
def test_score_with_classes_and_with_pairs(kind):
    X, y, pairs = problem()
    clf = build(kind).fit(X, pairs)
    assert clf.score(X, y) == np.mean(clf.predict(X) == y)
    weight = np.arange(len(y)) + 1.0
    expected = np.average(clf.predict(X) == y, weights=weight)
    assert clf.score(X, y, sample_weight=weight) == pytest.approx(expected)
    S, eta = clf.noise_.same_probability(), clf.predict_proba(X)
    chance = np.array([eta[i] @ S @ eta[j] for i, j in zip(pairs.left, pairs.right, strict=True)])
    log_chance = np.log(np.maximum(np.where(pairs.same, chance, 1 - chance), 1e-12))
    assert clf.score(X, pairs) == pytest.approx(log_chance.mean(), abs=1e-6)


@every_with("estimator")
def test_missing_numbers_are_filled_in_for_the_default_estimator(kind):
    X, _, pairs = problem()
    gap = np.random.default_rng(0).random(len(X)) < 0.2
    holes = np.column_stack([np.where(gap, np.nan, X[:, 0]), X[:, 1]])
    median = np.nanmedian(holes[:, 0])
    by_hand = np.column_stack([np.where(gap, median, X[:, 0]), X[:, 1], gap])
    clf = build(kind).fit(holes, pairs)
    expected = build(kind).fit(by_hand, pairs).predict_proba(by_hand)
    np.testing.assert_allclose(clf.predict_proba(holes), expected, rtol=0, atol=1e-12)
    assert clf.n_features_in_ == 2
    whole = build(kind).fit(X, pairs)  # gaps may also come later
    filled = np.where(np.isnan(holes), np.median(X, axis=0), holes)
    np.testing.assert_array_equal(whole.predict_proba(holes), whole.predict_proba(filled))
