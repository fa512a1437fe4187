"""Belief propagation as queries: that of the graph, on every engine, without its memory."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs.pairs.counts import weights_of

pa = pytest.importorskip("pyarrow", reason="pair tables need the app extra")
ibis = pytest.importorskip("ibis", reason="pair tables need the app extra")

from noisypairs import PairingNoise, Pairs, datasets, sample_pairs  # noqa: E402
from noisypairs.graph.propagation import (  # noqa: E402
    Labels,
    PairGraph,
    answer_wrong_probability,
    bethe_log_likelihood,
    edge_statistics,
    propagate,
)
from noisypairs.joint.class_model import EstimatorModel  # noqa: E402
from noisypairs.joint.em import GraphEStep, Spec, TableEStep, run_em  # noqa: E402
from noisypairs.noise import AnswerModel  # noqa: E402
from noisypairs.tables import PairTable, sweep  # noqa: E402
from noisypairs.tables.propagation import TablePropagation, most_suspect  # noqa: E402
from tests.tables.written_pairs import arrow_table  # noqa: E402

S2 = np.array([[0.8, 0.25], [0.25, 0.7]])
S3 = np.where(np.eye(3, dtype=bool), 0.85, 0.2)
FREE = np.array([[0.8, 0.1, 0.5], [0.1, 0.9, 0.2], [0.5, 0.2, 0.7]])


def distinct_pairs(seed, n_items=40, n_pairs=60, annotators=False, weighted=False):
    """Distinct pairs (repeats are merged by the graph, not by the query) and a self pair."""
    rng = np.random.default_rng(seed)
    low, high = np.triu_indices(n_items, 1)
    chosen = rng.choice(low.size, n_pairs, replace=False)
    left, right = np.append(low[chosen], 3), np.append(high[chosen], 3)
    who = rng.choice(["ann", "bob", "eve"], size=n_pairs + 1) if annotators else None
    weight = rng.integers(1, 9, size=n_pairs + 1) / 4 if weighted else None
    same = rng.random(n_pairs + 1) < 0.5
    return Pairs(left, right, same, n_items, annotator=who, weight=weight)


def table_of(pairs, engine=None):
    rows = ibis.memtable(arrow_table(pairs))
    if engine is not None:
        rows = engine.create_view(f"given_{id(pairs)}", rows, overwrite=True)
    return PairTable.from_ibis(rows, n_items=pairs.n_items)


def responses_of(S):
    response = np.stack([1 - S, S], axis=-3)
    return response if response.ndim == 4 else response[None]


def potentials(seed, n_items, K):
    return np.random.default_rng(seed).dirichlet(np.ones(K), size=n_items)


def begun(pairs, phi, engine=None, guess=None, **settings):
    people = pairs.annotator is not None
    at = TablePropagation(
        table_of(pairs, engine), people=people, **{"damping": 0.0, "tol": 0.0} | settings
    )
    start = at.potentials(phi)
    at.begin(start, start if guess is None else at.potentials(guess))
    return at


def remembered(pairs, S, past):
    """Cavities (2, n, K), factors (n, K, K) and messages to the left and right end, in plain numpy.

    ``past`` are beliefs (n_items, K), newest first. What a sweep does, said once more.
    """
    proper = pairs.select(pairs.left != pairs.right)
    who = 0 if proper.annotator is None else proper.annotator
    chance = np.where(proper.same[:, None, None], S[who], 1 - S[who])
    factor = chance ** weights_of(proper)[:, None, None]
    to_left = to_right = np.ones((proper.n_pairs, S.shape[-1]))
    for belief in reversed(past):
        left, right = belief[proper.left] / to_left, belief[proper.right] / to_right
        cavity = np.stack([left, right])
        to_left = np.einsum("nyz,nz->ny", factor, right)
        to_right = np.einsum("nyz,ny->nz", factor, left)
        to_left, to_right = (one / one[:, :1] for one in (to_left, to_right))
    return proper, cavity, factor, to_left, to_right


@pytest.mark.parametrize(
    ("S", "annotators", "weighted"),
    [(S2, False, False), (FREE, True, True), (S3, False, True)],
    ids=["two classes", "people, weights, a free matrix", "two rates"],
)
def test_a_sweep_is_that_of_numpy_and_at_first_that_of_the_graph(S, annotators, weighted, engine):
    """Beliefs, counts and likelihood to 1e-8, of more sweeps than are remembered."""
    pairs = distinct_pairs(1, annotators=annotators, weighted=weighted)
    K, depth = len(S), 2
    tables = np.stack([S, S**2, 1 - S]) if annotators else S[None]
    phi = potentials(1, pairs.n_items, K)
    at = begun(pairs, phi, engine, depth=depth)
    graph, past = PairGraph.from_pairs(pairs, annotators=annotators), [phi]
    for n in range(1, depth + 2):
        state = at.sweep(responses_of(tables if annotators else S))
        proper, _, _, *messages = remembered(pairs, tables, past)
        log_item = np.log(phi)
        for end, message in zip((proper.left, proper.right), messages, strict=True):
            np.add.at(log_item, end, np.log(message))
        new = np.exp(log_item)
        np.testing.assert_allclose(state["scale"], np.log(new.sum(axis=1)).sum(), atol=1e-8)
        new /= new.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(at.item_proba(), new, atol=1e-8)
        assert state["change"] == pytest.approx(np.abs(new - past[0]).max(), abs=1e-8)
        past = [new, *past[: depth - 1]]
        if n <= depth:
            given = tables if annotators else S
            exact = propagate(graph, np.log(phi), given, damping=0.0, tol=0.0, max_iter=n)
            np.testing.assert_allclose(at.item_proba(), exact.item, atol=1e-8)
    found = at.expected(responses_of(tables if annotators else S))
    proper, cavity, factor, *_ = remembered(pairs, tables, past)
    both = cavity[0][:, :, None] * factor * cavity[1][:, None, :]
    total = both.sum(axis=(1, 2))
    assert found.log_likelihood == pytest.approx(np.log(total).sum(), abs=1e-8)
    counts = np.zeros((len(tables), 2, K, K))
    who = 0 if proper.annotator is None else proper.annotator
    weighed = both * (weights_of(proper) / total)[:, None, None]
    np.add.at(counts, (who, proper.same.astype(int)), (weighed + weighed.swapaxes(1, 2)) / 2)
    np.testing.assert_allclose(found.counts, counts, atol=1e-8)


def test_cutting_off_costs_less_with_every_level():
    pairs = distinct_pairs(4, n_pairs=150)
    phi = potentials(3, pairs.n_items, 2)
    exact = propagate(PairGraph.from_pairs(pairs), np.log(phi), S2, tol=1e-12, max_iter=500)
    assert exact.converged
    errors = []
    for depth in (2, 4):
        at = begun(pairs, phi, depth=depth)
        for _ in range(12):
            at.sweep(responses_of(S2))
        errors.append(np.abs(at.item_proba() - exact.item).max())
    assert np.all(np.diff(errors) < 0)
    assert errors[1] < 3e-2


def test_converged_counts_and_likelihood_are_those_of_the_graph():
    left, right = np.array([0, 0, 1, 1, 2]), np.array([1, 2, 3, 4, 5])
    weight = [1.0, 2.0, 0.5, 1.0, 1.0]
    pairs = Pairs(left, right, [True, False, True, True, False], weight=weight)
    graph, phi = PairGraph.from_pairs(pairs), potentials(0, 6, 3)
    exact = propagate(graph, np.log(phi), FREE, tol=1e-12)
    at = begun(pairs, phi, depth=6, sweeps=5)
    found = at.round(responses_of(FREE))
    np.testing.assert_allclose(found.counts, edge_statistics(graph, exact, FREE)[0], atol=1e-6)
    value = bethe_log_likelihood(graph, exact, FREE)
    assert found.log_likelihood == pytest.approx(value, abs=1e-6)


def test_known_classes_stay_known_whatever_is_answered(engine):
    pairs = distinct_pairs(6)
    even = np.full((pairs.n_items, 3), 1 / 3)
    at = begun(pairs, even, engine, known={0: 1, 5: 0}, sweeps=2)
    found = at.round(responses_of(FREE))
    at.renew(at.potentials(even))
    assert at.item_proba()[[0, 5]].round(12).tolist() == [[0, 1, 0], [1, 0, 0]]
    exact = propagate(
        PairGraph.from_pairs(pairs), np.log(even), FREE, damping=0, tol=0, max_iter=2,
        clamp={0: 1, 5: 0},
    )  # fmt: skip
    np.testing.assert_allclose(at.item_proba(), exact.item, atol=1e-8)
    assert np.isfinite(found.log_likelihood)


def test_a_label_that_may_be_wrong_is_evidence(engine):
    pairs, labels = distinct_pairs(6), Labels({0: 1, 5: 0}, noise=0.1)
    uneven = np.tile([0.2, 0.3, 0.5], (pairs.n_items, 1))
    at = begun(pairs, uneven, engine, known=labels, sweeps=2)
    at.round(responses_of(FREE))
    exact = propagate(
        PairGraph.from_pairs(pairs), np.log(uneven), FREE, damping=0, tol=0, max_iter=2,
        clamp=labels,
    )  # fmt: skip
    np.testing.assert_allclose(at.item_proba(), exact.item, atol=1e-8)


def test_damping_keeps_a_share_of_the_old_beliefs():
    pairs, phi = distinct_pairs(7), potentials(1, 40, 2)
    plain, damped = begun(pairs, phi), begun(pairs, phi, damping=0.3)
    for at in (plain, damped):
        at.sweep(responses_of(S2))
    mixed = 0.7 * np.log(plain.item_proba()) + 0.3 * np.log(phi)
    mixed = np.exp(mixed) / np.exp(mixed).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(damped.item_proba(), mixed, atol=1e-10)


def test_certain_answers_of_great_weight_stay_finite():
    pairs = Pairs([0, 1, 0], [1, 2, 2], [True, True, False], weight=[500.0, 500.0, 3.0])
    at = begun(pairs, np.array([[0.001, 0.999], [0.5, 0.5], [0.5, 0.5]]))
    found = at.round(responses_of(np.eye(2)))
    assert np.isfinite(at.item_proba()).all()
    assert np.isfinite(found.log_likelihood)
    assert np.isfinite(found.counts).all()


def test_a_round_that_starts_at_the_end_still_goes_as_deep_as_asked():
    """Beliefs that no longer move are no reason to stop before the echoes are taken out."""
    pairs = distinct_pairs(8)
    all_same = Pairs(pairs.left, pairs.right, np.ones(pairs.n_pairs, bool), pairs.n_items)
    certain = np.tile([0.999, 0.001], (pairs.n_items, 1))
    at = begun(all_same, certain, depth=3, tol=0.5, sweeps=9)
    at.round(responses_of(PairingNoise(0.2, 0.2).same_probability()))
    assert at.passes == 2
    assert sweep.n_past(at.beliefs) == 3


def test_no_sweep_is_refused():
    with pytest.raises(ValueError, match="at least one sweep and depth 2"):
        begun(distinct_pairs(9), potentials(0, 40, 2), sweeps=0)


def test_the_loop_finds_what_the_loop_in_memory_finds():
    linear = pytest.importorskip("sklearn.linear_model")
    X, y = datasets.gaussians(400, prior=0.4, random_state=0)
    X = X / 3 + np.random.default_rng(1).normal(size=X.shape)
    pairs = sample_pairs(y, 4000, PairingNoise(0.3, 0.2), random_state=0)
    guess = linear.LogisticRegression().fit(X[:60], y[:60]).predict_proba(X)
    half = np.arange(400) % 2 == 0
    folds = [(np.flatnonzero(one), np.flatnonzero(~one)) for one in (half, ~half)]
    spec, found = Spec(2, "logistic", "pairing"), []
    for e_step in (
        GraphEStep(PairGraph.from_pairs(pairs)),
        TableEStep(table_of(pairs), False, None),
    ):
        model = EstimatorModel(linear.LogisticRegression(), X, folds, np.ones(400))
        answers = AnswerModel(PairingNoise(0.2, 0.2), "pairing", 2)
        found.append(run_em(spec, "guess", e_step, model, answers, guess, tolerance=5e-3))
    memory, tables = found
    assert tables.converged
    assert ((tables.item_proba[:, 1] > 0.5) == (memory.item_proba[:, 1] > 0.5)).mean() > 0.99
    for name in ("similar_flip", "dissimilar_flip"):
        one, two = (getattr(fit.answers.table, name) for fit in found)
        assert one == pytest.approx(two, abs=0.02)
    assert tables.log_likelihood == pytest.approx(memory.log_likelihood, rel=0.01)


def test_of_equally_suspect_answers_the_first_items_are_kept():
    unknown, S = np.full((6, 2), 0.5), np.array([[0.9, 0.3], [0.3, 0.9]])
    pairs = Pairs([4, 2, 0], [5, 3, 1], [True, True, True])
    assert most_suspect(table_of(pairs), unknown, S, 2).left.tolist() == [0, 2]
    assert most_suspect(table_of(pairs), unknown, S, 0).left.size == 0


@pytest.mark.parametrize("S", [S2, S3])
def test_an_answer_does_not_confirm_itself(S, engine):
    """On a tree the messages behind converged beliefs come back, and with them P(wrong)."""
    left, right = np.array([0, 0, 1, 1, 2]), np.array([1, 2, 3, 4, 5])
    pairs = Pairs(left, right, [True, False, True, True, False])
    graph, phi = PairGraph.from_pairs(pairs), potentials(0, 6, len(S))
    beliefs = propagate(graph, np.log(phi), S, tol=1e-12)
    wrong = np.sort(answer_wrong_probability(graph, beliefs, S))[::-1]
    depth = 4 if engine is not None else 12
    found = most_suspect(table_of(pairs, engine), beliefs.item, S, 5, depth=depth)
    np.testing.assert_allclose(found.wrong, wrong, atol=1e-2 if depth == 4 else 1e-5)
    assert found.n_wrong == (wrong > 0.5).sum()
