"""The prior and the noise rates from data: estimates, intervals, or the reason why there are none.

What can be learnt from what:

* the prior, from the share of "same" among pairs drawn at random, when the noise is known;
* the rates, from gold pairs (both classes known) or from pairs that were asked several times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from noisypairs import algebra
from noisypairs.algebra import Array
from noisypairs.errors import NotIdentifiable
from noisypairs.noise import NoiseModel, PairingNoise, RandomState
from noisypairs.pairs import Pairs

#: Log-likelihood that two further parameters gain by chance at the 1 % level, χ²₂(.99)/2.
ONE_KIND = 4.6


@dataclass(frozen=True)
class Interval:
    """An estimate with the limits of its confidence interval, which holds with ``level``.

    >>> found = Interval(0.3, 0.25, 0.36)
    >>> print(found, 0.28 in found)
    0.300 [0.250, 0.360] True
    """

    estimate: float
    low: float
    high: float
    level: float = 0.95

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True)
class PriorEstimate:
    """Every prior that explains the share of "same", in rising order, each with its interval.

    ``roots`` are the priors, ``same_share`` is the share of "same", ``noise`` the noise assumed.

    >>> from noisypairs import Pairs
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


@dataclass(frozen=True)
class RateEstimate:
    """Estimated rates of pairing noise: ρ_S = P("different" | same), ρ_D = P("same" | different).

    ``same_share`` is the estimated share of truly same pairs among those looked at.

    >>> half = Interval(0.1, 0.05, 0.15)
    >>> RateEstimate(half, half, same_share=0.5).noise()
    PairingNoise(similar_flip=0.1, dissimilar_flip=0.1)
    """

    similar_flip: Interval
    dissimilar_flip: Interval
    same_share: float

    def noise(self) -> PairingNoise:
        """Return the noise model with these rates."""
        return PairingNoise(self.similar_flip.estimate, self.dissimilar_flip.estimate)


def wilson(successes: float, trials: float, level: float = 0.95) -> Interval:
    """Return Wilson's interval for a binomial proportion.

    >>> print(wilson(8, 10))
    0.800 [0.490, 0.943]
    """
    if not 0 <= successes <= trials or trials <= 0:
        raise ValueError(f"{successes} successes of {trials} trials is not a proportion")
    z2 = float(stats.norm.ppf(0.5 + _checked_level(level) / 2)) ** 2
    share = successes / trials
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = np.sqrt(z2 * (share * (1 - share) + z2 / (4 * trials)) / trials) / (1 + z2 / trials)
    return Interval(share, max(float(centre - half), 0.0), min(float(centre + half), 1.0), level)


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
    weight = pairs.weights
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
    drawn = pairs.drawn_at_random()
    if drawn.n_pairs == 0 and pairs.n_pairs > 0:
        raise NotIdentifiable(
            f"all {pairs.n_pairs:,} pairs were chosen, none was drawn at random: {what} says "
            "nothing about all items. Ask some pairs at random (next_pairs draws a share of them), "
            "or give the prior"
        )
    return drawn


def dyadic_mean(pairs: Pairs, values: Array, level: float = 0.95) -> tuple[float, float, float]:
    """Return (mean, low, high) of one value per answer, where answers that share an item depend.

    Var = Σ r_e r_f / n² over all answers e, f that share an item, = (Σ_i r_i² − Σ_p r_p²)/n² with
    the residuals summed over the answers about item i and about the two items p, which share two.
    (Resampling items would count the error of every answer three times on a sparse graph.) Self
    pairs do not count.

    >>> dyadic_mean(Pairs([0, 1], [1, 2], [1, 0]), np.array([1.0, 1.0]))
    (1.0, 1.0, 1.0)
    """
    weight = np.where(pairs.left == pairs.right, 0.0, pairs.weights)
    total = float(weight.sum())
    if total == 0:
        raise ValueError("there are no pairs of two distinct items to judge by")
    mean = float(weight @ values) / total
    residual = weight * (values - mean)
    per_item = np.bincount(pairs.left, residual, pairs.n_items)
    per_item = per_item + np.bincount(pairs.right, residual, pairs.n_items)
    per_pair = np.bincount(np.unique(pairs.pair_keys, return_inverse=True)[1], residual)
    within = float(per_pair @ per_pair)
    error = np.sqrt(max(float(per_item @ per_item) - within, within)) / total
    half = float(stats.norm.ppf(0.5 + _checked_level(level) / 2) * error)
    return mean, mean - half, mean + half


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


