"""Choose rates and weights on noisy pairs alone: never a clean label, never a seen item.

Everything rests on one cross-fitted quantity, m(x) = P("same" | x), learnt once per fold and
predicted for the items left out. With p = P(same) and u = m(x) − p every binary noise model gives

    P(same | x, x') = p + u + u' + c u u',          c = (S₁₁ − 2S₀₁ + S₀₀)/(a − b)²,

so the held-out answers depend on p, m and *one* number c. That limits what a point-wise method can
learn from pairs: under pairing noise p − 1/c = α exactly, whatever the rates and the prior; the two
rates separately, and under labeling noise even α, show only through the bounds 0 ≤ η ≤ 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import optimize
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from noisypairs import algebra, reduction
from noisypairs.algebra import Array
from noisypairs.errors import NotIdentifiable, did_you_mean
from noisypairs.estimation.heldout import item_folds, items_by_fold
from noisypairs.noise import NoiseModel
from noisypairs.noise import family as noise_family
from noisypairs.pairs import ItemCounts, Pairs
from noisypairs.pairs.counts import weights_of
from noisypairs.pairs.pairs import neighbour_sums

Positions = NDArray[np.intp]
Method = Literal["predict", "predict_proba", "decision_function"]

#: Pairs looked at when candidates are compared; more would not move the choice.
MOST_PAIRS = 200_000
#: Standard errors that the slope of the answers on m̂ must exceed to count as signal.
BY_CHANCE = 2.0


@dataclass(frozen=True)
class HeldOutShare:
    """m(x) = P("same" | x) for every item, by a model that saw neither the item nor its pairs.

    ``centred`` is u = κ (m̂ − p), where κ is the slope of the answers on m̂ (1 when m̂ is
    calibrated), so that E[u·answer] = E[u²] also when a penalty flattened m̂. ``strength`` is κ in
    standard errors, items taken as the independent units. See `out_of_fold_share`.

    >>> share = HeldOutShare(Pairs([0], [1], [True]), 0.5, np.zeros(2), 1.0)
    >>> share.rate, share.strength
    (0.5, inf)
    """

    pairs: Pairs
    rate: float
    centred: Array
    slope: float
    strength: float = float("inf")


def out_of_fold_share(
    estimator: Any,
    X: Any,
    pairs: Pairs,
    *,
    cv: int | Sequence[tuple[Positions, Positions]] = 5,
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> HeldOutShare:
    """Predict P("same" | x) of each item by an estimator fitted on the other folds' sub-graph.

    Folds are by item, or by group where the pairs have groups (`item_folds`), and training uses the
    pairs *inside* the other folds only. The answer to (i, j) is then used neither for m(x_i) nor
    for m(x_j), so all answers serve as held-out ones. ``cv`` is their number, or the folds
    themselves as (training items, test items).

    >>> from sklearn.linear_model import Ridge
    >>> from noisypairs import PairingNoise, datasets, sample_pairs
    >>> X, y = datasets.load("gaussians", n_samples=500, prior=0.2, random_state=0)
    >>> pairs = sample_pairs(y, 5_000, PairingNoise(0.1, 0.2), random_state=0)
    >>> found = out_of_fold_share(Ridge(), X, pairs, random_state=0)
    >>> found.centred.shape, bool(abs(found.rate - pairs.same.mean()) < 1e-3)
    ((500,), True)
    """
    if isinstance(cv, int | np.integer):
        cv = items_by_fold(item_folds(pairs, int(cv), random_state), int(cv))
    folds = cv
    fold = np.empty(pairs.n_items, dtype=np.intp)
    for k, (_, test) in enumerate(folds):
        fold[test] = k
    sums = neighbour_sums(pairs, np.eye(len(folds))[fold])  # one pass
    inside = [
        ItemCounts(*(n[train].sum(axis=1) - n[train, k] for n in sums))
        for k, (train, _) in enumerate(folds)
    ]
    for among, (train, _) in zip(inside, folds, strict=True):
        if among.total.sum() == 0:
            raise ValueError(
                f"no pair lies inside {len(train)} of {pairs.n_items} items: too few pairs to "
                "cross-validate. Give noise= and prior=, or alpha="
            )
    predicted = Parallel(n_jobs=n_jobs)(
        delayed(_predict_share)(clone(estimator), X, among, train, test)
        for among, (train, test) in zip(inside, folds, strict=True)
    )
    m = np.empty(pairs.n_items)
    for (_, test), values in zip(folds, predicted, strict=True):
        m[test] = values
    counts = pairs.item_counts()
    rate = float(counts.same.sum() / counts.total.sum())
    u = m - np.average(m, weights=counts.total)
    explained = u * (counts.same - rate * counts.total)
    # Judged item by item: answers about one item agree with each other, chance or not.
    strength = float(explained.sum() / max(float(np.linalg.norm(explained)), algebra.NO_SIGNAL))
    if strength <= BY_CHANCE:
        raise NotIdentifiable(
            "the features of held-out items do not predict how often they are called 'same', so "
            "rates and weight cannot be tuned on these pairs: the prior is near ½, the noise too "
            "high or the pairs too few. Give noise= (and prior=), or use a joint method"
        )
    slope = float(explained.sum() / (u**2 @ counts.total))
    return HeldOutShare(pairs.without_self_pairs(), rate, slope * u, slope, strength)


def _predict_share(estimator: Any, X: Any, counts: ItemCounts, train: Array, test: Array) -> Array:
    """Predict the test items from the answers that the training items gave each other."""
    X_train, X_test = _safe_indexing(X, train), _safe_indexing(X, test)
    with threadpool_limits(1):  # a process of its own would use several
        return share_model(estimator, X_train, counts)(X_test)


def share_model(estimator: Any, X: Any, counts: ItemCounts) -> Callable[[Any], Array]:
    """Fit an estimator of P("same" | x) on pooled items and return its prediction function.

    A classifier learns the labels same/different with the counts as weights, a regressor the
    share s/(s+d) with weight s+d.

    >>> from sklearn.linear_model import LinearRegression
    >>> counts = ItemCounts(np.array([3.0, 1.0]), np.array([1.0, 3.0]))
    >>> share_model(LinearRegression(), np.array([[0.0], [1.0]]), counts)([[0.5]])
    array([0.5])
    """
    if is_classifier(estimator):
        rows, label, weight = reduction.weighted_rows(counts, 0.5)
        reduction.fit_weighted(estimator, _safe_indexing(X, rows), label, weight)
        return lambda new: np.asarray(estimator.predict_proba(new)[:, 1], dtype=float)
    rows = np.flatnonzero(counts.total)
    share, weight = counts.share[rows], counts.total[rows]
    if reduction.accepts_weights(estimator):
        reduction.fit_weighted(estimator, _safe_indexing(X, rows), share, weight)
    else:
        estimator.fit(_safe_indexing(X, rows), share)
    return lambda new: np.asarray(estimator.predict(new), dtype=float)


def cross_val_predict(
    estimator: Any,
    X: Any,
    pairs: Pairs,
    *,
    cv: Any = 5,
    method: Method = "predict",
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """Return what models of the other folds predict for each item, under the same class names.

    Pairs cannot name classes, so every fold numbers them anew, and scikit-learn's function of this
    name mixes them up. Here the classes of each fold are matched to those of the one with most
    labels by what both predict for all items. ``cv`` is a number of folds, which keep groups of
    items together, or a splitter of scikit-learn.

    >>> from noisypairs import JointPairClassifier, PairingNoise, datasets, sample_pairs
    >>> from noisypairs.metrics import accuracy_up_to_names
    >>> X, y = datasets.load("gaussians", n_samples=200, prior=0.5, random_state=0)
    >>> pairs = sample_pairs(y, 2000, PairingNoise(0.1, 0.1), random_state=0)
    >>> clf = JointPairClassifier(n_classes=2, class_order="rising", random_state=0)
    >>> bool(accuracy_up_to_names(y, cross_val_predict(clf, X, pairs, random_state=0)) > 0.95)
    True
    """
    if method not in (known := get_args(Method)):
        raise ValueError(f"method={method!r}: {did_you_mean(method, known)}")
    if hasattr(cv, "split"):
        folds = list(cv.split(X, pairs, pairs.groups))
    else:
        folds = items_by_fold(item_folds(pairs, cv, random_state), cv)
    parallel = Parallel(n_jobs=n_jobs)  # as in scikit-learn: its folds are one call, see `errors`
    models = parallel(
        delayed(clone(estimator).fit)(_safe_indexing(X, train), pairs[train]) for train, _ in folds
    )
    named = models[int(np.argmax([len(pairs[train].labels) for train, _ in folds]))]
    names, whole = named.classes_, named.predict_proba(X)
    found: Array = np.empty_like(whole)
    for model, (_, test) in zip(models, folds, strict=True):
        if len(model.classes_) != len(names):
            raise ValueError(
                f"the folds have {len(names)} and {len(model.classes_)} classes, which cannot be "
                f"matched: give the estimator one number, n_classes={len(names)}"
            )
        proba = model.predict_proba(X)
        found[test] = proba[test][:, linear_sum_assignment(whole.T @ proba, maximize=True)[1]]
    if method == "predict":
        return np.asarray(names[found.argmax(axis=1)])
    return found[:, 1] - 0.5 if method == "decision_function" and len(names) == 2 else found


@dataclass(frozen=True)
class RateChoice:
    """The rates chosen, and the whole grid: rows (ρ, ρ', mean log-posterior of an answer).

    The posterior is the held-out likelihood times the weak prior on the rates. See `choose_rates`.
    """

    noise: NoiseModel
    log_posterior: float
    grid: Array


def choose_rates(
    held_out: HeldOutShare,
    family: str = "pairing",
    rates: Sequence[float] = tuple(np.arange(0.0, 0.5, 0.05)),
    exponent: float = 2.0,
) -> RateChoice:
    """Choose both rates by the held-out likelihood of the answers, P(q | x, x') = η(x)ᵀ S η(x').

    One fit serves the whole grid: candidates give S, hence π from P(same), a, b and
    η = (m − b)/(a − b), cut to [0, 1]. Where the likelihood is flat (see the module's text) a
    weak prior, density ∝ (1−ρ)² for each rate, decides for the smaller noise (``exponent=0``: a
    flat prior). The best grid point is refined by the simplex method.

    >>> from sklearn.linear_model import Ridge
    >>> from noisypairs import PairingNoise, datasets, sample_pairs
    >>> X, y = datasets.load("gaussians", n_samples=1000, prior=0.2, random_state=0)
    >>> pairs = sample_pairs(y, 20_000, PairingNoise(0.1, 0.2), random_state=0)
    >>> chosen = choose_rates(out_of_fold_share(Ridge(), X, pairs, random_state=0)).noise
    >>> bool(abs(chosen.similar_flip - 0.1) < 0.05), bool(abs(chosen.dissimilar_flip - 0.2) < 0.05)
    (True, True)
    """
    from_rates = noise_family(family, needs="from_rates").from_rates
    left, right, same, weight = _sample(held_out)

    def log_posterior(pair_of_rates: Array) -> float:
        likelihood = _log_likelihood(held_out, from_rates, pair_of_rates, left, right, same, weight)
        return likelihood * float(weight.sum()) + exponent * float(np.log1p(-pair_of_rates).sum())

    candidates = np.array([(r, s) for r in rates for s in rates if r + s < 0.95])
    values = np.array([log_posterior(point) for point in candidates])
    if not np.isfinite(values).any():
        raise NotIdentifiable(
            f"no rates of {family} noise explain that {held_out.rate:.1%} of the answers are "
            "'same' with two classes: there are more than two classes, or the pairs were not "
            "drawn at random. Give noise= and prior="
        )

    def loss(point: Array) -> float:
        return -log_posterior(point)

    best = optimize.minimize(
        loss,
        candidates[int(np.argmax(values))],
        method="Nelder-Mead",
        bounds=[(0.0, 0.9), (0.0, 0.9)],
        options={"xatol": 1e-3, "fatol": 1e-3, "maxfev": 80},
    )
    found = np.round(best.x, 4)
    grid = np.column_stack([candidates, values / weight.sum()])
    best_noise = from_rates(float(found[0]), float(found[1]))
    return RateChoice(best_noise, -float(best.fun) / weight.sum(), grid)


def choose_alpha(held_out: HeldOutShare, deviation: float = 0.15) -> float:
    """Choose α by the held-out squared error of P(same | x, x') = p + u + u' + u u'/(p − α).

    Exact for pairing noise at any two rates, since there p − 1/c = α; neither rates nor prior are
    needed. The squared error, unlike the likelihood, finds c = 1/(p − α) even where û has the
    wrong shape: all it takes is E[û(u − û)] = 0, which the slope of `HeldOutShare` sees to. A weak
    prior, α ~ N(½, .15²), decides where the pairs do not (``deviation=math.inf``: a flat prior).

    >>> from sklearn.linear_model import Ridge
    >>> from noisypairs import PairingNoise, datasets, sample_pairs
    >>> X, y = datasets.load("gaussians", n_samples=1000, prior=0.2, random_state=0)
    >>> pairs = sample_pairs(y, 20_000, PairingNoise(0.1, 0.2), random_state=0)
    >>> alpha = choose_alpha(out_of_fold_share(Ridge(), X, pairs, random_state=0))
    >>> bool(abs(alpha - 0.55) < 0.05)  # (1 − ρ_S + ρ_D)/2
    True
    """
    left, right, same, weight = _sample(held_out)
    u, v = held_out.centred[left], held_out.centred[right]

    variance = held_out.rate * (1.0 - held_out.rate)

    def loss(alpha: float) -> float:
        residual = same - (held_out.rate + u + v + u * v / (held_out.rate - alpha))
        return float(weight @ residual**2) / (2 * variance) + ((alpha - 0.5) / deviation) ** 2 / 2

    upper = held_out.rate - 1e-3
    if upper <= 0.02:
        raise NotIdentifiable("almost no answer is 'same': α cannot be tuned on these pairs")
    grid = np.linspace(0.02, upper, 60)
    best = int(np.argmin([loss(alpha) for alpha in grid]))
    bracket = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    return float(optimize.minimize_scalar(loss, bounds=bracket, method="bounded").x)


def _log_likelihood(
    held_out: HeldOutShare,
    from_rates: Callable[[float, float], NoiseModel],
    rates: Array,
    left: Any,
    right: Any,
    same: Any,
    weight: Array,
) -> float:
    """Return the mean held-out log-likelihood of the answers at these rates, −inf if impossible."""
    if (rates < 0).any() or rates.sum() >= 0.98:
        return -np.inf
    S = from_rates(float(rates[0]), float(rates[1])).same_probability()
    best = -np.inf
    for prior in algebra.prior_roots(S, held_out.rate):
        if not 0 < prior < 1 or abs(algebra.signal(S, prior)) < 1e-6:
            continue
        b = float(algebra.same_given_class(S, prior)[0])
        positive = (held_out.rate + held_out.centred - b) / algebra.signal(S, prior)
        eta = np.clip(positive, 0.0, 1.0)
        i, j = eta[left], eta[right]
        chance = S[0, 0] + (S[0, 1] - S[0, 0]) * (i + j) + (S[0, 0] - 2 * S[0, 1] + S[1, 1]) * i * j
        best = max(best, _mean_log(chance, same, weight))
    return best


def _mean_log(chance: Array, same: Any, weight: Array) -> float:
    cut = np.clip(chance, 1e-4, 1 - 1e-4)
    return float(np.average(np.log(np.where(same, cut, 1.0 - cut)), weights=weight))


def _sample(held_out: HeldOutShare) -> tuple[Any, Any, Any, Array]:
    """Return (left, right, same, weight) of at most MOST_PAIRS pairs, evenly spaced."""
    pairs = held_out.pairs
    step = max(1, -(-pairs.n_pairs // MOST_PAIRS))
    return pairs.left[::step], pairs.right[::step], pairs.same[::step], weights_of(pairs)[::step]
