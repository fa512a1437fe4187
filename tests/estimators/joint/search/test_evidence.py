"""When answers say nothing about classes, and when they say it plainly."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import LabelingNoise, NotIdentifiable, NotIdentifiableWarning, Pairs
from noisypairs.estimators.joint.beliefs.alignment import Alignment
from noisypairs.estimators.joint.search.evidence import PLAIN_EVIDENCE, clear_gain, is_plain
from tests.estimators.joint.builders import overlapping, search


def test_random_answers_are_refused():
    reasons = []
    for seed in range(6):
        X, _, pairs = overlapping(n=120, n_pairs=300, seed=seed)
        same = np.random.default_rng(seed).random(300) < 0.5
        one = search(X, Pairs(pairs.left, pairs.right, same, n_items=120))
        found = one.choose_classes([2])
        try:
            one.require_evidence(found)
        except (NotIdentifiable, NotIdentifiableWarning) as reason:
            reasons.append(reason)
    assert sum(isinstance(reason, NotIdentifiable) for reason in reasons) >= 4
    assert all("shuffled answers reach" in str(reason) for reason in reasons)
    assert all("standard deviations beyond chance" in str(reason) for reason in reasons)


def test_weak_answers_that_follow_the_features_are_not_refused():
    X, _, pairs = overlapping(1500, 3000, LabelingNoise(0.25, 0.25))
    one = search(X, pairs)
    one.require_evidence(one.choose_classes([2]))  # neither an error nor a warning


def test_a_sign_in_the_features_is_evidence_enough_and_none_at_all_is_refused(monkeypatch):
    X, _, pairs = overlapping(n=200, n_pairs=400)
    same = np.random.default_rng(0).random(400) < 0.5
    one = search(X, Pairs(pairs.left, pairs.right, same, n_items=200), kinds=("aligned",))
    found = one.choose_classes([2])
    monkeypatch.setattr(Alignment, "excess", lambda *_: 4.0)
    with pytest.warns(NotIdentifiableWarning, match="expect little"):
        one.require_evidence(found)
    monkeypatch.setattr(Alignment, "excess", lambda *_: 0.0)
    with pytest.raises(NotIdentifiable, match="say nothing about classes"):
        one.require_evidence(found)


def test_evidence_is_plain_from_so_many_nats_per_item_on():
    X, _, pairs = overlapping(n=100, n_pairs=1000)
    one = search(X, pairs)
    found, gain = one.choose_classes([2]), PLAIN_EVIDENCE * 100
    assert is_plain(one.problem, found) == (one.problem.gain(found) > gain)
    assert is_plain(one.problem, found)
    few = search(X, pairs.select(np.arange(60)))
    assert not is_plain(few.problem, few.choose_classes([2]))


def test_a_clear_gain_grows_with_the_items_and_is_never_small():
    X, _, pairs = overlapping(n=100, n_pairs=200)
    assert clear_gain(search(X, pairs).problem, 10) == 30.0
    X, _, pairs = overlapping(n=1000, n_pairs=2000)
    assert clear_gain(search(X, pairs).problem, 10) == 60.0