def rates_from_gold(
    pairs: Pairs, classes: Mapping[int, object] | ArrayLike | None = None, *, level: float = 0.95
) -> RateEstimate:
    """Return the rates from pairs of items whose classes are known, by counting.

    ``classes`` maps items to classes, or holds one class per item; by default ``pairs.labels``.

    >>> pairs = Pairs([0, 0, 1], [1, 2, 2], [True, True, False])
    >>> print(rates_from_gold(pairs, ["a", "a", "b"]).dissimilar_flip)
    0.500 [0.095, 0.905]
    """
    known = _gold(pairs, classes)
    both = (known[pairs.left] >= 0) & (known[pairs.right] >= 0) & (pairs.left != pairs.right)
    truth = known[pairs.left] == known[pairs.right]
    weight = pairs.weights * both
    counts = [
        (float(weight[truth & ~pairs.same].sum()), float(weight[truth].sum())),
        (float(weight[~truth & pairs.same].sum()), float(weight[~truth].sum())),
    ]
    for (_, trials), kind in zip(counts, ("same", "different"), strict=True):
        if trials == 0:
            raise NotIdentifiable(
                f"no pair of two items known to be of {kind} class: the rate of errors on such "
                "pairs cannot be counted. Give the classes of more items"
            )
    similar, dissimilar = (wilson(wrong, trials, level) for wrong, trials in counts)
    return RateEstimate(similar, dissimilar, counts[0][1] / (counts[0][1] + counts[1][1]))


def rates_from_repeats(
    pairs: Pairs,
    *,
    equal_rates: bool = False,
    level: float = 0.95,
    n_bootstrap: int = 400,
    random_state: RandomState = 0,
) -> RateEstimate:
    """Return the rates from pairs that were asked several times, with no truth at all.

    A truly same pair gets k "same" of m answers with Binomial(m, 1−ρ_S), a different one with
    Binomial(m, ρ_D): a mixture of two binomials, fitted by EM, the component with more "same"
    being the same pairs. Two answers per pair identify one common rate only
    (``equal_rates=True``); two rates need pairs with three answers or more. Intervals by
    bootstrap over distinct pairs. Assumes that the answers to one pair err independently.

    >>> from noisypairs import PairingNoise, sample_pairs
    >>> once = sample_pairs([1] * 30 + [0] * 70, 2000, PairingNoise(0.0, 0.0), random_state=0)
    >>> rng = np.random.default_rng(0)
    >>> answers = np.where(rng.random((5, 2000)) < 0.1, ~once.same, once.same)
    >>> asked = [np.tile(once.left, 5), np.tile(once.right, 5), answers.ravel()]
    >>> print(rates_from_repeats(Pairs(*asked)).similar_flip)
    0.101 [0.093, 0.108]
    """
    asked, yes, count = _repeat_table(pairs)
    enough = 2 if equal_rates else 3
    if not (asked >= enough).any():
        raise NotIdentifiable(
            f"no pair was asked {enough} times or more, so "
            f"{'a common rate' if equal_rates else 'two separate rates'} cannot be estimated from "
            "repeats. " + ("" if equal_rates else "With two answers per pair use equal_rates=True")
        )
    if n_bootstrap < 1:
        raise ValueError(f"n_bootstrap={n_bootstrap!r}: expected a positive whole number")
    rng = np.random.default_rng(random_state)
    resampled = rng.multinomial(int(count.sum()), count / count.sum(), size=n_bootstrap)
    weights = np.vstack([count, resampled]).astype(float)
    similar, dissimilar, share = _binomial_mixture(asked, yes, weights, equal_rates)
    if not equal_rates:
        _require_two_kinds(asked, yes, count, (similar[:1], dissimilar[:1], share[:1]))
    return RateEstimate(
        _quantile_interval(similar, level), _quantile_interval(dissimilar, level), float(share[0])
    )


def _require_two_kinds(
    asked: NDArray[np.int64],
    yes: NDArray[np.int64],
    count: NDArray[np.int64],
    fitted: tuple[Array, Array, Array],
) -> None:
    """Raise unless the mixture beats one binomial: else one rate is about pairs never seen."""
    similar, dissimilar, share = fitted
    alone = np.clip([float(count @ yes) / float(count @ asked)], 1e-9, 1 - 1e-9)
    two = np.logaddexp(
        np.log(share)[:, None] + _log_binomial(yes, asked - yes, 1 - similar),
        np.log1p(-share)[:, None] + _log_binomial(yes, asked - yes, dissimilar),
    )
    gained = float(((two - _log_binomial(yes, asked - yes, alone)) @ count)[0])
    if gained < ONE_KIND:
        raise NotIdentifiable(
            f"the repeated answers look like one kind of pair ({alone[0]:.1%} 'same' each): there "
            "are no same or no different pairs among them, or answers that do not depend on the "
            "truth. Add pairs of the other kind, or use equal_rates=True"
        )


