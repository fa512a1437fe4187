from __future__ import annotations

import numpy as np
import pytest

from noisypairs import NotIdentifiable, PairingNoise, Pairs, sample_pairs
from noisypairs.estimation import rates_from_gold, rates_from_repeats, wilson


def test_gold_rates_are_counts():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=40)
    pairs = sample_pairs(y, 500, PairingNoise(0.2, 0.3), random_state=1)
    weight = rng.integers(1, 4, size=500)
    pairs = Pairs(pairs.left, pairs.right, pairs.same, n_items=40, weight=weight)
    known = {i: f"class {y[i]}" for i in range(0, 40, 2)}
    wrong, asked = {True: 0, False: 0}, {True: 0, False: 0}
    for i, j, answer, w in zip(
        pairs.left.tolist(), pairs.right.tolist(), pairs.same.tolist(), weight, strict=True
    ):
        if i in known and j in known:
            truth = known[i] == known[j]
            asked[truth] += w
            wrong[truth] += w * (answer != truth)
    found = rates_from_gold(pairs, known, level=0.9)
    assert found.similar_flip == wilson(wrong[True], asked[True], 0.9)
    assert found.dissimilar_flip == wilson(wrong[False], asked[False], 0.9)
    assert found.same_share == asked[True] / (asked[True] + asked[False])
    assert found.noise() == PairingNoise(wrong[True] / asked[True], wrong[False] / asked[False])
    assert rates_from_gold(pairs.with_labels(known), level=0.9) == found


def test_gold_rates_leave_out_self_pairs():
    pairs = Pairs([0, 0, 1, 1], [1, 2, 2, 1], [True, True, False, False])
    found = rates_from_gold(pairs, ["a", "a", "b"])
    assert found.similar_flip.estimate == 0.0
    assert found.dissimilar_flip.estimate == 0.5


@pytest.mark.parametrize(
    ("classes", "kind"),
    [([0, 1, 2], "same"), ([0, 0, 0], "different"), ({0: 1, 1: 1}, "different")],
)
def test_gold_pairs_of_one_kind_cannot_tell_the_other_rate(classes, kind):
    pairs = Pairs([0, 0, 1], [1, 2, 2], [True, True, False])
    with pytest.raises(NotIdentifiable, match=f"no pair of two items known to be of {kind} class"):
        rates_from_gold(pairs, classes)


def test_gold_classes_must_fit_the_items():
    pairs = Pairs([0, 0, 1], [1, 2, 2], [True, True, False])
    with pytest.raises(ValueError, match=r"classes has shape \(2,\), expected \(3,\)"):
        rates_from_gold(pairs, [0, 1])
    for outside in (3, -1):
        with pytest.raises(ValueError, match=r"items outside 0\.\.2"):
            rates_from_gold(pairs, {0: "a", outside: "b"})
    with pytest.raises(NotIdentifiable, match="known to be of same class"):
        rates_from_gold(pairs)  # no labels at all


def test_the_seed_decides_the_bootstrap_of_repeats():
    rng = np.random.default_rng(0)
    left, right = np.arange(0, 120, 2), np.arange(1, 120, 2)
    truth = np.arange(60) % 2 == 0
    answers = truth ^ (rng.random((4, 60)) < 0.2)
    pairs = Pairs(np.tile(left, 4), np.tile(right, 4), answers.ravel())
    one, again, other = (
        rates_from_repeats(pairs, n_bootstrap=50, random_state=seed) for seed in (1, 1, 2)
    )
    assert one == again
    assert one.similar_flip.estimate == other.similar_flip.estimate
    assert one.similar_flip.high != other.similar_flip.high


def test_pairs_of_one_kind_that_are_certain_take_no_logarithm_of_zero():
    """Sixty answers to each pair: all are the same beyond what a float can tell from certain."""
    wrong = np.random.default_rng(0).random(20 * 60) < 0.1
    pairs = Pairs(np.tile(np.arange(20), 60), np.tile(np.arange(20, 40), 60), ~wrong)
    found = rates_from_repeats(pairs, equal_rates=True, n_bootstrap=20)
    assert found.same_share == pytest.approx(1.0)
    assert found.similar_flip.estimate == pytest.approx(wrong.mean(), abs=1e-6)
