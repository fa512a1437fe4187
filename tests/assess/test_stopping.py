"""When to stop asking."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import PairingNoise, Pairs, sample_pairs
from noisypairs.assess.stopping import BATCH_PER_ITEM, N_BATCHES, Enough, answers_left, enough
from noisypairs.errors import collected_warnings
from noisypairs.estimation import Interval
from noisypairs.joint.em import GraphEStep, Spec, run_em
from noisypairs.joint.problem import Problem
from noisypairs.noise import AnswerModel
from tests.joint.builders import data, joint


def test_few_answers_are_not_enough_and_many_are():
    said = {}
    for per_item in (2, 12):
        X, y, pairs = data(n_items=150, n_pairs=per_item * 150, seed=1)
        X = 0.4 * X + np.random.default_rng(0).normal(size=X.shape)  # features say little
        model = joint(noise="pairing").fit(X, pairs)
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


def test_one_voice_is_never_enough_without_ten_known_items():
    X, y, pairs = data(n_items=120, n_pairs=1800, seed=1)
    for people, labels, reached in ((1, 0, False), (1, 10, True), (2, 0, True)):
        known = {int(k): int(y[k]) for k in range(labels)}
        said = Pairs(
            pairs.left, pairs.right, pairs.same, 120, np.arange(1800) % people, labels=known
        )
        with collected_warnings():  # answers of one person to a pair look like copies
            found = enough(joint().fit(X, said), X, said, 0.9)
        assert (found.enough, found.one_voice) == (reached, not reached)


def test_two_classes_taken_for_one_are_not_enough():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(150) % 3)
    X = np.array([[0.0, 0.0], [4.0, 1.0], [4.0, -1.0]])[y] + rng.normal(size=(150, 2))
    pairs = sample_pairs(y, 900, PairingNoise(0.05, 0.05), random_state=0)
    for numbers, doubted in (((2,), True), ((2, 3), False)):
        model = joint(n_classes=numbers, noise="pairing", class_order=None)
        with collected_warnings():  # one class more explains the answers better, it says
            model.fit(X, pairs)
        found = enough(model, X, pairs, 0.9)
        assert found.open_number is doubted
        assert found.enough is not doubted
    model = joint(n_classes=3, noise="pairing", class_order=None)
    with collected_warnings():
        model.fit(X, pairs)
    assert enough(model, X, pairs, 0.9).one_more is None  # the number was given


@pytest.mark.parametrize("target", [0.5, 1.0])
def test_targets_below_guessing_and_above_all_are_refused(target):
    X, _, pairs = data(n_items=80, n_pairs=400)
    with pytest.raises(ValueError, match="expected an accuracy above"):
        enough(joint().fit(X, pairs), X, pairs, target)


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
