"""Where the joint learner begins: guesses of the classes, from features and from answers."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from noisypairs.algebra import Array
from noisypairs.errors import did_you_mean
from noisypairs.estimators.joint.beliefs.alignment import Alignment
from noisypairs.inference.graph import PairGraph, answer_matrix, signed_embedding
from noisypairs.noise import PairingNoise
from noisypairs.pairs import Pairs

KINDS = ("aligned", "answers", "kmeans", "spectral", "gaussian", "random")


#: Of more classes than this, more k-means starts are needed to find good clusters; but where items
#: times classes are more than so many, classes have many items each, and each start takes long.
MANY_CLASSES, LARGE = 6, 40_000
#: k-means starts of few classes, of many small ones, and where each takes long.
N_CLUSTERINGS, MORE_CLUSTERINGS, FEW_CLUSTERINGS = 4, 10, 2
#: Relative precision of eigenvalues in mixed starts, and where each takes long.
NEAR, NEARLY = 1e-6, 1e-3
#: What features weigh against answers in mixed starts, in those of many classes, which end in
#: different places, and where each of these takes long.
FEATURE_SHARES, MORE_SHARES = (0.3, 0.5, 0.7), (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
FEW_SHARES = (0.5, 0.8)
#: How the names of mixed starts begin; the share follows.
MIXED = "gaussian-mixed-"
#: Clusters of a guess are found on so many items at most, and the others put to the nearest.
ENOUGH_ITEMS = 5_000


def guesses(
    kinds: tuple[str, ...],
    Z: Array | None,
    pairs: Pairs,
    graph: PairGraph,
    n_classes: int,
    n_random: int,
    random_state: np.random.RandomState,
    alignment: Alignment | None = None,
    numbers: Array | None = None,
    shares: tuple[float, ...] | None = None,
) -> dict[str, Array]:
    """Return named guesses of P(class | item), each of shape (n_items, K).

    ``"aligned"``: directions of the features along which the answers agree most (`Alignment`);
    ``"answers"``: classes by how often an item is called "same", smoothed over the features (what
    the point-wise learners see); ``"kmeans"``: clusters of the features; ``"spectral"``: leading
    eigenvectors of the signed graph; ``"gaussian"``, for more than two classes: clusters of the
    features as they are given, ``numbers`` (n_items, d), alone and with the answers (`_mixed`), of
    which features have these ``shares`` if given; ``"random"``. Those that need features are left
    out without.
    """
    found: dict[str, Array] = {}
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(f"unknown start {kind!r}: {did_you_mean(kind, KINDS)}")
        if kind == "aligned" and Z is not None:
            directions = (alignment or Alignment(Z, pairs)).directions(n_classes - 1)
            found[kind] = _clusters(directions, n_classes, random_state)
        elif kind == "kmeans" and Z is not None:
            found[kind] = _clusters(Z, n_classes, random_state)
        elif kind == "spectral":
            embedding = signed_embedding(graph, n_classes - 1, random_state)
            found[kind] = _clusters(embedding, n_classes, random_state)
            if Z is not None:
                smooth = Ridge().fit(Z, embedding).predict(Z)
                smooth = smooth.reshape(len(Z), -1)
                found["spectral-smooth"] = _clusters(smooth, n_classes, random_state)
        elif kind == "answers" and n_classes == 2:
            found |= _by_answers(Z, pairs)
        elif kind == "gaussian" and n_classes > 2 and numbers is not None:
            if shares is None or 1.0 in shares:
                found["gaussian-clusters"] = _clusters(numbers, n_classes, random_state)
            for share in _feature_shares(pairs.n_items, n_classes) if shares is None else shares:
                if share < 1.0:
                    embedding = _mixed(numbers, graph, n_classes, share, random_state)
                    guess = _clusters(embedding, n_classes, random_state)
                    found[f"{MIXED}{share:g}"] = guess
        elif kind == "random":
            for number in range(max(n_random, 1)):
                draw = random_state.randint(n_classes, size=pairs.n_items)
                found[f"random-{number}"] = _soften(draw, n_classes, 0.8)
    return found


def share_of(start: str) -> float:
    """Return what features weigh in the Gaussian start of this name.

    >>> share_of("gaussian-mixed-0.3"), share_of("gaussian-clusters")
    (0.3, 1.0)
    """
    return float(start.removeprefix(MIXED)) if start.startswith(MIXED) else 1.0


def _feature_shares(n_items: int, n_classes: int) -> tuple[float, ...]:
    if n_classes <= MANY_CLASSES:
        return FEATURE_SHARES
    return MORE_SHARES if _needs_more(n_items, n_classes) else FEW_SHARES


def _needs_more(n_items: int, n_classes: int) -> bool:
    """Return whether classes are many and small, so that single starts miss some."""
    return n_classes > MANY_CLASSES and n_items * n_classes <= LARGE


def _takes_long(n_items: int, n_classes: int) -> bool:
    """Return whether classes are many and large, so that every start takes long."""
    return n_classes > MANY_CLASSES and n_items * n_classes > LARGE


def guessed_noise(guess: Array, pairs: Pairs) -> PairingNoise:
    """Return rates at which the guess contradicts the answers, kept within [.1, .4]."""
    named = guess.argmax(axis=1)
    same = named[pairs.left] == named[pairs.right]
    similar = np.mean(~pairs.same[same]) if same.any() else 0.3
    dissimilar = np.mean(pairs.same[~same]) if (~same).any() else 0.3
    return PairingNoise(*(float(np.clip(rate, 0.1, 0.4)) for rate in (similar, dissimilar)))


def _by_answers(Z: Array | None, pairs: Pairs) -> dict[str, Array]:
    """Split the items by their (smoothed) share of "same": at the median and at the mean."""
    counts = pairs.item_counts()
    mean = counts.same.sum() / counts.total.sum()
    share = np.where(counts.total > 0, counts.share, mean)
    if Z is not None:
        share = smoothed(Z, share, counts.total + 1e-9)
    cuts = {"answers-median": np.median(share), "answers-mean": mean}
    return {name: _soften((share > cut).astype(int), 2, 0.6) for name, cut in cuts.items()}


def smoothed(Z: Array, values: Array, weight: Array) -> Array:
    """Return the fit of a ridge regression with penalty 1, (n,), to values of items (n,).

    As `sklearn.linear_model.Ridge` gives it, but from centred sums of Z, (n, m), where that takes
    centred copies of it.

        b = (Σ w (z − z̄)(z − z̄)ᵀ + I)⁻¹ Σ w (z − z̄)(v − v̄)
    """
    total = float(weight.sum())
    mean, centre = weight @ Z / total, float(weight @ values) / total
    gram = Z.T @ (Z * weight[:, None]) - total * np.outer(mean, mean)
    gram[np.diag_indices_from(gram)] += 1.0
    slope = cho_solve(cho_factor(gram), (weight * (values - centre)) @ Z)
    fit: Array = Z @ slope + (centre - mean @ slope)
    return fit


def _clusters(Z: Array, n_classes: int, random_state: np.random.RandomState) -> Array:
    with warnings.catch_warnings():
        # Fewer distinct points than clusters (constant columns, answers all alike) only make the
        # guess a poor one, and a guess may be poor.
        warnings.simplefilter("ignore", ConvergenceWarning)
        few = random_state.permutation(len(Z))[:ENOUGH_ITEMS]
        n_init = MORE_CLUSTERINGS if _needs_more(len(Z), n_classes) else N_CLUSTERINGS
        n_init = FEW_CLUSTERINGS if _takes_long(len(Z), n_classes) else n_init
        labels = KMeans(n_classes, n_init=n_init, random_state=random_state).fit(Z[few]).predict(Z)
    return _soften(labels, n_classes, 0.8)


def _mixed(
    X: Array,
    graph: PairGraph,
    n_classes: int,
    share: float,
    random_state: np.random.RandomState,
) -> Array:
    """Place the items by features and answers at once, shape (n_items, K).

    Leading eigenvectors of w XXᵀ/‖XXᵀ‖ + (1 − w) A/‖A‖, times their eigenvalues, with X centred and
    A the centred answers: many small classes show in neither alone.
    """
    centred = (X - X.mean(axis=0)) / max(float(np.linalg.norm(X - X.mean(axis=0), 2)), 1e-12)
    answers = answer_matrix(graph)
    norm = abs(eigsh(answers, k=1, which="LM", v0=random_state.standard_normal(len(X)))[0][0])
    weight = (1.0 - share) / max(float(norm), 1e-12)

    def product(v: Array) -> Array:
        both: Array = share * (centred @ (centred.T @ v)) + weight * (answers @ v)
        return both

    shape = (len(X), len(X))
    mixed = LinearOperator(shape, matvec=product, dtype=np.float64)
    number = min(n_classes, len(X) - 2)
    start = random_state.standard_normal(len(X))
    tol = NEARLY if _takes_long(len(X), n_classes) else NEAR
    values, vectors = eigsh(mixed, k=number, which="LA", v0=start, tol=tol)
    embedding: Array = vectors * np.maximum(values, 0.0)
    return embedding


def _soften(labels: Any, n_classes: int, certainty: float) -> Array:
    soft: Array = certainty * np.eye(n_classes)[labels] + (1.0 - certainty) / n_classes
    return soft
