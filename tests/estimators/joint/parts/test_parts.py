"""Which parts are kept: signs by simulation, switches, and what held-out answers decide."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import Pairs
from noisypairs.estimators.inner.gaussian import GaussianClasses
from noisypairs.estimators.joint.parts.parts import FEWEST_PEOPLE, HeldOutGain, overdispersion
from tests.estimators.joint.builders import crowd, joint


def test_overdispersion_by_hand():
    residual, variance = np.array([1.0, 2.0, -1.0]), np.array([0.5, 1.0, 2.0])
    left, right = np.array([0, 0, 1]), np.array([1, 2, 2])
    sums = [1 + 2, 1 - 1, 2 - 1]  # of items 0, 1, 2
    spreads = [1.5, 2.5, 3.0]
    top = sum(s**2 - v for s, v in zip(sums, spreads, strict=True))
    expected = top / np.sqrt(2 * sum(v**2 for v in spreads))
    assert overdispersion(residual, variance, [left, right]) == pytest.approx(expected)


def test_overdispersion_is_about_standard_normal_by_chance():
    """300 draws of 100 groups: mean within .25, deviation within a quarter of one."""
    rng = np.random.default_rng(0)
    group, values = rng.integers(0, 100, 2000), []
    for _ in range(300):
        chance = rng.uniform(0.1, 0.9, 2000)
        residual = (rng.random(2000) < chance) - chance
        values.append(overdispersion(residual, chance * (1 - chance), [group]))
    assert np.mean(values) == pytest.approx(0, abs=0.25)
    assert np.std(values) == pytest.approx(1, abs=0.25)


@pytest.mark.parametrize(
    ("numbers", "clear"),
    [
        ((10.0, 4.0), True),
        ((10.0, 6.0), False),  # alone: two standard errors
        ((10.0, 6.0, 10.0, 6.0), True),  # items and people: one each
        ((50.0, 6.0, 5.0, 6.0), False),
        ((5.0, 6.0, 50.0, 6.0), False),
        ((-50.0, 6.0, 50.0, 6.0), False),
    ],
)
def test_what_is_clear(numbers, clear):
    assert HeldOutGain("clarity", *numbers).is_clear == clear


def fitted(simulated, pairs=None, **options):
    model = joint(GaussianClasses(), n_classes=2, **options)
    return model.fit(simulated.data, simulated.pairs if pairs is None else pairs)


PLAIN = {"n_items": 150, "n_classes": 2, "n_annotators": 20, "spread": 0.0, "lean": 0.0}


@pytest.mark.parametrize("effects", [{}, {"bias_spread": 1.0, "skill_spread": 1.0}])
def test_switches_are_obeyed_and_auto_decides(effects):
    simulated = crowd(**PLAIN, **effects)
    there = ("people",) if effects else ()
    auto = fitted(simulated)
    assert auto.parts_ == there
    assert all(gain.kept == (gain.part in there) for gain in auto.part_gains_)
    assert all(gain.kept == gain.is_clear for gain in auto.part_gains_)
    off = fitted(simulated, annotators=False, clarity=False, similarity=False)
    assert (off.parts_, off.part_gains_, off.people_) == ((), (), None)
    on = fitted(simulated, annotators=True, clarity=True, similarity=True)
    assert on.parts_ == ("clarity", "people", "similarity")
    assert on.part_gains_ == ()
    assert on.people_.bias.shape == (20,)
    assert on.item_hard_.shape == (150,)
    # Nothing is hard, nothing similar: the answers are told as well as by the right model.
    pairs = simulated.pairs
    rich, right = (m.answer_proba(simulated.data, pairs, training_items=True) for m in (on, auto))
    assert np.abs(rich - right).mean() < 0.05


def test_few_people_or_answers_are_not_divided():
    simulated = crowd(**PLAIN | {"n_annotators": FEWEST_PEOPLE - 1}, bias_spread=2.0)
    only_people = {"clarity": False, "similarity": False}
    assert fitted(simulated, **only_people).part_gains_ == ()
    simulated = crowd(**PLAIN, bias_spread=2.0)
    few = simulated.pairs.select(np.arange(199))
    assert fitted(simulated, few).part_gains_ == ()
    assert fitted(simulated, **only_people).parts_ == ("people",)


def test_names_of_people_are_needed():
    simulated = crowd(**PLAIN, bias_spread=2.0)
    pairs = simulated.pairs
    nameless = Pairs(pairs.left, pairs.right, pairs.same, pairs.n_items)
    assert fitted(simulated, nameless, clarity=False, similarity=False).parts_ == ()
