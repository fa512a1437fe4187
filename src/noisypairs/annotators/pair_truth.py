"""Each pair judged by itself: the model of Dawid and Skene, without classes behind the pairs.

Every distinct pair e of items has a truth of its own, same with probability π, and annotator r says

    P("different" | same) = ρ_S,r,     P("same" | different) = ρ_D,r.

EM alternates between P(same | answers) of every pair and the rates, which are shrunk as those of
classes are (`people.fit_people`). Nothing follows from one pair for another, not even that
a = b and b = c give a = c. Records to link need no more: their groups are many and tiny, and no
small number of classes holds them. Where the features of the items are given, π follows how alike
those of a pair are: logit π_e = α + β cos(x, x'), fitted to the P(same) of all pairs.

The answers identify the rates only where pairs are answered more than once: by several annotators,
or, where nobody is named and all share two rates, at least three times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, log_expit, logit
from sklearn.preprocessing import StandardScaler

from noisypairs.algebra import Array
from noisypairs.estimators.inner.features import finite_numbers
from noisypairs.graph.propagation import PairGraph
from noisypairs.noise import PairingNoise
from noisypairs.noise.model import MARGIN, group_errors
from noisypairs.noise.pair_error import LEAST, correlation
from noisypairs.noise.people import fit_people
from noisypairs.noise.shared_error import SharedError, families
from noisypairs.pairs import Pairs

#: Rounds of EM at most, and the change of the P(same) at which they have converged.
MOST_ROUNDS, CONVERGED = 1000, 1e-5
#: Draws that are left out before the chain of truths and rates is looked at.
BURN_IN = 50
#: From this number of known pairs on, they alone show how errors correlate.
ENOUGH_KNOWN = 50
#: Newton steps of the prior by likeness in each round, and answers whose likeness is found at once.
NEWTON_STEPS, ROWS = 3, 100_000
#: Spreads of what known pairs correct, before any is seen, and Newton steps to find it.
CORRECTION_SPREAD, CORRECTION_STEPS = 2.0, 50
#: Classes are never surer of a pair than this.
SUREST = 1e-3
#: Groups are tiny if the largest holds at most so many items, or such a share of all compared.
TINY_GROUP, TINY_SHARE = 3, 0.05


@dataclass(frozen=True)
class Groups:
    """Items joined by pairs that are more likely same than not: how many groups, how large.

    Classes that the answers alone can show join a good part of their items. Tiny groups are what
    records to link look like.
    """

    n_items: int
    n_groups: int
    largest: int

    @property
    def are_tiny(self) -> bool:
        """Whether even the largest group is small, beside all items that were compared."""
        return self.largest <= max(TINY_GROUP, TINY_SHARE * self.n_items)

    def __str__(self) -> str:
        return (
            f"pairs that are probably the same join {self.n_items:,} items into {self.n_groups:,} "
            f"groups, the largest of {self.largest:,}"
        )


@dataclass(frozen=True)
class ErrTogether:
    """How far judges err together: ``n_judges`` answers to a pair are worth ``effective`` ones.

    ``correlation`` is that of the errors of two judges on one pair; ``within`` has it by family,
    ``n_known`` says how many pairs were known, and ``least_wrong`` is a share of answers that is
    wrong whatever the truth is: the minority of every pair.
    """

    n_judges: float
    correlation: float
    effective: float
    within: Mapping[str, float]
    n_known: int
    least_wrong: float

    @property
    def is_open(self) -> bool:
        """Whether rates cannot be known: judges err together, and no pair is known."""
        return self.n_known == 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return vars(self) | {"within": dict(self.within), "open": self.is_open}

    def __str__(self) -> str:
        text = (
            f"{self.n_judges:.3g} answers to a pair are worth about {self.effective:.1f} "
            f"independent ones: their errors on a pair correlate by {self.correlation:.2f}"
        )
        if self.within:
            low, high = min(self.within.values()), max(self.within.values())
            text += f", within a family by {low:.2f} to {high:.2f}"
        if self.n_known:
            return f"{text} ({self.n_known:,} known pairs)"
        return (
            f"{text}. This counts only errors on which judges contradict each other. Errors that "
            "all judges share stay hidden, so every rate may be anything from 0 to 1. Give the "
            "truth of 100 pairs, drawn at random, to measure the rates"
        )


@dataclass(frozen=True)
class PairTruth:
    """What was inferred: P(same) of every distinct pair, and the rates of everybody.

    ``S`` (R, 2, 2) has 1 − ρ_S on the diagonal and ρ_D beside it, as classes have. ``same_proba``
    (n_edges,) follows the edges of ``graph``, ``known`` (n_edges,) is 1 where a pair is known to be
    same, 0 different, −1 else; ``share`` is π, and ``log_likelihood`` that of all answers.
    ``shared`` is there where people err together, or some pairs are known. ``lean`` is by how much
    the prior log-odds of a pair differ from those of π, (n_edges,), zero without features or
    classes. ``corrected`` is there where classes predict pairs and some pairs are known.
    """

    graph: PairGraph
    S: Array
    same_proba: Array
    share: float
    log_likelihood: float
    converged: bool
    known: NDArray[np.int8]
    lean: Array
    shared: SharedError | None = None
    together: ErrTogether | None = None
    corrected: Corrected | None = None

    @property
    def item_proba(self) -> Array:
        """No classes, so no beliefs: shape (n_items, 0)."""
        return np.zeros((self.graph.n_items, 0))

    @property
    def wrong_proba(self) -> Array:
        """Return P(wrong) of each answer, in the order given; of a self pair 0 or 1."""
        same = np.append(self.same_proba, 1.0)[self.graph.edge_of_answer]
        wrong: Array = np.where(self.graph.same, 1.0 - same, same)
        return wrong

    def counts(self) -> tuple[Array, Array]:
        """Return answers "same" and "different", (R, 2, 2): on the diagonal of same pairs."""
        return _counts(_evidence(self.graph).T.tocsr(), self.same_proba)

    def drop_effect(self, group: int) -> int:
        """Count the pairs whose more probable truth changes without one group, rates kept."""
        weight = np.where(self.graph.answer_group == group, 0, self.graph.answer_weight)
        rest = replace(self.graph, answer_weight=weight.astype(np.float32))
        evidence = _evidence(rest)
        if self.shared is None:
            left = expit(logit(self.share) + self.lean + _score(evidence, self.S))
        else:
            left = replace(self.shared, score=self.lean + _score(evidence, self.S)).proba()
        left = np.where(self.known >= 0, self.known, left)
        return int(((left > 0.5) != (self.same_proba > 0.5)).sum())

    def groups(self) -> Groups:
        """Return the groups of items that pairs called same join."""
        graph, joined = self.graph, self.same_proba > 0.5
        ends = graph.left[joined], graph.right[joined]
        shape = (graph.n_items, graph.n_items)
        links = csr_array((np.ones(len(ends[0]), dtype=bool), ends), shape=shape)
        compared = np.union1d(graph.left, graph.right)
        size = np.bincount(connected_components(links, directed=False)[1][compared])
        return Groups(len(compared), int((size > 0).sum()), int(size.max(initial=0)))

    def error_draws(
        self, prior: tuple[Array, Array], n_draws: int, rng: np.random.Generator
    ) -> Array:
        """Draw everybody's rates from their posterior, (n_draws, 2, R).

        ``prior`` are the pseudo-counts (wrong, right), (2, R) each, of the Beta laws of the rates,
        given the expected counts; with the truths that are drawn they move as the crowd's rates do.
        Where people err together, P(same) is drawn first; else truths and rates are drawn in turn
        (Gibbs), as either says how sure the other is. Where people err together the rates are those
        among the pairs that were asked: on pairs that somebody answered they are counted.
        """
        evidence, open_ = _evidence(self.graph), self.known < 0
        by_kind = evidence.T.tocsr()
        answered = np.bincount(self.graph.answer_group, minlength=self.graph.n_groups)
        asked = np.minimum(answered / max(self.graph.n_edges, 1), 1.0)
        posterior = self.shared or self.corrected
        seen = asked if posterior is not None else 0.0
        proba = None if posterior is None else posterior.draws(n_draws, rng)
        answers, crowd = prior[0] + prior[1], _crowd_rate(*group_errors(*self.counts()))
        centre = prior[0] / np.maximum(answers, 1e-12)
        S, share = self.S, self.share
        rates = np.empty((n_draws, 2, self.graph.n_groups))
        burn = BURN_IN if proba is None else 0
        for k in range(-burn, n_draws):
            if proba is not None:
                same = next(proba)
            else:
                same = expit(logit(share) + self.lean + _score(evidence, S))
            truth = (rng.random(len(same)) < same).astype(float)
            truth[~open_] = self.known[~open_]
            wrong, total = group_errors(*_counts(by_kind, truth))
            moved = np.clip(centre + _crowd_rate(wrong, total) - crowd, MARGIN, 1.0 - MARGIN)
            drawn = rng.beta(wrong + answers * moved, total - wrong + answers * (1.0 - moved))
            if k >= 0:
                rates[k] = seen * wrong / np.maximum(total, 0.5) + (1.0 - seen) * drawn
            if proba is None:
                flips = np.clip(drawn, MARGIN, 1.0 - MARGIN)
                S = np.where(np.eye(2), 1.0 - flips[0][:, None, None], flips[1][:, None, None])
                share = float(rng.beta(truth.sum() + 1.0, len(truth) - truth.sum() + 1.0))
        return rates


def infer_pair_truth(
    pairs: Pairs, known: ArrayLike | None = None, likeness: Array | None = None
) -> PairTruth:
    """Infer the truth of every pair and two rates per annotator, or for all if nobody is named.

    ``known`` (n_pairs,) says of every answer's pair whether it is same (1), different (0), or not
    known (−1). Known pairs count as what they are, and show how far everybody errs together.
    ``likeness`` (n_pairs,) is how alike the items of every answer's pair are, see `likeness_of`.

    >>> pairs = Pairs([0, 0, 0, 2, 2, 2], [1, 1, 1, 3, 3, 3], [1, 1, 0, 0, 0, 0])
    >>> infer_pair_truth(pairs).same_proba.round(1)
    array([0.8, 0. ])
    >>> infer_pair_truth(pairs, [0, 0, 0, -1, -1, -1]).same_proba.round(1)[0]
    np.float64(0.0)
    """
    graph = PairGraph.from_pairs(pairs, annotators=pairs.annotator is not None)
    truth = _known_edges(graph, known)
    evidence = _evidence(graph)
    by_kind = evidence.T.tocsr()
    said = evidence @ np.tile([[0.0, 1.0], [1.0, 1.0]], graph.n_groups).T  # "same", and all
    alike = _Alike(graph, likeness)
    start = (said[:, 0] + 0.5) / (said[:, 1] + 1.0)
    S, same_proba, share, lean, converged = _converged(graph, truth, alike.fit, start)
    value = _log_likelihood(evidence, S, logit(share) + lean)
    shared, together = None, None
    several = float(said[:, 1].mean()) if graph.n_edges else 0.0
    for round_ in range(2):  # the rates follow what judges are worth together
        if round_ == 0 or np.count_nonzero(truth >= 0) >= ENOUGH_KNOWN:
            together = err_together(pairs, graph, same_proba, S, truth >= 0)
        rho = 0.0 if together is None else together.correlation
        if together is not None and together.within:  # a family is said to err together
            rho = max(rho, LEAST)
        shared = SharedError.fit(lean + _score(evidence, S), truth, rho, several, share)
        if shared is None:
            break
        same_proba = _told(shared.proba(), truth)
        S, share = _rates(*_counts(by_kind, same_proba)), _share(same_proba)
        lean = alike.fit(same_proba) - logit(share)
        value = _log_likelihood(evidence, S, logit(share) + lean)
        shared = replace(shared, score=lean + _score(evidence, S))
    found = graph, S, same_proba, share, value, converged, truth, lean
    return PairTruth(*found, shared, together if shared is not None else None)


def _converged(
    graph: PairGraph, known: NDArray[np.int8], odds: Callable[[Array], Array], start: Array
) -> tuple[Array, Array, float, Array, bool]:
    """Return S, P(same), π, by how much pairs differ from it, and whether the rounds converged.

    ``odds`` returns the prior log-odds of the pairs, (n_edges,), from P(same) of the last round.
    """
    evidence = _evidence(graph)
    by_kind = evidence.T.tocsr()
    same_proba, converged, rounds = _told(start, known), False, 0
    while not converged and rounds < MOST_ROUNDS:
        S, share = _rates(*_counts(by_kind, same_proba)), _share(same_proba)
        prior = odds(same_proba)
        new = _told(expit(prior + _score(evidence, S)), known)
        converged = bool(np.abs(new - same_proba).max(initial=0.0) < CONVERGED)
        same_proba, rounds = new, rounds + 1
    return S, same_proba, share, prior - logit(share), converged


def truth_by_classes(pairs: Pairs, chance: Array, known: ArrayLike) -> PairTruth:
    """Return the truth of pairs of which some are known, where classes predict the others.

    ``chance`` (n_pairs,) is P(same) of every answer's pair by its classes, as all answers but those
    to this pair show them, and ``known`` (n_pairs,) its truth: 1, 0, or −1. Where everybody errs
    alike, classes follow them. Known pairs show what classes and answers are worth (`Corrected`).

    >>> left = np.arange(400)
    >>> truth = left % 2
    >>> follow = np.where(left % 5 == 0, 1 - truth, truth)  # one pair in five misleads everybody
    >>> pairs = Pairs(left, left + 400, follow, annotator=left % 4)
    >>> says = 0.98 * follow + 0.01
    >>> found = truth_by_classes(pairs, says, np.where(left < 200, truth, -1))
    >>> found.same_proba[200:].max().round(1)  # not 1.0
    np.float64(0.8)
    """
    graph = PairGraph.from_pairs(pairs, annotators=pairs.annotator is not None)
    truth, evidence = _known_edges(graph, known), _evidence(graph)
    by_classes = np.full(graph.n_edges, 0.5)
    by_classes[graph.edge_of_answer] = np.clip(chance, SUREST, 1.0 - SUREST)
    odds = logit(by_classes)
    S = _rates(*_counts(evidence.T.tocsr(), _told(by_classes, truth)))
    corrected = Corrected.fit(odds, _score(evidence, S), truth)
    same_proba = _told(corrected.proba(), truth)
    share = _share(same_proba)
    S = _rates(*_counts(evidence.T.tocsr(), same_proba))
    value = _log_likelihood(evidence, S, odds)
    lean = odds - logit(share)
    found = graph, S, same_proba, share, value, True, truth, lean
    return PairTruth(*found, corrected=corrected)


@dataclass(frozen=True, eq=False)
class Corrected:
    """What classes and answers say of pairs, corrected by known pairs.

        logit P(same) = a + b c + g s,

    with c the log-odds of a pair by its classes and s what its own answers add, ``columns``
    (n_edges, 3). If the model were right, a = 0 and b = g = 1; ``mean`` (3,) and ``covariance``
    (3, 3) are what known pairs leave of them, normal; the covariance is that of the sandwich, which
    holds where log-odds are no line.
    """

    columns: Array
    mean: Array
    covariance: Array

    @classmethod
    def fit(cls, odds: Array, score: Array, known: NDArray[np.int8]) -> Self:
        """Return the posterior given ``known`` pairs (1 same, 0 different, −1 unknown)."""
        columns = np.column_stack([np.ones_like(odds), odds, score])
        at = np.flatnonzero(known >= 0)
        some, truth = columns[at], known[at]
        centre = np.array([0.0, 1.0, 1.0])
        mean, tight = centre, np.eye(3) / CORRECTION_SPREAD**2
        for _ in range(CORRECTION_STEPS):
            chance = expit(some @ mean)
            gradient = some.T @ (truth - chance) - tight @ (mean - centre)
            curved = (some * (chance * (1.0 - chance))[:, None]).T @ some + tight
            step = np.linalg.solve(curved, gradient)
            mean = mean + step / max(1.0, float(np.abs(step).max()))
        residual = truth - expit(some @ mean)
        spread = (some * residual[:, None] ** 2).T @ some + tight
        inverse = np.linalg.inv(curved)
        return cls(columns, mean, inverse @ spread @ inverse)

    def draws(self, n: int, rng: np.random.Generator) -> Iterator[Array]:
        """Yield P(same) of every pair under ``n`` draws from the posterior, (n_pairs,) each."""
        for theta in rng.multivariate_normal(self.mean, self.covariance, n):
            yield expit(self.columns @ theta)

    def proba(self) -> Array:
        """Return P(same) of every pair, averaged over the posterior, (n_pairs,)."""
        linear = self.columns @ self.mean
        spread = np.einsum("ed,df,ef->e", self.columns, self.covariance, self.columns)
        return np.asarray(expit(linear / np.sqrt(1.0 + np.pi * spread / 8.0)))


def _known_edges(graph: PairGraph, known: ArrayLike | None) -> NDArray[np.int8]:
    """Return the truth of every edge, 1, 0 or −1, from that of every answer's pair."""
    truth = np.full(graph.n_edges, -1, dtype=np.int8)
    if known is not None:
        told = np.asarray(known, dtype=np.int8)
        rows = (told >= 0) & (graph.edge_of_answer >= 0)
        truth[graph.edge_of_answer[rows]] = told[rows]
    return truth


