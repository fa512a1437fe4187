"""When to stop asking."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs.estimation import Interval
from noisypairs.estimators.joint.enough import Enough, enough
from tests.estimators.joint.builders import data, joint


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


def test_enough_is_by_the_lower_limit():
    surely, perhaps = Interval(0.97, 0.95, 0.99, 0.9), Interval(0.97, 0.949, 0.99, 0.9)
    assert Enough(0.95, surely, 0).enough
    assert not Enough(0.95, perhaps, 5).enough


@pytest.mark.parametrize("target", [0.5, 1.0])
def test_targets_below_guessing_and_above_all_are_refused(target):
    X, _, pairs = data(n_items=80, n_pairs=400)
    with pytest.raises(ValueError, match="expected an accuracy above"):
        enough(joint().fit(X, pairs), X, pairs, target)
