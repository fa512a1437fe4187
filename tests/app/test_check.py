"""The data check: noise found again, triangles as predicted, methods judged by their own rules."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pandas as pd
import pytest

from noisypairs import PairingNoise, Pairs, datasets, sample_pairs
from noisypairs.app.check import check, expected_triangles
from noisypairs.app.files import Columns, Dataset
from noisypairs.estimation import Interval


def dataset(pairs: Pairs, X: np.ndarray | None) -> Dataset:
    frame = None if X is None else pd.DataFrame(X).rename(columns=lambda k: f"x{k}")
    ids = [str(k) for k in range(pairs.n_items)]
    names = pairs.annotator_names
    return Dataset(
        frame,
        ids,
        pairs,
        None if names is None else [str(name) for name in names],
        Columns("left", "right", "same"),
        {"1": "same"},
        [],
        [],
    )


def gaussians(prior: float, n_pairs: int, noise: PairingNoise, n: int = 300, seed: int = 0):
    X, y = datasets.load("gaussians", n_samples=n, prior=prior, random_state=seed)
    return X, y, sample_pairs(y, n_pairs, noise, random_state=seed)


@pytest.fixture(scope="module")
def uneven():
    X, y, pairs = gaussians(0.25, 1500, PairingNoise(0.2, 0.1), n=150, seed=1)
    return check(dataset(pairs, X)), y


def outlooks(found) -> dict[str, str]:
    return {one.method: one.outlook for one in found.methods}


def test_noise_and_prior_are_found_again(uneven):
    found, y = uneven
    noise = found.noise
    assert noise.similar_flip.estimate == pytest.approx(0.2, abs=0.04)
    assert noise.dissimilar_flip.estimate == pytest.approx(0.1, abs=0.04)
    larger = max(y.mean(), 1 - y.mean())
    assert noise.prior.estimate == pytest.approx(larger, abs=0.03)
    assert noise.signal == pytest.approx(0.7 * (2 * larger - 1), abs=0.05)
    assert noise.inflation == pytest.approx(1 / noise.signal**2)
    for interval in (noise.similar_flip, noise.dissimilar_flip, noise.prior, noise.accuracy):
        assert interval.low <= interval.estimate <= interval.high
    assert outlooks(found) == {"joint": "works", "weighted": "works", "correction": "works"}
    assert found.no_noise is None


def test_triangles_are_as_the_noise_predicts(uneven):
    found, _ = uneven
    assert found.triangles.closed > 300
    assert abs(found.triangles.beyond) < 4
    assert not any("triangles" in problem for problem in found.problems)


def test_everything_is_plain_json(uneven):
    found, _ = uneven
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["noise"]["prior"]["estimate"] == found.noise.prior.estimate
    assert plain["triangles"]["beyond"] == pytest.approx(found.triangles.beyond)
    assert plain["features"][0] == {
        "name": "x0",
        "kind": "number",
        "treatment": plain["features"][0]["treatment"],
    }


def test_an_even_prior_is_no_place_for_pointwise_methods():
    X, y = datasets.load("gaussians", n_samples=200, prior=0.5, random_state=1)
    order = np.concatenate([np.flatnonzero(y == 0)[:50], np.flatnonzero(y == 1)[:50]])
    pairs = sample_pairs(y[order], 500, PairingNoise(0.1, 0.1), random_state=1)
    found = check(dataset(pairs, X[order]))
    outlook = outlooks(found)
    assert outlook["joint"] == "works"
    assert outlook["weighted"] == outlook["correction"] == "fails"
    assert "Use JointPairClassifier" in found.methods[1].reason


def test_random_answers_are_not_identifiable():
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 40, (2, 100))
    pairs = Pairs(left, right, rng.random(100) < 0.5, 40).without_self_pairs()
    found = check(dataset(pairs, rng.normal(size=(40, 2))))
    assert outlooks(found)["joint"] == "fails"
    assert "say nothing about classes" in found.methods[0].reason


def test_expected_triangles_agree_with_enumeration():
    prior, noise = 0.3, PairingNoise(0.2, 0.1)
    n = 60
    left, right = np.triu_indices(n, 1)
    rng = np.random.default_rng(0)
    pairs = Pairs(left, right, rng.random(left.size) < 0.5, n)
    S, pi = noise.same_probability(2), np.array([1 - prior, prior])
    share = 0.0
    for a, b, c in product(range(2), repeat=3):
        one, two, three = S[a, b], S[b, c], S[a, c]
        two_same = one * two * (1 - three) + one * (1 - two) * three + (1 - one) * two * three
        share += pi[a] * pi[b] * pi[c] * two_same
    interval = Interval(prior, prior, prior)
    found = expected_triangles(pairs, pairs.audit(), noise, None, interval, seed=0)
    # The mean of twelve redrawn graphs, within three of its standard errors.
    assert found.expected == pytest.approx(share, abs=3 * found.spread / 12**0.5)
    assert found.closed == n * (n - 1) * (n - 2) // 6
    assert found.seen == pytest.approx(3 / 8, abs=0.02)  # coin tosses
    assert found.beyond == pytest.approx((found.seen - found.expected) / found.spread)


def test_rates_without_a_fit_come_from_repeats_or_known_classes():
    _, y, once = gaussians(0.3, 1500, PairingNoise(0.0, 0.0))
    rng = np.random.default_rng(0)
    said = np.where(rng.random((5, once.n_pairs)) < 0.1, ~once.same, once.same).ravel()
    pairs = Pairs(np.tile(once.left, 5), np.tile(once.right, 5), said, once.n_items)
    found = check(dataset(pairs, None), fit=False)
    assert found.noise.how == "repeated answers"
    assert found.noise.similar_flip.estimate == pytest.approx(0.1, abs=0.02)
    assert found.noise.prior.estimate == pytest.approx(max(y.mean(), 1 - y.mean()), abs=0.03)
    assert outlooks(found) == {"joint": "not tried", "weighted": "works", "correction": "works"}
    known = pairs.with_labels({k: int(y[k]) for k in range(len(y))})
    found = check(dataset(known, None), fit=False)
    assert found.noise.how == "items of known class"
    assert outlooks(check(dataset(pairs, None)))["joint"] == "works"  # from answers alone


def test_one_answer_per_pair_and_no_fit_says_why_there_is_no_noise():
    _, _, pairs = gaussians(0.3, 100, PairingNoise(0.1, 0.1))
    found = check(dataset(pairs.select(slice(0, 20)), None), fit=False)
    assert found.noise is None
    assert "asked" in found.no_noise
    assert outlooks(found)["weighted"] == "not tried"


def test_three_classes_are_beyond_pointwise_methods():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 75)
    X = 4 * np.eye(3)[y] + rng.normal(size=(75, 3))
    pairs = sample_pairs(y, 600, PairingNoise(0.1, 0.1), random_state=0)
    found = check(dataset(pairs, X), n_classes=3)
    assert outlooks(found) == {"joint": "works", "weighted": "fails", "correction": "fails"}
    assert found.noise.similar_flip.estimate == pytest.approx(0.1, abs=0.05)
    assert found.noise.signal is None
    assert not any("more than two classes" in problem for problem in found.problems)
    uncounted = check(dataset(pairs, X), fit=False)
    assert any("more than two classes" in problem for problem in uncounted.problems)
    with pytest.raises(ValueError, match="at least 2 classes"):
        check(dataset(pairs, X), n_classes=1)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        (Pairs([0, 1, 2], [1, 2, 0], [1, 1, 1]), "all answers are 'same'; nothing can be learnt"),
        (
            Pairs([0, 1, 2], [1, 2, 0], [0, 0, 0]),
            "all answers are 'different'; nothing can be learnt",
        ),
        (Pairs([0, 1, 2], [1, 2, 0], [1, 1, 0], n_items=5), "2 of 5 items were never compared"),
        (Pairs([0, 1, 3, 4], [1, 2, 4, 5], [1, 0, 1, 0]), "2 separate groups of items"),
        (Pairs([0, 2], [1, 3], [1, 0]), "2 answers for 4 items are too few"),
        (Pairs([0, 1, 2], [1, 2, 0], [1, 1, 0], annotator=["w"] * 3), "one source"),
    ],
)
def test_what_is_wrong_is_said(pairs, words):
    problems = check(dataset(pairs, None), fit=False).problems
    assert any(words in problem for problem in problems)


def test_dependent_answers_break_fewer_triangles_than_the_noise_predicts():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    said = np.where(rng.random(60) < 0.15, 1 - y, y)  # one error per item, repeated in every pair
    left, right = np.triu_indices(60, 1)
    pairs = Pairs(left, right, said[left] == said[right], 60).with_labels(dict(enumerate(y)))
    found = check(dataset(pairs, None), fit=False)
    assert found.triangles.seen == 0
    assert any("not independent" in problem for problem in found.problems)


def test_chosen_pairs_are_told_and_show_no_prior():
    X, y, drawn = gaussians(0.25, 1500, PairingNoise(0.1, 0.1), n=150)
    odd = sample_pairs(y, 3000, PairingNoise(0.1, 0.1), same_share=0.0, random_state=1)
    marked = drawn.with_answers(odd.left, odd.right, odd.same, chosen=np.ones(3000, bool))
    found = check(dataset(marked, X))
    assert any("3,000 of 4,500 pairs were chosen" in text for text in found.problems)
    assert not any("more than two classes" in text for text in found.problems)
    plain = check(dataset(drawn.with_answers(odd.left, odd.right, odd.same), None))
    assert any("more than two classes" in text for text in plain.problems)
    assert found.noise.prior.low < (y == 0).mean() < found.noise.prior.high


def test_rates_of_coin_flips_are_no_noise():
    """Every pair answered both ways: half of either kind is wrong, and nothing can be told."""
    left, right = np.triu_indices(20, 1)
    same = np.repeat([True, False], len(left))
    pairs = Pairs(np.tile(left, 2), np.tile(right, 2), same, 20)
    found = check(dataset(pairs, None), fit=False)
    assert found.noise is None
    assert "similar_flip=0.5 + dissimilar_flip=0.5 is at least 1" in (found.no_noise or "")