def likeness_of(pairs: Pairs, X: Any) -> Array | None:
    """Return the cosine of the two items of every answer, (n_pairs,); None without numbers.

    Columns are centred and scaled first; a gap counts as the mean of its column.

    >>> likeness_of(Pairs([0, 0], [1, 2], [1, 0]), [[1.0, 2.0], [1.0, 2.0], [5.0, 0.0]]).round(1)
    array([ 1., -1.])
    """
    numbers = None if X is None or issparse(X) else finite_numbers(X)
    if numbers is None:
        return None
    Z = StandardScaler().fit_transform(numbers)
    Z /= np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1e-12)
    cosine = np.empty(pairs.n_pairs)
    for first in range(0, pairs.n_pairs, ROWS):
        rows = slice(first, first + ROWS)
        cosine[rows] = np.einsum("nd,nd->n", Z[pairs.left[rows]], Z[pairs.right[rows]])
    return cosine


class _Alike:
    """The prior log-odds of pairs: those of π, or α + β c where their likeness c is given."""

    def __init__(self, graph: PairGraph, likeness: Array | None) -> None:
        self.columns: Array | None = None
        self.weights = np.zeros(2)
        if likeness is not None:
            c = np.zeros(graph.n_edges)
            proper = graph.edge_of_answer >= 0
            c[graph.edge_of_answer[proper]] = likeness[proper]
            c = (c - c.mean()) / max(float(c.std()), 1e-12)
            self.columns = np.column_stack([np.ones(graph.n_edges), c])

    def fit(self, same_proba: Array) -> Array:
        """Return the log-odds, (n_edges,), after Newton steps from the last weights."""
        if self.columns is None:
            return np.full(len(same_proba), logit(_share(same_proba)))
        for _ in range(NEWTON_STEPS):
            chance = expit(self.columns @ self.weights)
            gradient = self.columns.T @ (same_proba - chance) - self.weights
            curved = (self.columns * (chance * (1.0 - chance))[:, None]).T @ self.columns
            self.weights = self.weights + np.linalg.solve(curved + np.eye(2), gradient)
        return self.columns @ self.weights


