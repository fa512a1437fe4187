"""The joint learner on pair tables: loaded where small, sampled and then streamed where large."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import (
    ClassNamesWarning,
    JointPairClassifier,
    PairingNoise,
    Pairs,
    SearchOptions,
    sample_pairs,
)
from noisypairs import classifier as joint
from noisypairs.annotators import annotator_table
from noisypairs.graph.propagation import PairGraph, answer_wrong_probability, propagate
from noisypairs.metrics import accuracy_up_to_names
from noisypairs.noise import PARTS

pytest.importorskip("ibis", reason="pair tables need the app extra")
pytest.importorskip("duckdb", reason="pair tables need the app extra")
pa = pytest.importorskip("pyarrow", reason="pair tables need the app extra")
import pyarrow.parquet as pq  # noqa: E402

from noisypairs.tables import PairTable  # noqa: E402

NOISE = PairingNoise(0.25, 0.15)
N_ITEMS, N_PAIRS = 600, 9000


@pytest.fixture(scope="module")
def problem(tmp_path_factory):
    """Overlapping classes, three annotators of whom one guesses; as Pairs and as Parquet."""
    rng = np.random.default_rng(0)
    y = (rng.random(N_ITEMS) < 0.4).astype(int)
    X = rng.normal(size=(N_ITEMS, 4)) + np.outer(y, [1.2, 0.8, 0.0, 0.0])
    pairs = sample_pairs(y, N_PAIRS, NOISE, random_state=1)
    who = rng.choice(["ann", "bob", "coin"], N_PAIRS, p=[0.4, 0.4, 0.2])
    same = np.where(who == "coin", rng.random(N_PAIRS) < 0.5, pairs.same)
    pairs = Pairs(pairs.left, pairs.right, same, N_ITEMS, annotator=who)
    path = tmp_path_factory.mktemp("pairs") / "pairs.parquet"
    columns = {"left": pairs.left, "right": pairs.right, "same": pairs.same, "annotator": who}
    pq.write_table(pa.table(columns), path)
    return X, y, pairs, PairTable.from_parquet(path, n_items=N_ITEMS)


def learner(**settings):
    return JointPairClassifier(
        LogisticRegression(),
        n_classes=2,
        class_order="falling",
        random_state=0,
        **settings,
        search=SearchOptions(max_iter=20),
    )


def test_a_table_that_fits_gives_the_model_of_its_pairs(problem):
    X, _, pairs, table = problem
    loaded, given = learner().fit(X, table), learner().fit(X, pairs)
    np.testing.assert_allclose(loaded.predict_proba(X), given.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(loaded.item_proba_, given.item_proba_, atol=1e-6)
    assert loaded.noise_.similar_flip == pytest.approx(given.noise_.similar_flip, abs=1e-6)
    assert loaded.wrong_proba_.shape == (N_PAIRS,)


@pytest.mark.parametrize("annotators", [False, True])
def test_a_larger_table_is_streamed_and_comes_out_alike(problem, monkeypatch, annotators):
    X, y, pairs, table = problem
    parts = [name for name in PARTS if annotators or name != "people"]
    given = learner(answer_model=parts).fit(X, pairs)
    monkeypatch.setattr(joint, "SEARCH_PAIRS", 3000)
    monkeypatch.setattr(PairTable, "to_pairs", lambda _: pytest.fail("all pairs were loaded"))
    streamed = learner(answer_model=parts).fit(X, table)
    assert streamed.wrong_proba_ is None
    for proba in (given.predict_proba(X), given.item_proba_):
        ours = streamed.predict_proba(X) if proba is not given.item_proba_ else streamed.item_proba_
        gap = np.mean(ours.argmax(axis=1) == y) - np.mean(proba.argmax(axis=1) == y)
        assert abs(gap) <= 0.01
    assert streamed.noise_.similar_flip == pytest.approx(given.noise_.similar_flip, abs=0.03)
    if annotators:
        np.testing.assert_allclose(streamed.annotator_noise_, given.annotator_noise_, atol=0.05)
        assert streamed.annotator_noise_[2].sum() == pytest.approx(1.0, abs=0.15)  # the coin


def test_items_in_no_sampled_pair_still_count(problem, monkeypatch):
    """With few pairs in the sample many items are in none of them, but all are in the table."""
    X, y, _, table = problem
    monkeypatch.setattr(joint, "SEARCH_PAIRS", 1500)
    clf = learner(noise=NOISE).fit(X, table)
    assert clf.prior_ == pytest.approx(y.mean(), abs=0.08)
    assert accuracy_up_to_names(y, clf.item_proba_.argmax(axis=1)) > 0.95


def test_suspects_of_a_stream_are_those_of_the_graph(problem, monkeypatch):
    X, _, pairs, table = problem
    monkeypatch.setattr(joint, "SEARCH_PAIRS", 3000)
    clf = learner().fit(X, table)
    with pytest.raises(ValueError, match="stream_suspects"):
        clf.suspect_pairs()
    worst = clf.stream_suspects(table, 300)
    assert worst.wrong.shape == (300,)
    assert np.all(np.diff(worst.wrong) <= 0)
    assert set(np.unique(worst.annotator)) <= {0, 1, 2}
    S = clf.class_matrices_
    graph = PairGraph.from_pairs(pairs, annotators=True)
    exact = propagate(graph, np.log(np.clip(clf.oof_proba_, 1e-3, None)), S, tol=1e-8)
    wrong = answer_wrong_probability(graph, exact, S)
    # Of so many answers, most must be among the worst by the graph, and as many be wrong in all.
    answers = pairs.left, pairs.right, pairs.same, wrong
    place = {(a, b, s): w for a, b, s, w in zip(*answers, strict=True)}
    chance = [place[a, b, s] for a, b, s in zip(*worst[:3], strict=True)]
    assert np.mean(np.array(chance) >= np.sort(wrong)[-400]) > 0.9
    assert worst.n_wrong == pytest.approx((wrong > 0.5).sum(), rel=0.05)


def test_intervals_of_a_large_table_redraw_a_sample(problem, monkeypatch):
    X, _, _, table = problem
    monkeypatch.setattr(joint, "SEARCH_PAIRS", 3000)
    monkeypatch.setattr(joint, "PAIRS_FOR_INTERVALS", 2000)
    clf = learner().fit(X, table)
    found = clf.intervals(X, table, n_bootstrap=4)
    for interval in found.values():
        assert interval.low <= interval.estimate <= interval.high


def test_one_annotator_is_a_crowd_of_one(problem):
    X, _, pairs, _ = problem
    alone = Pairs(pairs.left, pairs.right, pairs.same, N_ITEMS, annotator=["ann"] * N_PAIRS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ClassNamesWarning)
        clf = learner(answer_model=["people", "similarity"], noise="pairing").fit(X, alone)
    rates = [clf.noise_.similar_flip, clf.noise_.dissimilar_flip]
    np.testing.assert_allclose(clf.annotator_noise_, [rates])


@pytest.mark.parametrize("features", [True, False], ids=["features", "graph alone"])
def test_the_table_of_annotators_streams_all_answers(problem, monkeypatch, features):
    X, _, pairs, table = problem
    given = X if features else None
    in_memory = annotator_table(pairs, given, estimator=LogisticRegression(), random_state=0)
    monkeypatch.setattr(joint, "SEARCH_PAIRS", 4000)
    monkeypatch.setattr("noisypairs.annotators.table.SEARCH_PAIRS", 4000)
    monkeypatch.setattr(PairTable, "to_pairs", lambda _: pytest.fail("all pairs were loaded"))
    streamed = annotator_table(table, given, estimator=LogisticRegression(), random_state=0)
    assert [row.name for row in streamed] == ["ann", "bob", "coin"]
    assert streamed.suspects == in_memory.suspects == ["coin"]
    for ours, theirs in zip(streamed, in_memory, strict=True):
        assert ours.n_answers == theirs.n_answers
        assert ours.similar_flip.estimate == pytest.approx(theirs.similar_flip.estimate, abs=0.03)
        assert ours.accuracy == pytest.approx(theirs.accuracy, abs=0.02)
        assert ours.drop_effect is None
