"""When to stop asking."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import PairingNoise, sample_pairs
from noisypairs.errors import collected_warnings
from noisypairs.estimation import Interval
from noisypairs.joint.enough import Enough, enough
from tests.joint.builders import data, joint


def test_few_answers_are_not_enough_and_many_are():
    said = {}
    for per_item in (2, 12):
        X, y, pairs = data(n_items=150, n_pairs=per_item * 150, seed=1)
        X = 0.4 * X + np.random.default_rng(0).normal(size=X.shape)  # features say little
        model = joint(noise_model="pairing").fit(X, pairs)
        said[per_item] = enough(model, X, pairs, 0.97)
        right = (model.item_proba_.argmax(axis=1) == y).mean()
        assert said[per_item].accuracy.low <= right <= said[per_item].accuracy.high + 1e-9
    few, many = said[2], said[12]
    assert (few.enough, many.enough) == (False, True)
    assert many.answers_left == 0
    assert 0 < few.answers_left < 20 * 150


def test_enough_is_by_the_lower_limit_and_a_settled_number_of_classes():
    surely, perhaps = Interval(0.97, 0.95, 0.99, 0.9), Interval(0.97, 0.949, 0.99, 0.9)
    assert Enough(0.95, surely, 0).enough
    assert not Enough(0.95, perhaps, 5).enough
    assert Enough(0.95, surely, 0, -1.0).enough
    assert not Enough(0.95, surely, None, 0.1).enough


def test_two_classes_taken_for_one_are_not_enough():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(150) % 3)
    X = np.array([[0.0, 0.0], [4.0, 1.0], [4.0, -1.0]])[y] + rng.normal(size=(150, 2))
    pairs = sample_pairs(y, 900, PairingNoise(0.05, 0.05), random_state=0)
    for numbers, doubted in (((2,), True), ((2, 3), False)):
        model = joint(n_classes=numbers, noise_model="pairing", positive=None)
        with collected_warnings():  # one class more explains the answers better, it says
            model.fit(X, pairs)
        found = enough(model, X, pairs, 0.9)
        assert found.open_number is doubted
        assert found.enough is not doubted
    model = joint(n_classes=3, noise_model="pairing", positive=None)
    with collected_warnings():
        model.fit(X, pairs)
    assert enough(model, X, pairs, 0.9).one_more is None  # the number was given


@pytest.mark.parametrize("target", [0.5, 1.0])
def test_targets_below_guessing_and_above_all_are_refused(target):
    X, _, pairs = data(n_items=80, n_pairs=400)
    with pytest.raises(ValueError, match="expected an accuracy above"):
        enough(joint().fit(X, pairs), X, pairs, target)
