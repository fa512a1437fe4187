"""Data drawn from known laws: the paper's two Gaussians, and a crowd of unequal annotators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.noise import RandomState
from noisypairs.pairs import Pairs

if TYPE_CHECKING:
    from sklearn.utils import Bunch

Rates = NDArray[np.float64]

BAD_KINDS = ("spammer", "always-same", "always-different", "reversed")
# How far an honest annotator leans towards one answer: a relative change of the two flip rates in
# opposite directions.
LEAN = 0.25
# Spread of the logarithm of an annotator's share of the answers: the busiest tenth gives 39 %.
TAIL = 1.0


def gaussians(
    n_samples: int = 2000, prior: float = 0.2, random_state: RandomState = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw items from two round Gaussians: X (n_samples, 2) and y (n_samples,) in {0, 1}.

    Class 1 is N((2, 2), I), drawn with probability ``prior``; class 0 is N((−2, −2), I). The Bayes
    rule is the line x₀ + x₁ = ln((1−π)/π)/4, wrong for about 0.2 % of the items.

    >>> X, y = gaussians(1000, prior=0.2, random_state=0)
    >>> bool(abs(y.mean() - 0.2) < 0.05), X[y == 1].mean(axis=0).round()
    (True, array([2., 2.]))
    """
    _at_least(1, n_samples=n_samples)
    if not 0.0 < prior < 1.0:
        raise ValueError(f"prior={prior!r}: expected P(class 1), a number between 0 and 1")
    rng = _generator(random_state)
    y = (rng.random(n_samples) < prior).astype(np.int64)
    centre = np.where(y == 1, 2.0, -2.0)
    return centre[:, None] + rng.standard_normal((n_samples, 2)), y


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
    separation: float = 4.5,
    prior: ArrayLike | None = None,
    random_state: RandomState = None,
) -> Bunch:
    """Draw items, pairs and the answers of annotators, each with error rates of their own.

    An honest annotator has ρ_S = similar_flip · h · (1+t) and ρ_D = dissimilar_flip · h · (1−t),
    with h uniform on 1 ± spread (skill) and t uniform on ±0.25 (a lean towards "same" or
    "different"), so the two parameters are the means over honest annotators. Of all annotators
    ``spammer_share`` (rounded) are not honest, in equal parts: a spammer tosses a coin (½, ½),
    always-same has (0, 1), always-different (1, 0), and reversed answers the opposite of an honest
    annotator. The defaults look like a real crowd that compared dog breeds: over all annotators
    35 % of the same pairs are called different and 30 % of the different ones same, and with 30
    answers each the annotators are right between 50 % (10th percentile) and 83 % (90th) of the
    time. Their numbers of answers are long-tailed (log-normal shares).

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
    similar_flip, dissimilar_flip, spread
        The mean rates ρ_S and ρ_D of honest annotators, and how far their skills lie apart.
    separation
        The distance between any two class centres, in standard deviations.
    prior
        The K class shares, for two classes also the number P(class 1); None is equal shares.
    random_state
        An integer, a numpy generator or None.

    Returns
    -------
    Bunch
        ``data`` (n_items, K), ``target`` (n_items,), ``pairs`` (`Pairs` with ``annotator``),
        ``annotator_rates`` (n_annotators, 2) with the columns ρ_S, ρ_D and ``annotator_kind``
        (n_annotators,), row i for ``pairs.annotator == i``, ``feature_names``, ``target_names``,
        ``prior`` (K,), ``source``, ``sha256`` (empty) and ``DESCR``.

    >>> crowd = simulated_crowd(n_items=60, n_annotators=20, random_state=0)
    >>> crowd.data.shape, crowd.pairs.n_pairs, crowd.annotator_rates.shape
    ((60, 3), 1200, (20, 2))
    >>> sorted(set(crowd.annotator_kind.tolist()))
    ['always-same', 'honest', 'spammer']
    """
    # Imported here: scikit-learn brings pandas along, which `import noisypairs` must not.
    from sklearn.utils import Bunch

    _at_least(2, n_items=n_items, n_classes=n_classes)
    _at_least(1, n_annotators=n_annotators)
    n_pairs = round(n_items * pairs_per_item)
    if n_pairs < n_annotators:
        raise ValueError(
            f"n_items={n_items!r} and pairs_per_item={pairs_per_item!r} give {n_pairs} pairs: "
            f"expected at least one for each of the {n_annotators} annotators. Ask for more pairs."
        )
    _check_crowd(spammer_share, similar_flip, dissimilar_flip, spread)
    shares = _class_shares(prior, n_classes)
    rng = _generator(random_state)
    # The corners of a simplex, each `separation` away from each other.
    centres = np.eye(n_classes) * separation / np.sqrt(2.0)
    y = rng.choice(n_classes, size=n_items, p=shares).astype(np.int64)
    X = centres[y] + rng.standard_normal((n_items, n_classes))
    kind = _kinds(n_annotators, spammer_share, rng)
    rates = _rates(kind, np.array([similar_flip, dissimilar_flip]), spread, rng)
    return Bunch(
        data=X,
        target=y,
        pairs=_answer(y, n_pairs, rates, rng),
        annotator_rates=rates,
        annotator_kind=kind,
        feature_names=[f"x{i}" for i in range(n_classes)],
        target_names=[str(k) for k in range(n_classes)],
        prior=shares,
        source="simulated",
        sha256={},
        DESCR=f"A simulated crowd: {n_annotators} annotators compare {n_items} items.",
    )


