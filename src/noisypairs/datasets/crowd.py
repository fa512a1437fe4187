"""A simulated crowd of unequal annotators, and all that makes real ones answer as they do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from noisypairs.datasets.simulated import at_least, generator
from noisypairs.noise import RandomState
from noisypairs.pairs import Pairs

if TYPE_CHECKING:
    from sklearn.utils import Bunch

Rates = NDArray[np.float64]
Mask = NDArray[np.bool_]

BAD_KINDS = ("spammer", "always-same", "always-different", "reversed")
# Spread of the logarithm of an annotator's share of the answers: the busiest tenth gives 39 %.
TAIL = 1.0
# Log-odds of somebody who always gives the same answer.
CERTAIN = 40.0


def simulated_crowd(
    n_items: int = 500,
    n_classes: int = 3,
    n_annotators: int = 300,
    pairs_per_item: float = 20,
    spammer_share: float = 0.1,
    *,
    similar_flip: float = 0.33,
    dissimilar_flip: float = 0.27,
    spread: float = 0.45,
    lean: float = 0.25,
    separation: float = 4.5,
    prior: ArrayLike | None = None,
    bias_spread: float = 0.0,
    skill_spread: float = 0.0,
    hard_share: float = 0.0,
    kinds_per_class: int = 1,
    n_confused: int = 0,
    slope: float = 0.0,
    random_state: RandomState = None,
) -> Bunch:
    """Draw items, pairs and the answers of annotators, each with error rates of their own.

    An honest annotator has ρ_S = similar_flip · h · (1+t) and ρ_D = dissimilar_flip · h · (1−t),
    with h uniform on 1 ± spread (skill) and t uniform on ±lean (towards "same" or "different"), so
    the two parameters are the means over honest annotators. Of all annotators ``spammer_share``
    (rounded) are not honest, in equal parts: a spammer tosses a coin (½, ½), always-same has
    (0, 1), always-different (1, 0), and reversed answers the opposite of an honest annotator. The
    defaults look like a real crowd that compared dog breeds: over all annotators 35 % of the same
    pairs are called different and 30 % of the different ones same, and with 30 answers each the
    annotators are right between 50 % (10th percentile) and 83 % (90th) of the time. Their numbers
    of answers are long-tailed (log-normal shares).

    Four more things that people do are off by default. Together they are the answer model of
    `JointPairClassifier`:

        logit P("same" by r) = θ_r[alike] + b_r + a_r (1[alike] − ½) + slope (cos(x, x') − mean)

    where θ_r are the log-odds of r's two rates, and two items are alike if they are of one class
    or of two confused kinds. About a hard item θ_r is the mean of both log-odds, whatever the
    classes: what is left are r's bias and skill.

    Parameters
    ----------
    n_items, n_classes
        Items are drawn from K = n_classes round Gaussians in K dimensions.
    n_annotators
        How many annotators share the pairs; each pair is answered once, and each annotator
        answers at least once.
    pairs_per_item
        ``round(n_items * pairs_per_item)`` pairs are drawn, uniform over pairs of distinct items.
    spammer_share
        The share of annotators who are not honest, of all four kinds together.
    similar_flip, dissimilar_flip, spread, lean
        The mean rates ρ_S and ρ_D of honest annotators, how far their skills lie apart, and how far
        they lean to one answer; with both zero all honest annotators are alike.
    separation
        The distance between any two class centres, in standard deviations.
    prior
        The K class shares, for two classes also the number P(class 1); None is equal shares.
    bias_spread, skill_spread
        Standard deviations of b_r and a_r, which are normal with mean zero.
    hard_share
        The chance of an item to be hard.
    kinds_per_class, n_confused
        Number of kinds per class, of equal shares, a Gaussian each, all ``separation`` apart, in
        as many dimensions as there are kinds; and number of couples of kinds of neighbouring
        classes that people take for one class.
    slope
        How much answers depend on the cosine of the two items' features, less the features' mean.
    random_state
        An integer, a numpy generator or None.

    Returns
    -------
    Bunch
        ``data`` (n_items, K), ``target`` (n_items,), ``pairs`` (`Pairs` with ``annotator``),
        ``annotator_rates`` (n_annotators, 2) with the columns ρ_S, ρ_D and ``annotator_kind``,
        ``bias`` and ``skill`` (n_annotators,), row i for ``pairs.annotator == i``; ``hard`` and
        ``kind`` (n_items,), ``kind_class`` (n_kinds,), ``kinds_alike`` (n_kinds, n_kinds), which
        people take for one class, ``slope``; ``feature_names``, ``target_names``, ``prior`` (K,),
        ``source``, ``sha256`` (empty) and ``DESCR``. The rates are those on clear pairs of mean
        cosine.

    >>> crowd = simulated_crowd(n_items=60, n_annotators=20, random_state=0)
    >>> crowd.data.shape, crowd.pairs.n_pairs, crowd.annotator_rates.shape
    ((60, 3), 1200, (20, 2))
    >>> sorted(set(crowd.annotator_kind.tolist()))
    ['always-same', 'honest', 'spammer']
    >>> crowd = simulated_crowd(60, 2, 20, bias_spread=1.0, kinds_per_class=2, n_confused=1)
    >>> crowd.kind_class.tolist(), np.argwhere(np.triu(crowd.kinds_alike, 1)).tolist()
    ([0, 0, 1, 1], [[0, 1], [1, 2], [2, 3]])
    """
    # Imported here: scikit-learn brings pandas along, which `import noisypairs` must not.
    from sklearn.utils import Bunch

    at_least(2, n_items=n_items, n_classes=n_classes)
    at_least(1, n_annotators=n_annotators, kinds_per_class=kinds_per_class)
    n_pairs = round(n_items * pairs_per_item)
    if n_pairs < n_annotators:
        raise ValueError(
            f"n_items={n_items!r} and pairs_per_item={pairs_per_item!r} give {n_pairs} pairs: "
            f"expected at least one for each of the {n_annotators} annotators. Ask for more pairs."
        )
    _check_shares(
        spammer_share=spammer_share,
        similar_flip=similar_flip,
        dissimilar_flip=dissimilar_flip,
        spread=spread,
        lean=lean,
        hard_share=hard_share,
    )
    _check_worst(similar_flip, dissimilar_flip, spread, lean)
    _check_spreads(bias_spread=bias_spread, skill_spread=skill_spread)
    alike = _kinds_alike(n_classes, kinds_per_class, n_confused)
    shares = _class_shares(prior, n_classes)
    rng = generator(random_state)
    # The corners of a simplex, each `separation` away from each other.
    centres = np.eye(len(alike)) * separation / np.sqrt(2.0)
    y = rng.choice(n_classes, size=n_items, p=shares).astype(np.int64)
    # What is off draws nothing, so that the other draws stay as they are.
    own = rng.integers(kinds_per_class, size=n_items) if kinds_per_class > 1 else 0
    kind = y * kinds_per_class + own
    X = centres[kind] + rng.standard_normal((n_items, len(alike)))
    hard = rng.random(n_items) < hard_share if hard_share else np.zeros(n_items, dtype=bool)
    annotator_kind = _annotator_kinds(n_annotators, spammer_share, rng)
    rates = _rates(annotator_kind, np.array([similar_flip, dissimilar_flip]), spread, lean, rng)
    bias, skill = (
        size * rng.standard_normal(n_annotators) if size else np.zeros(n_annotators)
        for size in (bias_spread, skill_spread)
    )
    left, right, annotator = _asked(n_items, n_pairs, n_annotators, rng)
    looks_same = alike[kind[left], kind[right]]
    odds = _log_odds(rates[annotator], looks_same, hard[left] | hard[right])
    odds += bias[annotator] + skill[annotator] * (looks_same - 0.5)
    if slope:
        odds += slope * _likeness(X, left, right)
    same = looks_same ^ (rng.random(n_pairs) < expit(np.where(looks_same, -odds, odds)))
    return Bunch(
        data=X,
        target=y,
        pairs=Pairs(left, right, same, n_items=n_items, annotator=annotator),
        annotator_rates=_with_effects(rates, bias, skill),
        annotator_kind=annotator_kind,
        bias=bias,
        skill=skill,
        hard=hard,
        kind=kind,
        kind_class=np.arange(len(alike)) // kinds_per_class,
        kinds_alike=alike,
        slope=slope,
        feature_names=[f"x{i}" for i in range(len(alike))],
        target_names=[str(k) for k in range(n_classes)],
        prior=shares,
        source="simulated",
        sha256={},
        DESCR=f"A simulated crowd: {n_annotators} annotators compare {n_items} items.",
    )


def _annotator_kinds(n_annotators: int, share: float, rng: np.random.Generator) -> NDArray[np.str_]:
    """Give the kinds that are not honest equal numbers, then permute all annotators."""
    kind = np.full(n_annotators, "honest", dtype="<U16")
    n_bad = round(share * n_annotators)
    kind[:n_bad] = np.resize(BAD_KINDS, n_bad)
    return rng.permutation(kind)


def _rates(
    kind: NDArray[np.str_], mean: Rates, spread: float, lean: float, rng: np.random.Generator
) -> Rates:
    """Draw (ρ_S, ρ_D) for each annotator, shape (n_annotators, 2); E = mean for honest ones."""
    skill = rng.uniform(1.0 - spread, 1.0 + spread, size=len(kind))
    leaning = rng.uniform(-lean, lean, size=len(kind))
    rates: Rates = mean * skill[:, None] * (1.0 + leaning[:, None] * np.array([1.0, -1.0]))
    rates[kind == "spammer"] = 0.5
    rates[kind == "always-same"] = 0.0, 1.0
    rates[kind == "always-different"] = 1.0, 0.0
    rates[kind == "reversed"] = 1.0 - rates[kind == "reversed"]
    return rates


def _with_effects(rates: Rates, bias: Rates, skill: Rates) -> Rates:
    """Move the log-odds of "same" by b + a/2 on alike pairs and by b − a/2 on others."""
    if not (bias.any() or skill.any()):
        return rates
    moved = expit(logit(rates) + np.stack([-bias - skill / 2, bias - skill / 2], axis=1))
    return np.asarray(moved, dtype=np.float64)


def _asked(
    n_items: int, n_pairs: int, n_annotators: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Draw pairs of distinct items, and hand each to an annotator."""
    left = rng.integers(n_items, size=n_pairs)
    right = (left + rng.integers(1, n_items, size=n_pairs)) % n_items
    busy = rng.lognormal(sigma=TAIL, size=n_annotators)
    rest = rng.choice(n_annotators, size=n_pairs - n_annotators, p=busy / busy.sum())
    # One answer each at least: `Pairs` numbers the annotators it sees, and row i of the rates must
    # be annotator i.
    return left, right, rng.permutation(np.concatenate([np.arange(n_annotators), rest]))


def _log_odds(rates: Rates, looks_same: Mask, hard: Mask) -> Rates:
    """Return the log-odds of "same", shape (n_pairs,), from the rates of who was asked."""
    # Some always give one answer: finite odds can be averaged.
    same, other = np.clip(logit(rates * [-1.0, 1.0] + [1.0, 0.0]), -CERTAIN, CERTAIN).T
    odds: Rates = np.where(hard, (same + other) / 2, np.where(looks_same, same, other))
    return odds


def _likeness(X: Rates, left: NDArray[np.int64], right: NDArray[np.int64]) -> Rates:
    """Return the cosines of centred features, less their mean over the pairs."""
    centred = X - X.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    cosine: Rates = np.einsum("nd,nd->n", centred[left], centred[right])
    cosine -= cosine.mean()
    return cosine


def _kinds_alike(n_classes: int, per_class: int, n_confused: int) -> Mask:
    """Return which kinds people take for one class: those of one class, and the confused ones."""
    at_least(0, n_confused=n_confused)
    most = n_classes - 1 if per_class > 1 else 0
    if n_confused > most:
        raise ValueError(
            f"n_confused={n_confused!r}: expected at most {most} with n_classes={n_classes!r} and "
            f"kinds_per_class={per_class!r}: one couple for every two neighbouring classes that "
            "have several kinds"
        )
    which = np.repeat(np.arange(n_classes), per_class)
    alike: Mask = which[:, None] == which
    first = per_class * np.arange(1, n_confused + 1)
    alike[first, first - 1] = alike[first - 1, first] = True
    return alike


def _check_shares(**shares: float) -> None:
    for name, value in shares.items():
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{name}={value!r}: expected a number in [0, 1]")


def _check_spreads(**spreads: float) -> None:
    for name, value in spreads.items():
        if not 0.0 <= value < np.inf:
            raise ValueError(f"{name}={value!r}: expected a standard deviation, zero or more")


def _check_worst(similar_flip: float, dissimilar_flip: float, spread: float, lean: float) -> None:
    more = lean * abs(similar_flip - dissimilar_flip)
    worst = (1.0 + spread) * (similar_flip + dissimilar_flip + more)
    if worst >= 1.0:
        raise ValueError(
            f"similar_flip={similar_flip!r}, dissimilar_flip={dissimilar_flip!r} and "
            f"spread={spread!r} give the worst honest annotator rates that sum to {worst:.2f}: "
            "expected less than 1, since at 1 answers are random. Lower one of the three."
        )


def _class_shares(prior: ArrayLike | None, n_classes: int) -> Rates:
    if prior is None:
        return np.full(n_classes, 1.0 / n_classes)
    shares = np.asarray(prior, dtype=np.float64)
    if shares.ndim == 0 and n_classes == 2:
        shares = np.array([1.0 - shares, shares])
    if shares.shape != (n_classes,) or (shares <= 0).any() or not np.isclose(shares.sum(), 1.0):
        raise ValueError(
            f"prior={prior!r}: expected {n_classes} positive class shares that sum to 1"
            + (", or the number P(class 1)" if n_classes == 2 else "")
        )
    return shares
