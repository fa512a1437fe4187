"""Ratio 8: what judging annotators costs, and how it grows with the answers."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from noisypairs import Pairs, datasets
from noisypairs.annotators.crowd import judge_crowd

N_ANNOTATORS, PER_ITEM, N_CLASSES = 176, 20, 3
N_COLUMNS, NEAR = 60, 0.5
SIZES, QUICK_SIZES = (5_000, 25_000, 100_000), (1_000, 2_000)
#: Answers on a candidate pair, candidates for a record, and the share of them that match.
VOTES, CANDIDATES, MATCHES = 3, 7.7, 0.12


def classes(n_answers: int) -> tuple[np.ndarray, Pairs]:
    """Return items of three classes and one answer on each pair, by a crowd like a real one."""
    crowd = datasets.simulated_crowd(
        n_answers // PER_ITEM, N_CLASSES, N_ANNOTATORS, PER_ITEM, random_state=0
    )
    return crowd.data, crowd.pairs


def records(n_answers: int) -> tuple[np.ndarray, Pairs]:
    """Return records of two lists to link, and three people's answers on each candidate pair."""
    rng = np.random.default_rng(0)
    n_pairs = n_answers // VOTES
    size = round(n_pairs / CANDIDATES)
    matches = np.tile(rng.permutation(size)[: round(MATCHES * n_pairs)], (2, 1)).T
    others = rng.integers(size, size=(2 * n_pairs, 2))
    others = others[others[:, 0] != others[:, 1]][: n_pairs - len(matches)]
    ends = np.concatenate([matches, others])
    share = rng.lognormal(0.0, 1.2, N_ANNOTATORS)
    luck = np.log(share) + rng.gumbel(size=(len(ends), N_ANNOTATORS))
    who = np.argsort(-luck, axis=1)[:, :VOTES].ravel()
    rates = rng.beta(2, 8, (N_ANNOTATORS, 2))
    match = np.repeat(ends[:, 0] == ends[:, 1], VOTES)
    same = rng.random(len(match)) < np.where(match, 1.0 - rates[who, 0], rates[who, 1])
    left, right = np.repeat(ends, VOTES, axis=0).T
    pairs = Pairs(left, right + size, same, n_items=2 * size, annotator=who)
    X = np.tile(rng.normal(size=(size, N_COLUMNS)), (2, 1))
    return X + NEAR * rng.normal(size=X.shape), pairs


def cost_of_annotators(quick: bool) -> dict[str, Any]:
    """Time `judge_crowd`, as the command calls it, on classes and records, with features or not.

    Processor seconds. The growth is the time of the largest size over that of the smallest, over
    the ratio of sizes.
    """
    sizes = QUICK_SIZES if quick else SIZES
    found: dict[str, Any] = {"annotators": N_ANNOTATORS}
    for name, draw in (("classes", classes), ("records", records)):
        for features in (False, True):
            taken = {}
            for size in sizes:
                X, pairs = draw(size)
                given = X if features else None
                taken[str(size)] = _judge(pairs, given)
            first, *_, last = taken.values()
            growth = last / first / (sizes[-1] / sizes[0])
            kind = f"{name}, {'with' if features else 'no'} features"
            found[kind] = {"processor_seconds": taken, "growth_over_that_of_answers": growth}
    return found


def _judge(pairs: Pairs, X: np.ndarray | None) -> float:
    """Return the processor seconds of a crowd's table."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judge_crowd(pairs, X, n_classes="auto", random_state=0)
    return time.process_time() - start