def _kinds(n_annotators: int, share: float, rng: np.random.Generator) -> NDArray[np.str_]:
    """Give the kinds that are not honest equal numbers, then permute all annotators."""
    kind = np.full(n_annotators, "honest", dtype="<U16")
    n_bad = round(share * n_annotators)
    kind[:n_bad] = np.resize(BAD_KINDS, n_bad)
    return rng.permutation(kind)


def _rates(kind: NDArray[np.str_], mean: Rates, spread: float, rng: np.random.Generator) -> Rates:
    """Draw (ρ_S, ρ_D) for each annotator, shape (n_annotators, 2); E = mean for honest ones."""
    skill = rng.uniform(1.0 - spread, 1.0 + spread, size=len(kind))
    lean = rng.uniform(-LEAN, LEAN, size=len(kind))
    rates: Rates = mean * skill[:, None] * (1.0 + lean[:, None] * np.array([1.0, -1.0]))
    rates[kind == "spammer"] = 0.5
    rates[kind == "always-same"] = 0.0, 1.0
    rates[kind == "always-different"] = 1.0, 0.0
    rates[kind == "reversed"] = 1.0 - rates[kind == "reversed"]
    return rates


def _answer(y: NDArray[np.int64], n_pairs: int, rates: Rates, rng: np.random.Generator) -> Pairs:
    """Draw pairs of distinct items, hand each to an annotator, and err at that one's rates."""
    left = rng.integers(len(y), size=n_pairs)
    right = (left + rng.integers(1, len(y), size=n_pairs)) % len(y)
    busy = rng.lognormal(sigma=TAIL, size=len(rates))
    rest = rng.choice(len(rates), size=n_pairs - len(rates), p=busy / busy.sum())
    # One answer each at least: `Pairs` numbers the annotators it sees, and row i of the rates must
    # be annotator i.
    annotator = rng.permutation(np.concatenate([np.arange(len(rates)), rest]))
    truly_same = y[left] == y[right]
    flip = rates[annotator, np.where(truly_same, 0, 1)]
    return Pairs(
        left,
        right,
        truly_same ^ (rng.random(n_pairs) < flip),
        n_items=len(y),
        annotator=annotator,
    )


def _generator(random_state: RandomState) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        # Not every numpy 2 takes one; a seed drawn from it advances its state, as users expect.
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    return np.random.default_rng(random_state)


def _at_least(smallest: int, **counts: Any) -> None:
    for name, count in counts.items():
        if not isinstance(count, int | np.integer) or count < smallest:
            raise ValueError(f"{name}={count!r}: expected a whole number of at least {smallest}")


def _check_crowd(share: float, similar_flip: float, dissimilar_flip: float, spread: float) -> None:
    unit = {"spammer_share": share, "similar_flip": similar_flip, "spread": spread}
    for name, value in (unit | {"dissimilar_flip": dissimilar_flip}).items():
        if not 0.0 <= value <= 1.0:
            raise ValueError(f"{name}={value!r}: expected a number in [0, 1]")
    lean = LEAN * abs(similar_flip - dissimilar_flip)
    worst = (1.0 + spread) * (similar_flip + dissimilar_flip + lean)
    if worst >= 1.0:
        raise ValueError(
            f"similar_flip={similar_flip!r}, dissimilar_flip={dissimilar_flip!r} and "
            f"spread={spread!r} give the worst honest annotator rates that sum to {worst:.2f}: "
            "expected less than 1, where answers turn into coin tosses. Lower one of the three."
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
