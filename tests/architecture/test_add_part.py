"""The recipe "Add a part of the answer model", followed to the letter."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from noisypairs import JointPairClassifier, PairingNoise, Pairs, datasets, sample_pairs
from noisypairs.noise import PARTS, AnswerModel

HEADING, MODULE = "Add a part of the answer model", "lapsing_answers"
NOISE = PairingNoise(0.1, 0.1)


@pytest.fixture(scope="module")
def lapses(recipe):
    assert list(PARTS) == ["clarity", "pair error", "people", "similarity", "lapses"]
    yield recipe.Lapses
    del PARTS["lapses"]  # a part is known by its name as soon as its class is defined


def crowd(share):
    X, y = datasets.load("gaussians", n_samples=200, prior=0.4, random_state=0)
    pairs = sample_pairs(y, 4000, NOISE, random_state=1)
    lapse = np.random.default_rng(2).random(4000) < share
    return X, Pairs(pairs.left, pairs.right, pairs.same & ~lapse, 200)


@pytest.mark.parametrize(("share", "there"), [(0.3, True), (0.0, False)])
def test_it_is_learnt_with_the_rest_and_absent_where_it_is_not_there(lapses, share, there):
    X, pairs = crowd(share)
    model = JointPairClassifier(
        n_classes=2,
        noise=NOISE,
        class_order="falling",
        random_state=0,
        answer_model=["people", "similarity", "pair error", "lapses"],
    )
    model.fit(X, pairs)
    assert ("lapses" in model.parts_) == there
    if there:
        assert model.answer_model_.part("lapses").rate == pytest.approx(0.3, abs=0.03)


def test_every_answer_model_takes_it(lapses):
    S = NOISE.same_probability(2)
    answers = AnswerModel(NOISE, "given", 2).with_parts(lapses(0.2), lapses(0.25))
    assert len(answers.parts) == 1  # one of each name, the last
    assert_allclose(answers.matrices(), 0.75 * S)
    assert answers.with_parts(lapses(0.04)).parts == ()
