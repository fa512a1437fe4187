"""People who answer another question, and how many voices there are."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import JointPairClassifier, Pairs
from noisypairs.annotators import ANOTHER, annotator_table
from noisypairs.errors import collected_warnings


def crowd(n_other, kind="other", seed=0, n_people=12):
    """Items of two attributes; the last ``n_other`` people look at the other one, or guess."""
    rng = np.random.default_rng(seed)
    y, other = rng.integers(3, size=(2, 240))
    means = 2.0 * rng.normal(size=(2, 3, 4))
    X = np.hstack([means[0][y], means[1][other]]) + rng.normal(size=(240, 8))
    left = rng.integers(240, size=3000)
    right = (left + rng.integers(1, 240, size=3000)) % 240
    who = rng.integers(n_people, size=3000)
    said = (y[left] == y[right]) ^ (rng.random(3000) < 0.1)
    theirs = (other[left] == other[right]) ^ (rng.random(3000) < 0.1)
    if kind == "guess":
        theirs = rng.random(3000) < 0.4
    same = np.where(who >= n_people - n_other, theirs, said)
    names = np.array([f"p{k:02d}" for k in range(n_people)])
    return X, Pairs(left, right, same, 240, annotator=names[who])


def checks(X, pairs):
    with collected_warnings():
        model = JointPairClassifier(n_classes=3, random_state=0).fit(X, pairs)
        return {one.name: one for one in model.verdict().checks}


def test_people_who_agree_with_each_other_only_answer_another_question():
    found = checks(*crowd(4))["one question"]
    assert not found.passed
    assert "4 people (p08, p09, p10 and others)" in found.text
    assert "The larger group may be wrong" in found.text


def test_people_who_guess_do_not():
    assert checks(*crowd(4, "guess"))["one question"].passed


def test_one_voice_is_said_and_two_are_not():
    X, pairs = crowd(0, n_people=1)
    with collected_warnings():
        found = JointPairClassifier(n_classes=3, random_state=0).fit(X, pairs).verdict()
    assert "All answers come from one source" in found.reason
    assert found.kind == "consistent"
    assert "voices" not in checks(*crowd(0))


@pytest.mark.parametrize("kind", ["agree", "guess"])
def test_nobody_consistent_is_called_a_spammer(kind):
    """A person who guesses among those of another question is one, though."""
    X, pairs = crowd(4, *(["guess"] * (kind == "guess")))
    with collected_warnings():
        table = annotator_table(pairs, X, n_classes=3, n_drop=0, random_state=0)
    others = ["p08", "p09", "p10", "p11"]
    assert table.named(ANOTHER) == (others if kind == "agree" else [])
    assert table.suspects == (others if kind == "guess" else [])
