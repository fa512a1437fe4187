"""Where EM begins: guesses of the classes, from features and from answers."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky, eigh, solve_triangular
from scipy.sparse import csr_array, issparse
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from noisypairs.algebra import Array
from noisypairs.estimators.base import match_labels
from noisypairs.graph.propagation import PairGraph, answer_matrix, signed_embedding
from noisypairs.joint.choices import ALIGNMENT, CERTAINTY
from noisypairs.noise import LevelNoise, NoiseModel, PairingNoise
from noisypairs.noise.model import fit_table
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import weights_of
from noisypairs.pairs.pairs import levels_of, scores_of

if TYPE_CHECKING:
    from noisypairs.joint.problem import Problem

#: How many permutations of the answers show what chance can do.
N_PERMUTATIONS = 20
#: Pairs on which the spread of similarity is estimated.
ENOUGH_PAIRS = 20_000
#: Clusters of a guess are found on this many items at most; the others go to the nearest.
CLUSTERED_ITEMS = 5_000
#: k-means runs of a guess.
N_CLUSTERINGS = 3
#: What features weigh against answers in a mixed start.
FEATURE_SHARES = (0.3, 0.7)


class Alignment:
    """How far the answers follow products of features, in the directions where they do most.

    With weak signal P(same | x, x') ≈ p + c r(x) r(x'), and the log-likelihood of the answers is,
    to second order in r = Zw, the quadratic form Σ_pairs (same − p) r(x) r(x') = wᵀ Mw / 2 with
    M = Zᵀ(A + Aᵀ)Z, where A holds the centred answers. So the leading eigenvectors of M in the
    metric ZᵀZ + λI maximise the likelihood there, in closed form: no start, no local optimum. On
    sparse graphs with many wrong answers it detects classes that no eigenvector of the graph shows.

    ``Z`` has shape (n_items, m).

    >>> rng = np.random.default_rng(0)
    >>> x = rng.choice([-1.0, 1.0], 200)
    >>> Z = np.column_stack([x + rng.normal(size=200) / 4, rng.normal(size=(200, 5))])
    >>> left, right = rng.integers(200, size=(2, 600))
    >>> same = (x[left] == x[right]) ^ (rng.random(600) < 0.3)
    >>> found = Alignment(Z, Pairs(left, right, same, n_items=200))
    >>> bool(abs(np.corrcoef(found.directions(1)[:, 0], x)[0, 1]) > 0.9)
    True
    >>> found.n_directions(rng)
    1
    """

    def __init__(self, Z: Array, pairs: Pairs) -> None:
        self.Z = Z - Z.mean(axis=0)
        weight = weights_of(pairs)
        self.pairs = pairs
        score = scores_of(pairs)
        self.answers: Array = weight * (score - np.average(score, weights=weight))
        penalty = max(len(Z) / ALIGNMENT, 1e-9) * np.eye(Z.shape[1])
        self.root = cholesky(self.Z.T @ self.Z + penalty, lower=True)

    def _form(self, answers: Array) -> Array:
        """Return M in coordinates where the metric is the identity, shape (m, m)."""
        n = self.pairs.n_items
        A = csr_array((answers, (self.pairs.left, self.pairs.right)), shape=(n, n))
        M = self.Z.T @ (A @ self.Z)
        half = solve_triangular(self.root, M + M.T, lower=True)
        return np.asarray(solve_triangular(self.root, half.T, lower=True))

    @cached_property
    def form(self) -> Array:
        """M of the answers as they are, (m, m), for any number of directions."""
        return self._form(self.answers)

    def directions(self, number: int) -> Array:
        """Return the items along the leading directions, largest first, shape (n, number)."""
        _, vectors = _leading(self.form, number)
        return np.asarray(self.Z @ solve_triangular(self.root.T, vectors, lower=False))

    def n_directions(self, random_state: np.random.Generator) -> int:
        """Return along how many directions the answers agree more than permuted answers do."""
        permuted = self._form(random_state.permutation(self.answers))
        chance = eigh(permuted, eigvals_only=True)[-1]
        return int((eigh(self.form, eigvals_only=True) > chance).sum())

    def beyond(self, number: int) -> float:
        """Return by how many standard deviations all directions exceed the ``number`` leading ones.

        All together they are how far answers follow likeness, with l_e = 2 zᵀ (ZᵀZ + λI)⁻¹ z' of
        the two items of a pair:

            tr M = Σ_e a_e l_e,     Var tr M ≈ Σ_e a_e² · mean (l_e − l̄)² by chance.

        Answers that follow K classes do so along K − 1 directions, so that the others add up to
        nothing. Those on records follow likeness along every direction.
        """
        others = eigh(self.form, eigvals_only=True)[: max(len(self.form) - number, 0)]
        by_chance = float((self.answers**2).sum()) * float(np.var(self.likeness()))
        return float(others.sum()) / max(float(np.sqrt(by_chance)), 1e-12)

    def likeness(self) -> Array:
        """Return l of the pairs, or of enough of them to know its variance."""
        some = slice(None, None, -(-self.pairs.n_pairs // ENOUGH_PAIRS))
        scaled = solve_triangular(self.root, self.Z.T, lower=True).T
        left, right = self.pairs.left[some], self.pairs.right[some]
        return np.asarray(2.0 * np.einsum("em,em->e", scaled[left], scaled[right]))

    def excess(self, random_state: np.random.Generator) -> float:
        """Return by how many standard deviations the largest eigenvalue exceeds chance.

        Chance: the same answers permuted among the pairs, `N_PERMUTATIONS` times.
        """
        return _excess(
            _leading(self.form, 1)[0][0],
            [
                _leading(self._form(random_state.permutation(self.answers)), 1)[0][0]
                for _ in range(N_PERMUTATIONS)
            ],
        )


def graph_excess(graph: PairGraph, random_state: np.random.Generator) -> float:
    """Return by how many standard deviations the graph's largest eigenvalue exceeds chance."""

    def largest(kind: NDArray[np.int32]) -> float:
        placed = signed_embedding(replace(graph, answer_kind=kind), 1, 0)
        return float(np.linalg.norm(placed))

    if not np.ptp(graph.answer_level):
        return 0.0  # all answers are alike
    seen = largest(graph.answer_kind)
    orders = (random_state.permutation(graph.answer_kind) for _ in range(N_PERMUTATIONS))
    return _excess(seen, [largest(order) for order in orders])


def _excess(seen: float, by_chance: list[float]) -> float:
    spread = max(float(np.std(by_chance, ddof=1)), 1e-12)
    return float((seen - np.mean(by_chance)) / spread)


def _leading(M: Array, number: int) -> tuple[Array, NDArray[np.float64]]:
    number = min(number, len(M))
    values, vectors = eigh(M, subset_by_index=[len(M) - number, len(M) - 1])
    return values[::-1], vectors[:, ::-1]


class Starts:
    """Guesses of P(class | item), (n_items, K), by name; each call for one makes another.

    Items are placed by what is known, and clustered. ``spectral``: placed by leading eigenvectors
    of the signed graph; ``aligned``: by the directions of the features along which the answers
    agree most (`Alignment`); ``smooth``: by the eigenvectors, smoothed over the features;
    ``clusters``: by the features; ``mixed``: by eigenvectors of features and answers together.
    Columns are matched to known classes.
    """

    def __init__(self, problem: Problem, n_classes: int, seed: int) -> None:
        self.problem, self.n_classes = problem, n_classes
        self.random = np.random.RandomState(seed)
        self.placed: dict[str, Array] = {}

    @property
    def names(self) -> list[str]:
        """The names of the guesses there are."""
        if self.problem.Z is None:
            return ["spectral"]
        mixed = [f"mixed {share:g}" for share in FEATURE_SHARES if self.n_classes > 2]
        return ["spectral", "aligned", "smooth", "clusters", *mixed]

    def __call__(self, name: str) -> Array:
        """Return a guess."""
        K, problem = self.n_classes, self.problem
        guess = _clusters(self.places(name), K, self.random)
        if problem.names is None:
            return guess
        return guess[:, match_labels(guess, problem.all_pairs, problem.names)]

    def places(self, name: str) -> Array:
        """Return where a guess sees the items, (n_items, m)."""
        if name not in self.placed:
            self.placed[name] = self._places(name)
        return self.placed[name]

    def _places(self, name: str) -> Array:
        problem, K = self.problem, self.n_classes
        if name == "spectral":
            return signed_embedding(problem.graph, K - 1, self.random)
        Z = problem.Z
        assert Z is not None
        if name == "aligned":
            return problem.alignment.directions(K - 1)
        if name == "smooth":
            return smoothed(Z, self.places("spectral"))
        features = Z if issparse(problem.numbers) else problem.numbers
        if name == "clusters":
            return np.asarray(features)
        return _mixed(features, problem, K, float(name.removeprefix("mixed ")), self.random)


def joined(cluster: NDArray[np.intp], pairs: Pairs, n_classes: int) -> NDArray[np.intp]:
    """Return classes of items in more clusters, (n_items,): those joined that answers say are one.

    With shares p and q of "same" inside and between clusters, answers of which s are "same" and d
    "different" between two clusters are by

        s log(p / q) + d log((1 − p) / (1 − q))

    more likely if the two are one. The two of the largest gain are joined, again and again.

    >>> pairs = Pairs([0, 0, 1, 2, 2, 3], [1, 2, 2, 3, 4, 4], [1, 0, 0, 1, 0, 0])
    >>> joined(np.array([0, 1, 2, 3, 4]), pairs, 3).tolist()
    [0, 0, 1, 1, 2]
    """
    n = int(cluster.max()) + 1
    answers, said, weight = np.zeros((2, n, n)), pairs.same.astype(int), weights_of(pairs)
    for one, other in ((pairs.left, pairs.right), (pairs.right, pairs.left)):
        np.add.at(answers, (said, cluster[one], cluster[other]), weight)
    owner = np.arange(n)
    for left in range(n, n_classes, -1):
        inside, total = np.trace(answers, axis1=1, axis2=2) + 1.0, answers.sum(axis=(1, 2)) + 2.0
        p, q = inside / inside.sum(), (total - inside) / (total - inside).sum()
        gain = np.tensordot(np.log(p / q) if p[1] > q[1] else np.zeros(2), answers, 1)
        gain[np.tril_indices(left)] = -np.inf
        kept, gone = divmod(int(gain.argmax()), left)
        answers[:, kept] += answers[:, gone]
        answers[:, :, kept] += answers[:, :, gone]
        answers = np.delete(np.delete(answers, gone, axis=1), gone, axis=2)
        owner[owner == gone] = kept
        owner[owner > gone] -= 1
    return owner[cluster]


def crossed(one: Array, other: Array, pairs: Pairs) -> tuple[Array, float]:
    """Return beliefs (n_items, K) that keep what two others agree on; the answers decide the rest.

    Items that both put into one class are a cluster, and clusters are `joined`. Also returned: the
    share of the items that are no longer with most of their class of ``one``, or were not before.
    """
    K, before = one.shape[1], one.argmax(axis=1)
    cluster = np.unique(before * K + other.argmax(axis=1), return_inverse=True)[1]
    after = joined(cluster, pairs, K)
    together = np.bincount(after * K + before, minlength=K * K).reshape(K, K)
    stay = min(int(together.max(axis=axis).sum()) for axis in (0, 1))
    return soften(after, K), 1.0 - stay / len(one)


def guessed_noise(guess: Array, pairs: Pairs) -> PairingNoise:
    """Return rates at which the guess contradicts the answers, kept within [.1, .4]."""
    named = guess.argmax(axis=1)
    same = named[pairs.left] == named[pairs.right]
    weight, wrong = weights_of(pairs), pairs.same != same
    similar = np.average(wrong[same], weights=weight[same]) if weight[same].any() else 0.3
    dissimilar = np.average(wrong[~same], weights=weight[~same]) if weight[~same].any() else 0.3
    return PairingNoise(*(float(np.clip(rate, 0.1, 0.4)) for rate in (similar, dissimilar)))


def guessed_table(guess: Array, pairs: Pairs) -> NoiseModel:
    """Return the response table that the guess shows, half way to one that shows nothing.

    Of yes and no, `guessed_noise`.
    """
    if pairs.scale.is_plain:
        return guessed_noise(guess, pairs)
    K, named = guess.shape[1], guess.argmax(axis=1)
    counts = np.zeros((pairs.scale.n_levels, K, K))
    for one, other in ((pairs.left, pairs.right), (pairs.right, pairs.left)):
        np.add.at(counts, (levels_of(pairs), named[one], named[other]), weights_of(pairs) / 2)
    levels = fit_table("pairing", counts, pairs.scale).response(K)
    overall = counts.sum(axis=(1, 2)) / counts.sum()
    mixed = (levels + overall[:, None, None]) / 2
    return LevelNoise(mixed, pairs.scale)


def soften(labels: NDArray[np.intp], n_classes: int) -> Array:
    """Return P(class), (n, K), that names these classes, `CERTAINTY` certain."""
    soft: Array = CERTAINTY * np.eye(n_classes)[labels] + (1.0 - CERTAINTY) / n_classes
    return soft


def _clusters(placed: Array, n_classes: int, random: np.random.RandomState) -> Array:
    with warnings.catch_warnings():
        # Fewer distinct points than clusters only make the guess a poor one, and it may be poor.
        warnings.simplefilter("ignore", ConvergenceWarning)
        some = placed[:CLUSTERED_ITEMS]
        found = KMeans(n_classes, n_init=N_CLUSTERINGS, random_state=random).fit(some)
        return soften(found.predict(placed), n_classes)


def smoothed(Z: Array, values: Array) -> Array:
    """Return the fits of a ridge regression with penalty 1, (n, q), to values of items (n, q)."""
    mean = Z.mean(axis=0)
    gram = Z.T @ Z - len(Z) * np.outer(mean, mean)
    gram[np.diag_indices_from(gram)] += 1.0
    centred = values - values.mean(axis=0)
    slope = cho_solve(cho_factor(gram), Z.T @ centred - np.outer(mean, centred.sum(axis=0)))
    return np.asarray((Z - mean) @ slope)


def _mixed(
    X: Array, problem: Problem, n_classes: int, share: float, random: np.random.RandomState
) -> Array:
    """Place the items by features and answers at once, shape (n_items, K).

    Leading eigenvectors of w XXᵀ/‖XXᵀ‖ + (1 − w) A/‖A‖, times their eigenvalues, with X centred and
    A the centred answers: many small classes show in neither alone.
    """
    spread = float(np.linalg.norm(X - X.mean(axis=0), 2))
    centred = (X - X.mean(axis=0)) / max(spread, 1e-12)
    answers = answer_matrix(problem.graph)
    first = random.standard_normal(len(X))
    norm = 0.0  # where all answers are alike
    if np.abs(answers.data).max(initial=0.0) > 0:
        norm = abs(float(eigsh(answers, k=1, which="LM", v0=first, tol=1e-3)[0][0]))
    weight = (1.0 - share) / max(norm, 1e-12)
    number = min(n_classes, len(X) - 2)
    if max(norm, spread) < 1e-12:  # neither features nor answers differ
        return np.zeros((len(X), number))

    def product(v: Array) -> Array:
        both: Array = share * (centred @ (centred.T @ v)) + weight * (answers @ v)
        return both

    mixed = LinearOperator((len(X), len(X)), matvec=product, dtype=np.float64)
    values, vectors = eigsh(mixed, k=number, which="LA", v0=first, tol=1e-3)
    return np.asarray(vectors * np.maximum(values, 0.0))
