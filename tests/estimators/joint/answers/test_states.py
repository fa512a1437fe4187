"""Clear and hard states in the loop: potentials and beliefs by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from noisypairs import PairingNoise, sample_pairs
from noisypairs.estimators.joint.answers.states import clear_or_hard, folded
from noisypairs.inference import em
from noisypairs.inference.graph import PairGraph
from noisypairs.noise import fixed
from noisypairs.noise.clarity import FIRST_SHARE, first_clarity

PHI = np.array([[0.6, 0.4], [0.1, 0.9], [0.5, 0.5]])


def test_potentials_are_those_of_the_classes_times_the_share_of_hard_items():
    asked = []

    def learner(beliefs):
        asked.append(beliefs)
        return PHI.copy()

    beliefs = np.array([[0.7, 0.1, 0.1, 0.1], [0.2, 0.2, 0.3, 0.3], [0.0, 0.9, 0.1, 0.0]])
    found = clear_or_hard(learner, {1: 0})(beliefs)
    assert_allclose(asked[0], [[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]])
    share = (0.2 + 0.6 + 0.1 + 1) / (3 + 1 / FIRST_SHARE)  # a prior of one hard item in ten
    assert_allclose(found[[0, 2]], np.hstack([(1 - share) * PHI, share * PHI])[[0, 2]])
    assert_allclose(found[1], [1 - share, 0, share, 0])  # known class, clear or not


def test_an_inference_of_states_becomes_one_of_classes():
    y = np.repeat([0, 1], 20)
    pairs = sample_pairs(y, 300, PairingNoise(0.1, 0.1), random_state=0)
    noise = first_clarity(PairingNoise(0.1, 0.1), 2)
    start = np.hstack([0.9 * np.eye(2)[y], 0.1 * np.eye(2)[y]]).clip(0.01)
    potential = clear_or_hard(lambda beliefs: beliefs.clip(0.1, 0.9))
    e_step = em.GraphEStep(PairGraph.from_pairs(pairs))
    found = em.infer(e_step, potential, start, noise, fixed(noise), max_iter=2)
    classes = folded(found)
    item = found.beliefs.item
    assert_allclose(classes.beliefs.item, np.c_[item[:, 0] + item[:, 2], item[:, 1] + item[:, 3]])
    assert_allclose(np.exp(classes.beliefs.log_item), classes.beliefs.item)
    assert_allclose(classes.potential.sum(axis=1), 1)
    assert_array_equal(classes.beliefs.item.argmax(axis=1), y)
    plain = replace(found, noise=noise.clear)
    assert folded(plain) is plain


@pytest.mark.parametrize("n_items", [1, 1000])
def test_the_share_of_few_items_stays_near_the_prior(n_items):
    nobody = np.tile([1.0, 0.0, 0.0, 0.0], (n_items, 1))
    found = clear_or_hard(lambda beliefs: beliefs)(nobody)[0, 2:].sum()
    assert found == pytest.approx(1 / (n_items + 10))
