"""The prior, from the share of "same" among pairs drawn at random, when the noise is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from noisypairs import algebra
from noisypairs.errors import NotIdentifiable
from noisypairs.estimation.interval import Interval, dyadic_mean, wilson
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import weights_of
from noisypairs.pairs.pairs import drawn_at_random


@dataclass(frozen=True)
class PriorEstimate:
    """Every prior that explains the share of "same", in rising order, each with its interval.

    ``roots`` are the priors, ``same_share`` is the share of "same", ``noise`` the noise assumed.

    >>> from noisypairs import PairingNoise, Pairs
    >>> pairs = Pairs(range(50), range(50, 100), [1] * 34 + [0] * 16)
    >>> [round(root.estimate, 2) for root in estimate_prior(pairs, PairingNoise(0.0, 0.0)).roots]
    [0.2, 0.8]
    """

    roots: tuple[Interval, ...]
    same_share: Interval
    noise: NoiseModel

    def choose(self, positive: Literal["minority", "majority"]) -> Interval:
        """Return the root in which class 1 is the smaller ("minority") or the larger one.

        If there is only one root, that one.
        """
        if positive not in ("minority", "majority"):
            raise ValueError(f"positive={positive!r}: expected 'minority' or 'majority'")
        return self.roots[0] if positive == "minority" else self.roots[-1]

    @property
    def touches_one_half(self) -> bool:
        """Whether the data allow a − b = 0, where point-wise methods see nothing."""
        return self.same_share.low <= algebra.flattest_prior(self.noise.same_probability())[1]


def estimate_prior(
    pairs: Pairs,
    noise: NoiseModel,
    *,
    level: float = 0.95,
    interval: Literal["wilson", "items"] = "wilson",
) -> PriorEstimate:
    """Solve P(same) = πᵀ S π for the binary prior, with both roots and their intervals.

    Only pairs drawn at random count (`Pairs.chosen`). The limits of each root are the roots at the
    limits of the share of "same"; where a limit lies below what any prior can give, the interval
    ends at the flattest prior (½ under pairing noise).

    >>> from noisypairs import PairingNoise, sample_pairs
    >>> y = [1] * 300 + [0] * 700
    >>> noise = PairingNoise(0.1, 0.2)
    >>> pairs = sample_pairs(y, 50_000, noise, random_state=0)
    >>> print(estimate_prior(pairs, noise).choose("minority"))
    0.299 [0.292, 0.307]
    """
    S = noise.same_probability()
    share = same_share(pairs, level=level, interval=interval)
    flattest, lowest = algebra.flattest_prior(S)
    if share.high < lowest:
        raise NotIdentifiable(
            f"{share.estimate:.1%} of the answers are 'same', but under {noise} two classes give "
            f"at least {lowest:.1%} whatever the prior: there are more than two classes, or the "
            "pairs were not drawn at random, or the rates are wrong. Give the prior yourself"
        )
    points = (share.estimate, share.low, share.high)
    branches = np.array([algebra.prior_branches(S, point) for point in points])  # (3, 2)
    branches = np.where(np.isnan(branches), flattest, branches)
    roots = []
    for centre, at_low, at_high in branches.T:
        low, high = min(at_low, at_high), max(at_low, at_high)
        if high >= 0 and low <= 1:
            limits = np.clip([centre, low, high], 0.0, 1.0).tolist()
            roots.append(Interval(limits[0], limits[1], limits[2], level))
    if not roots:
        raise NotIdentifiable(
            f"{share.estimate:.1%} of the answers are 'same', more than {noise} allows for any "
            "prior: the rates are too large for these pairs. Give smaller rates, or the prior"
        )
    return PriorEstimate(tuple(roots), share, noise)


def same_share(
    pairs: Pairs, *, level: float = 0.95, interval: Literal["wilson", "items"] = "wilson"
) -> Interval:
    """Return the share of "same" answers with an interval; self pairs do not count.

    Nor do chosen pairs: only those drawn at random show how often two items are the same.

    ``"wilson"`` speaks about these items: only answers and choice of pairs are random.
    ``"items"`` speaks about the population the items were drawn from, see `dyadic_mean`.

    >>> print(same_share(Pairs([0, 1, 2], [1, 2, 0], [True, False, True])))
    0.667 [0.208, 0.939]
    """
    pairs = random_answers(pairs.without_self_pairs(), "their share of 'same'")
    if pairs.n_pairs == 0:
        raise ValueError("there are no pairs, so there is no share of 'same' answers")
    weight = weights_of(pairs)
    total = float(weight.sum())
    yes = float(weight[pairs.same].sum())
    if interval == "wilson":
        return wilson(yes, total, level)
    if interval != "items":
        raise ValueError(f"interval={interval!r}: expected 'wilson' or 'items'")
    share, low, high = dyadic_mean(pairs, pairs.same.astype(float), level)
    return Interval(share, max(low, 0.0), min(high, 1.0), level)


def random_answers(pairs: Pairs, what: str) -> Pairs:
    """Return the answers about pairs drawn at random; refuse where every pair was chosen.

    ``what`` of chosen pairs says nothing, for the message.

    >>> random_answers(Pairs([0, 1], [1, 2], [1, 0], chosen=[1, 0]), "their share").n_pairs
    1
    """
    drawn = drawn_at_random(pairs)
    if drawn.n_pairs == 0 and pairs.n_pairs > 0:
        raise NotIdentifiable(
            f"all {pairs.n_pairs:,} pairs were chosen, none was drawn at random: {what} says "
            "nothing about all items. Ask some pairs at random (next_pairs draws a share of them), "
            "or give the prior"
        )
    return drawn
