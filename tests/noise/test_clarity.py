"""Hard items: one state more, its matrix and its M-step by hand, and on simulated crowds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score

from noisypairs import JointPairClassifier, PairingNoise, datasets, sample_pairs
from noisypairs.graph.propagation import Beliefs, PairGraph, propagate
from noisypairs.noise import Clarity
from noisypairs.noise.answers import Expectation
from noisypairs.noise.model import PSEUDO_ANSWERS

pytestmark = pytest.mark.filterwarnings("ignore::noisypairs.errors.ClassNamesWarning")
S = np.array([[0.9, 0.2], [0.2, 0.7]])
TABLE = np.stack([1 - S, S])


def test_matrix_and_mean_by_hand():
    part = Clarity(0.25, ((0.4, 0.6), (0.55, 0.45)))
    whole = np.array([[0.9, 0.2, 0.6], [0.2, 0.7, 0.6], [0.6, 0.6, 0.45]])
    assert_allclose(part.expand_response(TABLE), [1 - whole, whole])
    mean = 0.5625 * S + 0.375 * 0.6 + 0.0625 * 0.45
    assert_allclose(part.class_response(TABLE), [1 - mean, mean])
    assert part.strength == 0.25


def expectation(beliefs, same, different):
    graph = PairGraph.from_answers([0], [1], [True], n_items=len(beliefs))
    found = propagate(graph, np.log(beliefs), np.full((3, 3), 0.5))
    counts = np.stack([different, same], axis=1)
    return Expectation(graph, found, np.full((1, 2, 3, 3), 0.5), beliefs[:, :2], counts)


def test_the_m_step_counts():
    beliefs = np.array([[0.5, 0.2, 0.3], [0.1, 0.1, 0.8], [0.6, 0.3, 0.1]])
    same, different = np.random.default_rng(0).uniform(0, 9, (2, 1, 3, 3))
    same, different = (count + count.swapaxes(1, 2) for count in (same, different))
    seen = expectation(beliefs, same, different)
    part = Clarity(0.1, ((0.5, 0.5), (0.5, 0.5))).fit(seen, TABLE)
    hard = seen.beliefs.item[:, 2]
    information = sum((p / 0.1 - (1 - p) / 0.9) ** 2 for p in hard)
    assert part.hard_share == pytest.approx(hard.mean() - 1 / (hard.mean() * information))
    one = 2 * same[0, :2, 2].sum(), 2 * different[0, :2, 2].sum()
    both = same[0, 2, 2], different[0, 2, 2]
    for (_, rate), (yes, no) in zip(part.levels, (one, both), strict=True):
        assert rate == pytest.approx((yes + PSEUDO_ANSWERS / 2) / (yes + no + PSEUDO_ANSWERS))


def test_less_than_one_item_is_none():
    beliefs = np.array([[0.5, 0.2, 0.3], [0.6, 0.3, 0.1], [0.7, 0.2, 0.1]])
    seen = expectation(beliefs, np.ones((1, 3, 3)), np.ones((1, 3, 3)))
    assert isinstance(seen.beliefs, Beliefs)
    assert seen.beliefs.item[:, 2].sum() < 1
    assert Clarity(0.1, ((0.5, 0.5), (0.5, 0.5))).fit(seen, TABLE).strength == 0.0


def known_classes(hard_share, seed=0):
    """Return pairs of items of known class, some hard, what propagation sees, and who is hard."""
    rng = np.random.default_rng(seed)
    y, hard = rng.integers(2, size=300), rng.random(300) < hard_share
    pairs = sample_pairs(y, 4500, PairingNoise(0.1, 0.1), random_state=seed)
    coin = hard[pairs.left] | hard[pairs.right]
    said = np.where(coin, rng.random(4500) < 0.4, pairs.same)
    pairs = type(pairs)(pairs.left, pairs.right, said, 300)
    phi = np.where(np.eye(2, dtype=bool)[y], 0.95, 0.05)
    matrix, graph = PairingNoise(0.15, 0.15).same_probability(2), PairGraph.from_pairs(pairs)
    beliefs = propagate(graph, np.log(phi), matrix)
    table = np.stack([1 - matrix, matrix])[None]
    return pairs, Expectation(graph, beliefs, table, phi, np.zeros((1, 2, 2, 2)))


def test_the_start_finds_the_share_and_the_rate():
    for share in (0.1, 0.3):
        pairs, seen = known_classes(share)
        part = Clarity.begin(pairs, None, seen)
        assert part.hard_share == pytest.approx(share, abs=0.06)
        assert part.levels[0][1] == pytest.approx(0.4, abs=0.05)


def test_where_no_item_is_hard_there_is_no_part():
    found = [Clarity.begin(*_plain(seed)) for seed in range(10)]
    assert sum(part is None for part in found) >= 8
    assert max(0.0 if part is None else part.hard_share for part in found) < 0.02
    assert Clarity.begin(known_classes(0.3)[0], None, None) is None  # nothing was found yet


def _plain(seed):
    pairs, seen = known_classes(0.0, seed)
    return pairs, None, seen


def crowd(**effects):
    settings = {"similar_flip": 0.1, "dissimilar_flip": 0.1, "spread": 0.0, "lean": 0.0}
    return datasets.simulated_crowd(200, 3, 20, 25, 0.0, random_state=1, **settings, **effects)


def learner(**settings):
    settings = {"answer_model": ["clarity", "pair error"]} | settings
    return JointPairClassifier(random_state=0, **settings)


def test_plain_problems_have_no_hard_items():
    """A share cannot be negative, so half of them would have one of chance size if not shrunk."""
    found = 0
    for seed in range(6):
        X, y = datasets.load("gaussians", n_samples=400, prior=0.5, random_state=seed)
        pairs = sample_pairs(y, 3200, PairingNoise(0.25, 0.25), random_state=seed)
        found += "clarity" in learner(n_classes=2).fit(X, pairs).parts_
    assert found <= 1


def test_a_learner_finds_hard_items_and_their_classes_by_features():
    found = crowd(hard_share=0.2)
    clf = learner(n_classes=3).fit(found.data, found.pairs)
    assert "clarity" in clf.parts_
    assert clf.item_hard_.mean() == pytest.approx(0.2, abs=0.06)
    assert roc_auc_score(found.hard, clf.item_hard_) > 0.95
    without = learner(n_classes=3, answer_model=["pair error"]).fit(found.data, found.pairs)
    assert without.parts_ in ((), ("pair error",))
    assert without.item_hard_ is None


def test_a_rare_class_is_not_taken_for_hard_items():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [90, 90, 20])
    X = 4.0 * np.eye(3)[y] + rng.standard_normal((200, 3))
    pairs = sample_pairs(y, 4000, PairingNoise(0.2, 0.2), random_state=0)
    clf = learner(n_classes=(2, 3, 4)).fit(X, pairs)
    assert clf.n_classes_ == 3
    assert "clarity" not in clf.parts_ or clf.answer_model_.part("clarity").hard_share < 0.02