def _told(same_proba: Array, known: NDArray[np.int8]) -> Array:
    return np.where(known >= 0, known, same_proba)


def err_together(
    pairs: Pairs, graph: PairGraph, same_proba: Array, S: Array, known: NDArray[np.bool_]
) -> ErrTogether | None:
    """Return how errors on a pair correlate, by `PairError`'s moments; None where nothing shows it.

    With some pairs known, these alone are looked at if they are `ENOUGH_KNOWN`.
    """
    if graph.n_groups < 2 or pairs.annotator_names is None:
        return None
    edge = np.repeat(np.arange(graph.n_edges), np.diff(graph.answer_start))
    use = graph.answer_weight > 0
    if np.count_nonzero(known) >= ENOUGH_KNOWN:
        use &= known[edge]
    edge, who, level = edge[use], graph.answer_group[use], graph.answer_level[use]
    _, first = np.unique(edge.astype(np.int64) * graph.n_groups + who, return_index=True)
    edge, who, level = edge[first], who[first], level[first]  # nobody agrees with themselves
    whole = _correlation(edge, who, level, same_proba, S)
    if whole is None:
        return None
    times = np.bincount(edge)
    m = float(times[times > 0].mean())
    family, within = families(pairs.annotator_names), {}
    if family is not None:
        names = np.asarray([str(name).split("/", 1)[0] for name in pairs.annotator_names.tolist()])
        for f in np.unique(family[who]):
            rows = family[who] == f
            own = _correlation(edge[rows], who[rows], level[rows], same_proba, S)
            if own is not None:
                within[str(names[family == f][0])] = own
    effective = m / (1.0 + (m - 1.0) * whole)
    same = np.bincount(edge, level == 1)
    wrong = float(np.minimum(same, np.bincount(edge) - same).sum()) / len(edge)
    return ErrTogether(m, whole, effective, within, int(np.count_nonzero(known)), wrong)