def _quantile_interval(values: Array, level: float) -> Interval:
    """Return the first value with the quantiles of the others, its bootstrap replicates."""
    low, high = np.quantile(values[1:], [(1 - _checked_level(level)) / 2, (1 + level) / 2])
    return Interval(float(values[0]), float(low), float(high), level)


def _binomial_mixture(
    asked: NDArray[np.int64], yes: NDArray[np.int64], weights: Array, equal_rates: bool
) -> tuple[Array, Array, Array]:
    """Fit the two-binomial mixture by EM to every row of ``weights`` at once: (ρ_S, ρ_D, share).

    ``weights`` has shape (B, cells): how many pairs were asked ``asked`` times with ``yes`` "same".
    """
    B = len(weights)
    similar, dissimilar, share = np.full(B, 0.2), np.full(B, 0.2), np.full(B, 0.5)
    no = asked - yes
    for _ in range(2000):
        log_same = np.log(share)[:, None] + _log_binomial(yes, no, 1 - similar)
        log_diff = np.log1p(-share)[:, None] + _log_binomial(yes, no, dissimilar)
        is_same = weights / (1.0 + np.exp(log_diff - log_same))
        is_diff = weights - is_same
        wrong_same, wrong_diff = is_same @ no, is_diff @ yes
        answers_same, answers_diff = is_same @ asked, is_diff @ asked
        if equal_rates:
            common = (wrong_same + wrong_diff) / (answers_same + answers_diff)
            new = (common, common)
        else:
            new = (_share(wrong_same, answers_same), _share(wrong_diff, answers_diff))
        moved = max(np.abs(new[0] - similar).max(), np.abs(new[1] - dissimilar).max())
        similar, dissimilar = (np.clip(rate, 1e-9, 1 - 1e-9) for rate in new)
        share = np.clip(_share(is_same.sum(axis=1), weights.sum(axis=1)), 1e-9, 1 - 1e-9)
        if moved < 1e-8:
            break
    return similar, dissimilar, share


def _log_binomial(yes: NDArray[np.int64], no: NDArray[np.int64], chance: Array) -> Array:
    log_chance: Array = np.log(chance)[:, None] * yes + np.log1p(-chance)[:, None] * no
    return log_chance


def _share(part: Array, whole: Array) -> Array:
    share: Array = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return share


def _repeat_table(
    pairs: Pairs,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return (asked, yes, how many distinct pairs) over the distinct values of (asked, yes)."""
    pairs = pairs.without_self_pairs()
    if pairs.weight is not None and not (pairs.weight == np.round(pairs.weight)).all():
        raise ValueError("repeats are counted: weights must be whole numbers of answers here")
    which, weight = np.unique(pairs.pair_keys, return_inverse=True)[1], pairs.weights
    asked = np.bincount(which, weight).round().astype(np.int64)
    yes = np.bincount(which, weight * pairs.same).round().astype(np.int64)
    cells, count = np.unique(np.stack([asked, yes]), axis=1, return_counts=True)
    return cells[0], cells[1], count.astype(np.int64)


def _gold(pairs: Pairs, classes: Mapping[int, object] | ArrayLike | None) -> NDArray[np.int64]:
    """Return a class code per item, −1 where unknown."""
    given = pairs.labels if classes is None else classes
    known = np.full(pairs.n_items, -1, dtype=np.int64)
    if isinstance(given, Mapping):
        if given:
            items = np.fromiter(given.keys(), dtype=np.int64)
            if items.min() < 0 or items.max() >= pairs.n_items:
                raise ValueError(f"classes name items outside 0..{pairs.n_items - 1}")
            known[items] = np.unique(np.array(list(given.values())), return_inverse=True)[1]
        return known
    values = np.asarray(given)
    if values.shape != (pairs.n_items,):
        raise ValueError(f"classes has shape {values.shape}, expected ({pairs.n_items},)")
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _checked_level(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level={level!r}: expected a number strictly between 0 and 1")
    return level
