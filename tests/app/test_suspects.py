"""Answers that are probably wrong: where they come from, how they are shown, and why."""

from __future__ import annotations

from dataclasses import replace

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
from noisypairs.app import suspects
from noisypairs.app.suspects import (
    COLUMNS,
    HARD,
    NO_SINGLE,
    Clue,
    Reason,
    Suspects,
    clues_of,
    explained,
    items_of,
    model_suspects,
    training_suspects,
    wrong_probability,
)
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


def counted(pairs, k):
    """Return other answers to the pair of answer k, and links, by looking at every answer."""
    mine = {pairs.left[k], pairs.right[k]}
    others = [0, 0]
    said: dict[frozenset[int], int] = {}
    for j in range(pairs.n_pairs):
        ends = frozenset((int(pairs.left[j]), int(pairs.right[j])))
        others[0 if pairs.same[j] else 1] += j != k and ends == mine
        said[ends] = said.get(ends, 0) + (1 if pairs.same[j] else -1)
    links = [0, 0]
    for item in set(range(pairs.n_items)) - mine:
        first, second = (said.get(frozenset((item, int(end))), 0) for end in mine)
        links[0] += first > 0 and second > 0
        links[1] += (first > 0 > second) or (second > 0 > first)
    return others, links


def test_clues_are_what_counting_gives():
    rng = np.random.default_rng(3)
    left, right = rng.permuted(np.tile(np.arange(9), (80, 1)), axis=1)[:, :2].T
    pairs = Pairs(left, right, rng.random(80) < 0.5, 9, annotator=rng.choice(["a", "b"], 80))
    wrong, chosen = rng.random(80), np.arange(0, 80, 7)
    share = rng.random(chosen.size)
    for k, clue, one_class in zip(
        chosen, clues_of(chosen, pairs, wrong, share), share, strict=True
    ):
        others, links = counted(pairs, k)
        assert [clue.others_same, clue.others_different] == others
        assert [clue.links_same, clue.links_different] == links
        assert (clue.same, clue.features_same) == (pairs.same[k], one_class)
        mine = pairs.annotator == pairs.annotator[k]
        assert clue.annotator == "ab"[pairs.annotator[k]]
        assert clue.annotator_answers == mine.sum()
        assert clue.annotator_wrong == pytest.approx(wrong[mine].mean())


def test_votes_count_by_their_weight():
    pairs = Pairs([0, 0], [1, 1], [True, False], weight=[3, 2])
    (clue,) = clues_of(np.array([1]), pairs, np.array([0.2, 0.8]), None)
    assert (clue.others_same, clue.others_different) == (3.0, 0.0)
    assert (clue.annotator, clue.features_same) == (None, None)


@pytest.fixture
def three():
    pairs = Pairs([1, 0], [2, 2], [False, True])
    wrong = np.array([0.9999999, 0.6])
    clues = clues_of(np.array([0, 1]), pairs, wrong, np.array([0.25, 1.0]))
    items = pd.DataFrame({"a": [1.23456789, np.nan, 3.0], "b": ["x", "y", "z"]})
    return Suspects(pairs, wrong, clues, items, ["p", "q", "r"], 2)


def test_items_are_shown_as_the_file_has_them_without_what_is_missing(three):
    first, second = three
    assert [(one.left, one.right, one.answer) for one in three] == [
        ("q", "r", "different"),
        ("p", "r", "same"),
    ]
    assert (first.left_features, second.left_features) == ({"b": "y"}, {"a": "1.235", "b": "x"})
    assert first.annotator is None
    assert items_of(three) == ["q", "r", "p"]


def test_a_file_has_everything_and_no_certainty(three):
    frame = three.frame()
    contents = [f"{side}.{name}" for side in ("left", "right") for name in "ab"]
    assert list(frame) == [*COLUMNS, *contents]
    assert frame["probability_wrong"].tolist() == [0.999999, 0.6]
    assert frame["features_same"].tolist() == [0.25, 0.999999]
    assert frame["left.b"].tolist() == ["y", "x"]
    assert frame["right.a"].tolist() == [3.0, 3.0]
    bare = Suspects(three.answers, three.wrong, three.clues, None, three.ids, 2).frame()
    assert list(bare) == list(COLUMNS)


NOTHING = Clue(True, 0, 0, 0, 0, None, None, None, None)


@pytest.mark.parametrize(
    ("known", "doubts", "said"),
    [
        ({"others_different": 1}, "others disagree", "The only other answer to this pair says"),
        ({"others_same": 1}, None, "The only other answer to this pair does not say different."),
        ({"others_same": 1, "others_different": 2}, "others disagree", "2 of 3 other answers"),
        ({"links_same": 1, "links_different": 1}, None, "1 of 2 items compared with both suggest"),
        ({"links_different": 3}, "links disagree", "3 of 3 items compared with both suggest"),
        (
            {"features_same": 0.03},
            "features disagree",
            "By features alone, 3% chance that the two are the same class.",
        ),
        ({"features_same": 0.999}, None, "over 99% chance that the two are the same class."),
        (
            {"annotator": "p7", "annotator_answers": 40, "annotator_wrong": 0.6},
            "annotator often wrong",
            "Of the 40 answers of p7, 60% look wrong.",
        ),
        ({"annotator": "p7", "annotator_answers": 40, "annotator_wrong": 0.1}, None, "10% look"),
        ({"expected_error": 0.46}, "hard pair", "The pair is hard: the model expects 46% of all"),
    ],
)
def test_a_reason_says_what_is_known_and_doubts_what_contradicts(known, doubts, said):
    names, sentences = explained(replace(NOTHING, **known))
    assert names == (() if doubts is None else (doubts,))
    assert said in sentences[-1]
    assert (sentences[0] == NO_SINGLE) == (doubts is None)


def test_a_pair_is_hard_where_people_err_often_and_then_nobody_is_wrong():
    easy, hard = (replace(NOTHING, expected_error=error) for error in (HARD - 0.01, HARD))
    assert (NOTHING.verdict, easy.verdict, hard.verdict) == ("wrong", "wrong", "hard")
    assert explained(easy) == ((), (NO_SINGLE,))


def test_for_the_other_answer_the_same_clues_speak_the_other_way():
    clue = replace(NOTHING, same=False, others_same=2, links_same=1, features_same=0.9)
    assert explained(clue)[0] == ("others disagree", "links disagree", "features disagree")


def test_a_reason_of_ones_own_is_one_object(monkeypatch):
    mine = Reason("old pair", lambda clue: f"{clue.others_same} said same.", lambda _: True)
    monkeypatch.setattr(suspects, "REASONS", (*suspects.REASONS, mine))
    assert explained(NOTHING) == (("old pair",), ("0 said same.",))
