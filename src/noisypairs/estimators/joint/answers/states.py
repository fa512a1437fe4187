"""States of items, classes that are clear or hard, in the loop of the joint learner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from noisypairs.algebra import Array
from noisypairs.inference import em
from noisypairs.noise.clarity import (
    FIRST_SHARE,
    ClarityNoise,
    hard_probability,
    with_clarity,
    without_clarity,
)


def clear_or_hard(learner: em.Potential, clamp: Mapping[int, int] | None = None) -> em.Potential:
    """Return potentials of 2K states, from those of K classes and the share of hard items.

    Known classes stay known; whether such an item is clear or hard does not follow from them.
    """

    def potential(beliefs: Array) -> Array:
        phi = learner(without_clarity(beliefs))
        for item, known in (clamp or {}).items():
            phi[item] = np.eye(phi.shape[1])[known]
        hard = float(hard_probability(beliefs).sum())
        share = (hard + 1.0) / (len(beliefs) + 1.0 / FIRST_SHARE)
        return with_clarity(phi, share)

    return potential


def folded(found: em.Inference) -> em.Inference:
    """Return an inference of 2K states as one of K classes; its messages do not follow."""
    if not isinstance(found.noise, ClarityNoise):
        return found
    beliefs = found.beliefs
    item = without_clarity(beliefs.item)
    log_item = np.log(np.maximum(item, np.finfo(float).tiny))
    return replace(
        found,
        beliefs=replace(beliefs, item=item, log_item=log_item),
        potential=without_clarity(found.potential),
    )
