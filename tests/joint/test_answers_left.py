"""How many more answers a target takes."""

from __future__ import annotations

import numpy as np

from noisypairs import PairingNoise, Pairs
from noisypairs.joint.answers_left import BATCH_PER_ITEM, N_BATCHES, answers_left
from noisypairs.joint.em import GraphEStep, Spec, run_em
from noisypairs.joint.problem import Problem
from noisypairs.noise import AnswerModel
from tests.joint.builders import data


def found_from(problem, start, noise):
    """Return where EM leads from a guess under a given noise."""
    model, answers = problem.class_model("ridge"), AnswerModel(noise, "given", 2)
    spec = Spec(2, "ridge", "given")
    return run_em(spec, "guess", GraphEStep(problem.graph), model, answers, start, rounds=15)


def left(X, pairs, noise, share):
    problem = Problem(X, pairs, 2, "auto", 0)
    start = np.full((pairs.n_items, 2), 0.5)
    start[:, 1] += np.where(X[:, 0] > 0, 0.2, -0.2)
    start[:, 0] = 1 - start[:, 1]
    found = found_from(problem, start, noise)
    return answers_left(problem, found, noise, share)


def blurred(per_item):
    X, y, pairs = data(n_items=200, n_pairs=per_item * 200, seed=1)
    return 0.3 * X + np.random.default_rng(0).normal(size=X.shape), y, pairs


def test_it_is_what_asking_on_takes():
    """Held against real answers: asked for so many more, the errors fall to about that share."""
    noise, share = PairingNoise(0.2, 0.2), 0.4
    X, y, pairs = blurred(2)
    said = left(X, pairs, noise, share)
    rng = np.random.default_rng(5)

    def wrong(more):
        one, other = rng.integers(200, size=(2, more))
        asked = pairs
        if more:
            same = noise.corrupt(y, one, other, 2, rng)
            asked = pairs.with_answers(one[one != other], other[one != other], same[one != other])
        problem = Problem(X, asked, 2, "auto", 0)
        start = 0.2 + 0.6 * np.eye(2)[y]
        found = found_from(problem, start, noise)
        return 1 - found.item_proba.max(axis=1).mean()

    # Random pairs teach less than chosen ones: so many are not enough, four times as many are.
    assert wrong(said // 2) > share * wrong(0)
    assert wrong(4 * said) < share * wrong(0)


def test_more_is_needed_for_fewer_errors_and_from_people_who_err_more():
    X, _, pairs = blurred(2)
    few, many = (left(X, pairs, PairingNoise(0.2, 0.2), share) for share in (0.8, 0.3))
    assert 0 < few < many
    assert left(X, pairs, PairingNoise(0.3, 0.3), 0.5) > left(X, pairs, PairingNoise(0.1, 0.1), 0.5)


def test_beyond_the_batches_it_goes_on_at_the_same_rate():
    X, _, pairs = blurred(1)
    noise = PairingNoise(0.35, 0.35)
    found = left(X, pairs, noise, 1e-3)
    assert found is None or found > BATCH_PER_ITEM * N_BATCHES * pairs.n_items


def test_where_every_pair_was_asked_there_is_no_number():
    X = np.random.default_rng(0).normal(size=(12, 2))
    one, other = np.triu_indices(12, 1)
    pairs = Pairs(one, other, (one + other) % 2 == 0, n_items=12)
    assert left(X, pairs, PairingNoise(0.3, 0.3), 0.01) is None


def test_weights_and_names_of_answers_do_no_harm():
    X, _, pairs = blurred(2)
    weighted = Pairs(
        pairs.left, pairs.right, pairs.same, 200, np.arange(400) % 3, np.full(400, 2.0)
    )
    assert left(X, weighted, PairingNoise(0.2, 0.2), 0.5) > 0
