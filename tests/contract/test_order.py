"""The order in which items, answers and the two ends of a pair come decides nothing.

The computation is the same one whatever the order, so everything is compared bit by bit. Where
items are added up before they reach the learner (a scaler in a pipeline), rounding remains.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisypairs import (
    JointPairClassifier,
    NotIdentifiable,
    PairingNoise,
    Pairs,
    datasets,
    sample_pairs,
)

from .learners import build, every, problem

NEW = np.random.default_rng(8).uniform(-4, 4, (200, 2))
#: Fitted attributes with one entry per item, and those with one per answer.
PER_ITEM, PER_ANSWER = ("item_proba_", "oof_proba_", "labels_"), ("wrong_proba_", "violated_")


def shuffled_answers(pairs: Pairs, seed: int) -> tuple[Pairs, np.ndarray]:
    """Return the same answers in another order, half of them with their ends exchanged."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(pairs.n_pairs)
    turned = rng.random(pairs.n_pairs) < 0.5
    left, right = pairs.left[order], pairs.right[order]
    who = None if pairs.annotator is None else pairs.annotator_names[pairs.annotator][order]
    moved = Pairs(
        np.where(turned, right, left),
        np.where(turned, left, right),
        pairs.same[order],
        n_items=pairs.n_items,
        annotator=who,
        weight=None if pairs.weight is None else pairs.weight[order],
        labels=dict(reversed(pairs.labels.items())),
    )
    return moved, order


def rows_of(X, order):
    return X.iloc[order] if hasattr(X, "iloc") else X[order]


def shuffled_items(X, pairs: Pairs, seed: int) -> tuple[object, Pairs, np.ndarray]:
    """Return the same items, and the pairs of them, in another order."""
    order = np.random.default_rng(seed).permutation(pairs.n_items)
    return rows_of(X, order), pairs[order], order


def assert_same_fit(one, other, new=NEW, items=slice(None), answers=slice(None), atol=0.0):
    """All that two fits found is equal: the other saw ``items`` and ``answers`` of the first."""
    np.testing.assert_array_equal(one.classes_, other.classes_)
    np.testing.assert_allclose(one.predict_proba(new), other.predict_proba(new), rtol=0, atol=atol)
    np.testing.assert_array_equal(one.predict(new), other.predict(new))
    S = [fit.noise_.same_probability(len(one.classes_)) for fit in (one, other)]
    np.testing.assert_allclose(*S, rtol=0, atol=atol)
    np.testing.assert_allclose(one.prior_, other.prior_, rtol=0, atol=atol)
    for names, where in ((PER_ITEM, items), (PER_ANSWER, answers)):
        for name in names:
            if getattr(one, name, None) is not None:
                first, second = getattr(one, name)[where], getattr(other, name)
                if atol and first.dtype.kind == "f":
                    np.testing.assert_allclose(first, second, rtol=0, atol=atol, err_msg=name)
                else:
                    np.testing.assert_array_equal(first, second, err_msg=name)


@pytest.fixture(params=["plain", "rich"])
def given(request):
    """The problem of the contract, without or with what answers may come with."""
    X, y, pairs = problem(n_pairs=1500)
    rng = np.random.default_rng(6)
    more = {
        "plain": {},
        "rich": {
            "annotator": rng.choice(["ann", "bob", "cid"], pairs.n_pairs),
            "weight": rng.choice([0.5, 1.0, 3.0], pairs.n_pairs),
            "labels": {i: "ab"[y[i]] for i in (7, 3, 100, 250, 30, 31, 32)},
        },
    }[request.param]
    return X, Pairs(pairs.left, pairs.right, pairs.same, n_items=len(X), **more)


@every
@pytest.mark.parametrize("noise", ["given", "pairing"])
def test_order_of_answers_and_of_their_ends(kind, noise, given):
    X, pairs = given
    model = build(kind, **({"noise": noise} if noise == "pairing" else {}))
    one = clone(model).fit(X, pairs)
    moved, order = shuffled_answers(pairs, seed=3)
    assert_same_fit(one, clone(model).fit(X, moved), answers=order)


