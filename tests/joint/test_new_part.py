"""The recipe for a new part of the answer model: one subclass, and nothing else is touched.

Here the answers of some people lapse: they were not looking, and said "different" whatever they
were asked. With chance λ an answer is a lapse, so that P("same") = (1 − λ) S.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pytest
from numpy.testing import assert_allclose

from noisypairs import JointPairClassifier, PairingNoise, Pairs, datasets, sample_pairs
from noisypairs.algebra import Array
from noisypairs.noise import PARTS, AnswerModel, Part
from noisypairs.noise.answers import Expectation


@pytest.fixture
def lapses() -> Iterator[type[Part]]:
    @dataclass(frozen=True)
    class Lapses(Part):
        """A share λ of the answers is "different", whatever was asked; S of the table is known."""

        name = "lapses"
        rate: float

        @classmethod
        def begin(cls, pairs: Pairs, X: Any, seen: Expectation | None = None) -> Self | None:
            """Start from one answer in twenty; None where nothing was found yet."""
            del pairs, X
            return None if seen is None else cls(0.05)

        @property
        def strength(self) -> float:
            """The share of lapses; below one answer in twenty there are none."""
            return self.rate if self.rate >= 0.05 else 0.0

        def fit(self, seen: Expectation, table: Array) -> Self:
            """Return λ after an M-step: the share of "same" that is missing."""
            expected = float(((seen.same + seen.different) * table).sum())
            return replace(self, rate=1.0 - float(seen.same.sum()) / expected)

        def expand_matrix(self, S: Array) -> Array:
            """Return (1 − λ) S."""
            return (1.0 - self.rate) * S

        def class_matrix(self, S: Array) -> Array:
            """Return S of an average answer."""
            return (1.0 - self.rate) * S

    yield Lapses
    del PARTS["lapses"]  # a part is known by its name as soon as its class is defined


def crowd(share: float) -> tuple[Array, Pairs]:
    X, y = datasets.load("gaussians", n_samples=200, prior=0.4, random_state=0)
    pairs = sample_pairs(y, 4000, NOISE, random_state=1)
    lapse = np.random.default_rng(2).random(4000) < share
    return X, Pairs(pairs.left, pairs.right, pairs.same & ~lapse, 200)


NOISE = PairingNoise(0.1, 0.1)


@pytest.mark.parametrize(("share", "there"), [(0.3, True), (0.0, False)])
def test_a_new_part_is_learnt_with_the_rest_and_absent_where_it_is_not_there(lapses, share, there):
    X, pairs = crowd(share)
    model = JointPairClassifier(noise=NOISE, positive="minority", clarity=False, random_state=0)
    model.fit(X, pairs)
    assert ("lapses" in model.parts_) == there
    if there:
        assert model.answer_model_.part("lapses").rate == pytest.approx(0.3, abs=0.03)


def test_it_is_part_of_every_answer_model(lapses):
    S = NOISE.same_probability(2)
    answers = AnswerModel(NOISE, "given", 2).with_parts(lapses(0.2), lapses(0.25))
    assert len(answers.parts) == 1  # one of each name, the last
    assert_allclose(answers.matrices(), 0.75 * S)
    assert answers.with_parts(lapses(0.04)).parts == ()


def test_the_registry_is_as_before():
    assert list(PARTS) == ["clarity", "pair error", "people", "similarity"]
