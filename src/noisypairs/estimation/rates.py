"""The rates, from gold pairs (both classes known) or from pairs that were asked several times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.algebra import Array
from noisypairs.errors import NotIdentifiable
from noisypairs.estimation.interval import Interval, checked_level, wilson
from noisypairs.noise import PairingNoise, RandomState
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import weights_of
from noisypairs.pairs.pairs import keys_of

#: Log-likelihood that two further parameters gain by chance at the 1 % level, χ²₂(.99)/2.
ONE_KIND = 4.6


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
    weight = weights_of(pairs) * both
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
    low, high = np.quantile(values[1:], [(1 - checked_level(level)) / 2, (1 + level) / 2])
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
    which, weight = np.unique(keys_of(pairs), return_inverse=True)[1], weights_of(pairs)
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