def _correlation(
    edge: NDArray[Any], who: NDArray[Any], level: NDArray[Any], same_proba: Array, S: Array
) -> float | None:
    """Return the correlation of errors on one pair beyond chance; None where no pair has two."""
    products, sizes = np.zeros(len(same_proba)), np.zeros(len(same_proba))
    for column, proba in ((0, same_proba), (1, 1.0 - same_proba)):
        chance = S[who, 0, column]
        residual, spread = level - chance, np.sqrt(chance * (1.0 - chance))
        for values, into in ((residual, products), (spread, sizes)):
            total = np.bincount(edge, values, len(same_proba))
            squares = np.bincount(edge, values**2, len(same_proba))
            into += proba * (total**2 - squares) / 2
    return correlation(products, sizes)


def _crowd_rate(wrong: Array, total: Array) -> Array:
    """Return the share of wrong answers of all, (2, 1), from counts (2, R)."""
    rate: Array = wrong.sum(axis=1, keepdims=True) / np.maximum(total.sum(axis=1), 1e-12)[:, None]
    return rate


def _evidence(graph: PairGraph) -> csr_array:
    return graph.evidence(slice(0, graph.n_edges)).astype(np.float64)


def _share(same_proba: Array) -> float:
    return float((same_proba.sum() + 1.0) / (len(same_proba) + 2.0))


