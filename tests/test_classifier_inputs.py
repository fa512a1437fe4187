"""The joint learner on items and pairs of every kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from noisypairs import (
    JointPairClassifier,
    LabelingNoise,
    PairingNoise,
    Pairs,
    datasets,
    sample_pairs,
)
from noisypairs.graph.propagation import PairGraph, answer_wrong_probability, propagate
from noisypairs.metrics import accuracy_up_to_names
from tests.joint.builders import NOISE, crowd, data, joint, one_label_each

# --- items of every kind -------------------------------------------------------------------------


def test_words_in_a_dataframe_begin_from_the_graph_alone():
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.4).astype(int)
    said = np.where(rng.random(300) < 0.1, 1 - y, y)
    table = pd.DataFrame({"colour": np.array(["red", "blue"])[said], "size": 2 * y + rng.normal()})
    table["size"] += rng.normal(size=300)
    pairs = sample_pairs(y, 3000, NOISE, random_state=0)
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), (StandardScaler(), ["size"]))
    clf = joint(make_pipeline(columns, LogisticRegression())).fit(table, pairs)
    assert clf.feature_names_in_.tolist() == ["colour", "size"]
    assert clf.spec_.class_model == "shares"
    clean = make_pipeline(clone(columns), LogisticRegression()).fit(table, y).score(table, y)
    assert clf.score(table, y) > clean - 0.02
    assert np.mean(clf.item_proba_.argmax(axis=1) == y) > 0.99  # answers know more than features


def test_sparse_items():
    X, y, pairs = data()
    sparse, dense = joint().fit(csr_array(X), pairs), joint().fit(X, pairs)
    assert_allclose(sparse.predict_proba(csr_array(X)), dense.predict_proba(X), atol=1e-3)
    assert sparse.score(csr_array(X), y) > 0.97


def test_missing_values_where_the_classifier_takes_them():
    X, y, pairs = data()
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    boosting = HistGradientBoostingClassifier(max_iter=10, random_state=0)
    clf = joint(boosting).fit(holes, pairs)
    assert clf.score(holes, y) > 0.97
    assert np.isfinite(clf.predict_proba(holes)).all()


def test_constant_features_leave_the_graph_to_decide():
    _, y, pairs = data()
    clf = joint().fit(np.ones((300, 2)), pairs)
    assert clf.verdict().estimated is None  # nothing is known of new items
    assert np.mean(clf.item_proba_.argmax(axis=1) == y) > 0.98
    assert np.ptp(clf.predict_proba(np.ones((5, 2)))[:, 1]) == 0


def test_items_without_pairs_neither_outweigh_nor_mislead_the_others():
    X, y, _ = data(n_items=1500)
    some = sample_pairs(y[:150], 1500, NOISE, random_state=0)
    pairs = Pairs(some.left, some.right, some.same, n_items=1500)
    clf = joint().fit(X, pairs)
    assert clf.score(X, y) > 0.98
    assert clf.prior_ == pytest.approx(y[:150].mean(), abs=0.03)  # of the items in pairs
    assert clf.prior_ == pytest.approx(clf.item_proba_[:150, 1].mean(), abs=1e-9)
    alone = np.arange(150, 1500)  # all that is known of them is what the classifier says
    assert_allclose(clf.item_proba_[alone], clf.oof_proba_[alone], rtol=0, atol=1e-12)
    only = joint().fit(X[:150], some)
    assert_allclose(clf.estimator_.coef_, only.estimator_.coef_, rtol=0.05)


# --- pairs of every kind -------------------------------------------------------------------------


def test_weights_are_repeated_pairs_and_order_does_not_matter():
    X, _, pairs = data(n_pairs=1000)
    plain = joint().fit(X, pairs)
    rng = np.random.default_rng(4)
    times = rng.integers(1, 4, pairs.n_pairs)
    weighted = joint().fit(X, pairs.reweighted(times))
    # Answers that count once, by weight: without weights, copies are down-weighted.
    again = pairs.select(np.repeat(np.arange(pairs.n_pairs), times))
    repeated = joint().fit(X, again.reweighted(np.ones(times.sum())))
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=0, atol=1e-5)
    # the start guesses rates by counting pairs, so the loop stops elsewhere within its tolerance
    assert_allclose(weighted.item_proba_, repeated.item_proba_, rtol=0, atol=1e-3)
    assert np.abs(weighted.item_proba_ - plain.item_proba_).max() > 0.01
    order = rng.permutation(pairs.n_pairs)
    mixed = pairs.select(order)
    mixed = Pairs(mixed.right, mixed.left, mixed.same, n_items=300)
    other = joint().fit(X, mixed)
    assert_allclose(other.item_proba_, plain.item_proba_, rtol=0, atol=1e-6)
    assert_allclose(other.wrong_proba_, plain.wrong_proba_[order], rtol=0, atol=1e-6)


def test_annotators_get_their_own_rates():
    people = crowd(n_annotators=5, similar_flip=0.25, dissimilar_flip=0.25, spammer_share=0.2)
    named = people.pairs.with_labels(one_label_each(people.target, "abc"))
    clf = joint(n_classes=3, answer_model=["people", "clarity", "similarity", "pair error"]).fit(
        people.data, named
    )
    assert clf.annotator_noise_.shape == (5, 2)
    busy = np.bincount(named.annotator) >= 300
    assert busy.sum() >= 3
    assert_allclose(clf.annotator_noise_[busy], people.annotator_rates[busy], atol=0.08)
    coin = people.annotator_kind == "spammer"
    assert coin.sum() == 1
    assert clf.annotator_noise_[coin].sum() == pytest.approx(1, abs=0.1)  # ρ_S + ρ_D of a coin
    assert (clf.annotator_noise_[~coin].sum(axis=1) < 0.8).all()


def test_without_annotators_there_are_no_people():
    X, _, pairs = data(n_items=100, n_pairs=1000)
    clf = joint(answer_model=["people"]).fit(X, pairs)
    assert clf.people_ is None
    assert clf.annotator_noise_ is None


def test_suspect_pairs_are_the_wrong_ones():
    X, y = datasets.load("cancer")
    pairs = sample_pairs(y, 2000, PairingNoise(0.2, 0.2), random_state=0)
    clf = JointPairClassifier(n_classes=2, class_order="falling", random_state=0).fit(X, pairs)
    wrong = (y[pairs.left] == y[pairs.right]) != pairs.same
    suspects, chance = clf.suspect_pairs()
    assert len(suspects) == (clf.wrong_proba_ > 0.5).sum()
    assert wrong[suspects].mean() >= 0.85
    assert wrong[suspects].sum() / wrong.sum() >= 0.85
    assert (chance > 0.5).all()
    assert (np.diff(chance) <= 0).all()
    assert_array_equal(chance, clf.wrong_proba_[suspects])
    worst, _ = clf.suspect_pairs(25)
    assert_array_equal(worst, suspects[:25])


def test_an_answer_is_as_suspect_as_its_annotator():
    """By the matrix of who gave it, in memory and in an engine, not by that of the crowd."""
    ibis = pytest.importorskip("ibis", reason="pair tables need the app extra")
    from noisypairs.tables import PairTable
    from noisypairs.tables.propagation import most_suspect

    settings = {"n_classes": 2, "spammer_share": 0.25, "pairs_per_item": 4, "separation": 2.0}
    people = crowd(n_annotators=4, **settings)
    pairs = people.pairs
    clf = joint(answer_model=["people", "clarity", "similarity", "pair error"]).fit(
        people.data, pairs
    )
    own = clf.class_matrices_
    assert_allclose(own[:, 0, 1], clf.annotator_noise_[:, 1])
    crowds = clf.noise_.same_probability()
    graph = PairGraph.from_pairs(pairs, annotators=True)
    beliefs = propagate(graph, np.log(np.clip(clf.oof_proba_, 1e-3, None)), own, tol=1e-6)
    wrong, by_crowd = (answer_wrong_probability(graph, beliefs, S) for S in (own, crowds))
    assert np.abs(wrong - by_crowd).max() > 0.1
    assert_allclose(clf.wrong_proba_, wrong, rtol=0, atol=0.03)
    rows = ibis.memtable(pairs.to_frame("pyarrow"))
    table = PairTable.from_ibis(rows, n_items=pairs.n_items)
    found, by_own, by_all = (
        clf.stream_suspects(table, 30),
        *(most_suspect(table, clf.item_proba_, S, 30) for S in (own, crowds)),
    )
    assert_allclose(found.wrong, by_own.wrong, rtol=1e-9)
    assert np.abs(by_all.wrong - found.wrong).max() > 0


def test_lies_that_stick_to_the_item_are_learnt_not_undone():
    """Who lies in all their pairs alike leaves consistent answers: the graph says what they said.

    The classifier sees through it, since the lies do not follow the features.
    """
    X, y, pairs = data(0.4, 300, 6000, LabelingNoise(0.2, 0.2, per="item"))
    agreed = pairs.select(pairs.same)
    links = coo_array((np.ones(agreed.n_pairs), (agreed.left, agreed.right)), shape=(300, 300))
    n_groups, reported = connected_components(links, directed=False)
    assert n_groups == 2  # no answer contradicts another: two reported classes
    assert 0.1 < 1 - accuracy_up_to_names(y, reported) < 0.3
    clf = joint().fit(X, pairs)
    believed = clf.item_proba_.argmax(axis=1)
    assert accuracy_up_to_names(reported, believed) > 0.99
    assert accuracy_up_to_names(y, believed) == pytest.approx(
        accuracy_up_to_names(y, reported), abs=0.01
    )
    assert clf.noise_.similar_flip < 0.01  # the answers are true to the reports
    assert clf.noise_.dissimilar_flip < 0.01
    assert accuracy_up_to_names(y, clf.predict(X)) > 0.97


def test_a_given_noise_says_how_many_classes_there_are():
    X, y, pairs = data(noise=LabelingNoise(0.1, 0.2))
    clf = JointPairClassifier(noise=LabelingNoise(0.1, 0.2), random_state=0)
    assert clf.fit(X, pairs.with_labels({0: y[0], 1: y[1]})).n_classes_ == 2
    assert clf.score(X, y) > 0.97
    assert clf.set_params(n_classes=[2, 3, 4]).fit(X, pairs).n_classes_ == 2
    with pytest.raises(ValueError, match=r"n_classes=3, but noise=.* is about 2 classes: leave"):
        clf.set_params(n_classes=3).fit(X, pairs)


def test_answers_alone_give_the_classes_of_the_items_compared():
    """Without features: `fit(None, pairs)`; nothing is known of new items, which is said."""
    y = np.random.default_rng(0).integers(0, 3, 60)
    pairs = sample_pairs(y, 900, PairingNoise(0.1, 0.1), random_state=0)
    model = JointPairClassifier(random_state=0, class_order="rising").fit(None, pairs)
    assert model.n_classes_ == 3
    found = model.item_proba_.argmax(axis=1)
    assert ((found[:, None] == found) == (y[:, None] == y)).mean() > 0.95
    assert model.intervals(None, pairs, n_bootstrap=5)["similar_flip"].high < 0.3
    for predict in (model.predict, model.predict_proba, model.transform):
        with pytest.raises(ValueError, match=r"fitted to answers alone.*cannot classify new items"):
            predict(np.zeros((2, 1)))
    again = model.fit(y[:, None] + np.random.default_rng(1).normal(size=(60, 2)), pairs)
    assert again.predict_proba(np.zeros((2, 2))).shape == (2, 3)


def test_answers_alone_show_three_classes():
    """A start from a part of the answers merged two of them in three crowds of four."""
    for seed in range(1, 4):
        rates = {"similar_flip": 0.1, "dissimilar_flip": 0.1, "spammer_share": 0.2, "spread": 0.2}
        crowd = datasets.simulated_crowd(120, 3, 30, 30, random_state=seed, **rates)
        model = JointPairClassifier(n_classes=3, class_order="rising", random_state=0)
        model.fit(None, crowd.pairs)
        assert accuracy_up_to_names(crowd.target, model.item_proba_.argmax(axis=1)) > 0.98