@every
@pytest.mark.parametrize("noise", ["given", "pairing"])
def test_order_of_items(kind, noise, given):
    X, pairs = given
    model = build(kind, **({"noise": noise} if noise == "pairing" else {}))
    one = clone(model).fit(X, pairs)
    rows, moved, order = shuffled_items(X, pairs, seed=4)
    assert_same_fit(one, clone(model).fit(rows, moved), items=order)


@every
@pytest.mark.parametrize(
    "form", [csr_array, pd.DataFrame, np.asfortranarray, lambda X: X.astype(np.float32)]
)
def test_order_of_items_in_other_tables(kind, form):
    X, _, pairs = problem(n_pairs=1500)
    X, new = form(X), form(NEW)
    one = build(kind).fit(X, pairs)
    rows, moved, order = shuffled_items(X, pairs, seed=5)
    assert_same_fit(one, build(kind).fit(rows, moved), new, items=order)


@every
def test_equal_items_are_told_apart_by_their_answers(kind):
    X, y, _ = problem()
    X, y = np.repeat(X[:100], 3, axis=0), np.repeat(y[:100], 3)
    pairs = sample_pairs(y, 1500, PairingNoise(0.1, 0.2), random_state=2)
    assert (pairs.item_counts().total > 0).all()  # others could take each other's place
    one = build(kind).fit(X, pairs)
    rows, moved, order = shuffled_items(X, pairs, seed=6)
    assert_same_fit(one, build(kind).fit(rows, moved), items=order)


@every
def test_order_of_items_behind_a_scaler(kind):
    """The scaler's means round differently: the ranks of the items survive that."""
    X, _, pairs = problem(n_pairs=1500)
    X, new = X * [1.0, 50.0] + 1000.0, NEW * [1.0, 50.0] + 1000.0
    model = make_pipeline(StandardScaler(), build(kind))
    one = clone(model).fit(X, pairs)
    rows, moved, _ = shuffled_items(X, pairs, seed=7)
    two = clone(model).fit(rows, moved)
    np.testing.assert_allclose(one.predict_proba(new), two.predict_proba(new), rtol=0, atol=1e-5)


def at_the_edge() -> tuple[np.ndarray, Pairs]:
    """Return 2 pairs per item, 30 % of them wrong, and features that say little.

    Drawn by position, the permutations of the test for evidence accepted some orders of these
    answers and refused others.
    """
    X, y = datasets.load("gaussians", n_samples=100, prior=0.5, random_state=12)
    X = X + np.random.default_rng(12).normal(scale=5.0, size=X.shape)
    return X, sample_pairs(y, 200, PairingNoise(0.3, 0.3), random_state=12)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of weak evidence and of rounds
def test_evidence_is_judged_the_same_in_every_order():
    X, pairs = at_the_edge()

    def decision(X, pairs):
        model = JointPairClassifier(LogisticRegression(), n_classes=2, random_state=0)
        try:
            model.fit(X, pairs)
        except NotIdentifiable as reason:
            return str(reason)
        return model.log_likelihood_, model.prior_, model.noise_

    first = decision(X, pairs)
    for seed in range(1, 10):
        moved, _ = shuffled_answers(pairs, seed)
        items, moved, _ = shuffled_items(X, moved, seed) if seed % 2 else (X, moved, None)
        assert decision(items, moved) == first


def test_intervals_do_not_depend_on_the_order():
    X, _, pairs = problem(n_pairs=1500)
    moved, _ = shuffled_answers(pairs, seed=1)
    rows, moved, _ = shuffled_items(X, moved, seed=2)
    one, other = (
        build(JointPairClassifier).fit(*given).intervals(*given, n_bootstrap=5)
        for given in ((X, pairs), (rows, moved))
    )
    assert one == other