def _counts(by_kind: csr_array, same_proba: Array) -> tuple[Array, Array]:
    """Return the expected counts of "same" and "different", (R, 2, 2), by truth of the pair.

    ``by_kind`` is the transposed evidence, (2R, n_edges).
    """
    by_truth = by_kind @ np.column_stack([same_proba, 1.0 - same_proba])
    of_same, of_different = by_truth.reshape(-1, 2, 2).transpose(2, 0, 1)  # (R, answer) each
    both = np.stack([np.stack([of_same, of_different], 2), np.stack([of_different, of_same], 2)], 3)
    return both[:, 1] / 2, both[:, 0] / 2


def _rates(same: Array, different: Array) -> Array:
    """Return S (R, 2, 2): everybody's rates, shrunk towards those of all."""
    crowd = PairingNoise.fit(same.sum(axis=0), different.sum(axis=0)).same_probability()
    if len(same) == 1:
        return crowd[None]
    counts, table = np.stack([different, same], axis=1), np.stack([1.0 - crowd, crowd])
    return fit_people(counts, table, steps=8).responses(table, np.eye(2))[:, 1]


def _log_chance(S: Array) -> NDArray[np.float64]:
    """Return log P(answer | truth) by kind of answer, (2 R, 2): if the pair is same, different."""
    same = S[:, 0, :]  # (R, truth): P("same")
    return np.log(np.stack([1.0 - same, same], axis=1)).reshape(-1, 2)


def _score(evidence: csr_array, S: Array) -> Array:
    """Return L of every pair, the log-odds that its answers give, (n_edges,)."""
    log_chance = _log_chance(S)
    score: Array = evidence @ (log_chance[:, 0] - log_chance[:, 1])
    return score


def _log_likelihood(evidence: csr_array, S: Array, odds: Array) -> float:
    both = evidence @ _log_chance(S) + np.column_stack([log_expit(odds), log_expit(-odds)])
    return float(np.logaddexp(both[:, 0], both[:, 1]).sum())
