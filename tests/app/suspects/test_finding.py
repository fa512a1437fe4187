"""Suspects of a fit and of a model file: the probability, which answers, what is known of each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import (
    JointPairClassifier,
    PairingNoise,
    Pairs,
    WeightedPairClassifier,
    sample_pairs,
)
from noisypairs.algebra import class_prior
from noisypairs.app.suspects import model_suspects, training_suspects, wrong_probability
from noisypairs.errors import collected_warnings


def test_wrong_probability_of_a_point_wise_model_by_enumeration() -> None:
    rng = np.random.default_rng(1)
    y = (np.arange(80) % 5 == 0).astype(int)
    X = rng.normal(size=(80, 1)) + 2.0 * y[:, None]
    noise = PairingNoise(0.2, 0.1)
    pairs = sample_pairs(y, 1500, noise, random_state=1)
    model = WeightedPairClassifier(noise=noise, prior=0.2, random_state=0).fit(X, pairs)
    eta, S = model.predict_proba(X), noise.same_probability()
    few = pairs.select(slice(0, 6))
    expected = []
    for i, j, same in zip(few.left, few.right, few.same, strict=True):
        odds = {True: 0.0, False: 0.0}  # of one class, of two
        for k in (0, 1):
            for m in (0, 1):
                answer = S[k, m] if same else 1 - S[k, m]
                odds[k == m] += eta[i, k] * eta[j, m] * answer
        expected.append(odds[not same] / sum(odds.values()))
    np.testing.assert_allclose(wrong_probability(model, X, few), expected)
    alone = Pairs([3, 3], [3, 3], [True, False], n_items=80)
    np.testing.assert_array_equal(wrong_probability(model, X, alone), [0.0, 1.0])
    assert class_prior(model.prior_)[1] == pytest.approx(0.2)


@pytest.fixture(scope="module")
def crowd():
    """A hundred items of two clear classes; the last of four annotators says the opposite."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    X = rng.normal(size=(100, 2)) + 3.0 * y[:, None]
    left, right = rng.permuted(np.tile(np.arange(100), (900, 1)), axis=1)[:, :2].T
    who = rng.integers(0, 4, 900)
    truth = y[left] == y[right]
    wrong = np.where(who == 3, rng.random(900) < 0.9, rng.random(900) < 0.05)
    names = np.array(["ann", "bob", "cid", "dan"])[who]
    pairs = Pairs(left, right, truth ^ wrong, 100, annotator=names)
    settings = {"n_classes": 2, "class_order": "rising", "random_state": 0}
    return X, pairs, wrong, JointPairClassifier(LogisticRegression(), **settings).fit(X, pairs)


@pytest.mark.parametrize("find", [training_suspects, model_suspects])
def test_suspects_are_the_wrong_answers_of_everybody_worst_first(crowd, find):
    X, pairs, wrong, model = crowd
    found = find(
        model, X, pairs, pd.DataFrame(X, columns=["u", "v"]), [f"p{k}" for k in range(100)]
    )
    assert len(found) == found.n_wrong == len(list(found))
    assert (np.diff(found.wrong.round(6)) <= 0).all()
    keys = {(a, b, s, w) for a, b, s, w in zip(*columns(pairs.select(wrong)), strict=True)}
    named = list(zip(*columns(found.answers), strict=True))
    assert np.mean([one in keys for one in named]) > 0.9
    assert len(keys.intersection(named)) > 0.9 * wrong.sum()
    dan = [clue for clue in found.clues if clue.annotator == "dan"]
    assert dan[0].annotator_wrong == pytest.approx(wrong[who_is(pairs, "dan")].mean(), abs=0.05)


def columns(pairs):
    low, high = np.minimum(pairs.left, pairs.right), np.maximum(pairs.left, pairs.right)
    return low.tolist(), high.tolist(), pairs.same.tolist(), pairs.annotator.tolist()


def who_is(pairs, name):
    return pairs.annotator_names[pairs.annotator] == name


def test_answers_about_items_that_nobody_recognises_are_hard_not_wrong():
    rng = np.random.default_rng(0)
    y, hard = rng.integers(0, 2, 120), np.arange(120) < 20
    X = rng.normal(size=(120, 2)) + 3.0 * y[:, None]
    left = rng.integers(0, 120, 2400)
    right = (left + rng.integers(1, 120, 2400)) % 120
    about_hard = hard[left] | hard[right]
    wrong = rng.random(2400) < np.where(about_hard, 0.5, 0.05)
    pairs = Pairs(left, right, (y[left] == y[right]) ^ wrong, 120)
    settings = {"n_classes": 2, "class_order": "rising", "random_state": 0}
    model = JointPairClassifier(LogisticRegression(), **settings).fit(X, pairs)
    for find in (training_suspects, model_suspects):
        found = find(model, X, pairs, None, [str(k) for k in range(120)])
        frame = found.frame()
        truly = hard[found.answers.left] | hard[found.answers.right]
        called = (frame["verdict"] == "hard").to_numpy()
        assert found.n_hard == called.sum()
        if find is training_suspects:  # which items are hard is known of these alone
            assert (called == truly).mean() > 0.9
            position = [clue.expected_error for clue in found.clues]
            assert frame["expected_error"].tolist() == pytest.approx(position, abs=1e-6)
            assert "The pair is hard" in frame["why"][int(np.flatnonzero(called)[0])]


def test_kinds_of_one_name_are_one_class():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 120)
    X = 5.0 * np.eye(3)[kind] + rng.normal(size=(120, 3))
    left = rng.integers(0, 120, 1800)
    right = (left + rng.integers(1, 120, 1800)) % 120
    pairs = Pairs(left, right, (kind[left] == kind[right]) ^ (rng.random(1800) < 0.05), 120)
    settings = {"answer_model": ["pair error"], "random_state": 0}
    with collected_warnings():
        model = JointPairClassifier(LogisticRegression(), **settings).fit_kinds(X, pairs, 3)
    own = model.item_kinds_.argmax(axis=1)
    model.name_kinds({0: "oak", 1: "oak", 2: "ash"})
    one = (own == 2)[left] == (own == 2)[right]  # by name
    assert ((wrong_probability(model, X, pairs) > 0.5) == (pairs.same != one)).mean() > 0.97
    by_file = model_suspects(model, X, pairs, None, [str(k) for k in range(120)])
    assert by_file.n_wrong == pytest.approx((pairs.same != one).sum(), rel=0.05)
