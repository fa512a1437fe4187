"""Quick answers, and people who err alike; errors by feature are tested with the crowd."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import Pairs
from noisypairs.annotators.crowd import judge_crowd
from noisypairs.annotators.errors import groups_who_err_alike, quick_answers


def crowd(seed: int, copied: bool = False, hard: bool = False):
    """Return pairs answered by five of twelve people, and which answers are wrong."""
    rng = np.random.default_rng(seed)
    y, left = rng.integers(0, 2, 80), rng.integers(0, 80, 300)
    right = (left + rng.integers(1, 80, 300)) % 80
    rate = rng.uniform(0.05, 0.4, 12)
    least = np.where(rng.random(300) < 0.2, 0.5, 0.0) if hard else np.zeros(300)
    who = np.array([rng.choice(12, 5, replace=False) for _ in range(300)])
    wrong = rng.random((300, 5)) < np.maximum(rate[who], least[:, None])
    if copied:  # person 1 looks at what person 0 says
        for k in np.flatnonzero((who == 0).any(axis=1) & (who == 1).any(axis=1)):
            wrong[k, who[k] == 1] = wrong[k, who[k] == 0]
    left, right, who, wrong = left.repeat(5), right.repeat(5), who.ravel(), wrong.ravel()
    same = (y[left] == y[right]) ^ wrong
    return Pairs(left, right, same, 80, annotator=who), wrong.astype(float)


def test_plain_crowds_show_no_group_whether_pairs_are_hard_or_people_careless():
    found = [bool(groups_who_err_alike(*crowd(seed, hard=seed % 2 > 0))) for seed in range(12)]
    assert sum(found) <= 1  # at one in a hundred each, two of twelve have a chance of .006


def test_people_who_copy_are_a_group():
    found = [groups_who_err_alike(*crowd(seed, copied=True)) for seed in range(4)]
    assert sum((0, 1) in [group.names for group in groups] for groups in found) >= 3
    inferred = [judge_crowd(crowd(seed, copied=True)[0]).alike for seed in range(4)]
    groups = [group for groups in inferred for group in groups]
    assert sum(group.names == (0, 1) and group.correlation > 0.5 for group in groups) >= 3


def test_few_common_pairs_show_nothing():
    pairs, wrong = crowd(0, copied=True)
    some = np.arange(pairs.n_pairs) < 100
    assert groups_who_err_alike(pairs.select(some), wrong[some]) == []
    single = Pairs([0, 1], [1, 2], [True, False], annotator=["a", "b"])
    assert groups_who_err_alike(single, np.zeros(2)) == []


def test_quick_answers_by_counting():
    pairs, wrong = crowd(1)
    who = pairs.annotator
    seconds = np.where(who == 3, 0.2, 2.0 + np.arange(pairs.n_pairs) / pairs.n_pairs)
    seconds[who == 5] = np.nan
    found = quick_answers(pairs, wrong, seconds)
    assert found.limit == pytest.approx(min(0.5, 0.2 * np.nanmedian(seconds)))
    assert [found.shares[r] for r in (0, 3, 5)] == [0.0, 1.0, None]
    known = np.flatnonzero(np.isfinite(seconds))
    order = known[np.argsort(seconds[known], kind="stable")]
    quarter = len(order) // 4
    assert found.quickest.estimate == pytest.approx(wrong[order[:quarter]].mean())
    assert found.rest.estimate == pytest.approx(wrong[order[quarter:]].mean())
    assert quick_answers(pairs, wrong, np.full(pairs.n_pairs, np.nan)) is None
    whole = judge_crowd(pairs, seconds=seconds)
    assert whole.to_records()[3]["too_quick"] == 1.0
    assert whole.to_dict()["quick"]["limit_seconds"] == found.limit
