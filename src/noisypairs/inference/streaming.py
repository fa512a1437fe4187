"""Belief propagation over a stream of answers: item-sized arrays, and no edge is remembered.

Belief propagation keeps two messages per pair. They need not be kept: with h the log-beliefs of the
items and f the message an answer makes of a cavity,

    m_{j→i}(t) = f( h_j(t−1) − m_{i→j}(t−1) ),   m_{i→j}(t−1) = f( h_i(t−2) − m_{j→i}(t−2) ),   …

so the beliefs of the last ``depth`` sweeps give them back, pair by pair, while the pairs stream by.
For the first ``depth`` sweeps this is exactly belief propagation. Later the truncation error
shrinks with every level by the slope of f, which is below one. Memory grows with the items, time
with the pairs. Two things differ from `noisypairs.inference.propagation`: answers on one pair are
not merged (each is an edge of its own, which counts repeats a little too often), and damping acts
on items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from noisypairs.algebra import Array
from noisypairs.inference import messages, progress
from noisypairs.inference.em import CERTAIN, Expectation
from noisypairs.inference.factors import PROBABILITY_FLOOR
from noisypairs.inference.propagation import COARSE, Beliefs, normalise

#: Answers read at once: the arrays of one batch stay within tens of megabytes.
BATCH = 500_000
#: … and processed at once, for two classes.
PIECE = 1 << 13


class Stream(Protocol):
    """What can be streamed: `noisypairs.tables.PairTable`, or anything like it."""

    @property
    def n_items(self) -> int:
        """Number of items."""
        ...

    def batches(self, size: int) -> Iterator[Any]:
        """Yield batches with left, right, same, annotator and weight."""
        ...


@dataclass(frozen=True)
class Sweep:
    """One pass over the answers: new log-beliefs and, under the old ones, what was counted.

    ``log_item`` (n_items, K); ``log_scale`` is Σ_i log Σ_y φ_i(y) Π m(y) of the new beliefs;
    ``same`` and ``different`` (n_groups, K, K) are the expected counts of the M-step and
    ``log_edges`` the pairs' share of the Bethe log-likelihood, both at the beliefs swept from.
    """

    log_item: Array
    log_scale: float
    same: Array
    different: Array
    log_edges: float


class Suspects(NamedTuple):
    """The answers most probably wrong, worst first, shape (k,) each; annotator codes or None.

    ``wrong`` holds the probabilities, ``n_wrong`` how many answers of all are more likely wrong
    than right.
    """

    left: NDArray[Any]
    right: NDArray[Any]
    same: NDArray[np.bool_]
    annotator: NDArray[Any] | None
    wrong: Array
    n_wrong: int


def sweep(
    table: Stream,
    log_phi: Array,
    past: list[Array],
    S: Array,
    *,
    clamped: NDArray[np.bool_] | None = None,
    size: int = BATCH,
    dtype: DTypeLike = np.float64,
) -> Sweep:
    """Renew all beliefs in one pass; ``past`` holds log-beliefs (n_items, K), newest first.

    ``S`` is (K, K), or (R, K, K) by annotator code. ``clamped`` items keep log φ. Messages between
    two classes are worked out in ``dtype``; float32 is several times faster.
    """
    n, K = log_phi.shape
    exchange = _exchange(S, past, dtype)
    n_kinds = 2 * (len(S) if S.ndim == 3 else 1)
    total, counts, log_edges = log_phi.copy(), np.zeros((n_kinds, K * K)), 0.0
    for batch in table.batches(size):
        proper = batch.left != batch.right
        left, right = batch.left[proper], batch.right[proper]
        group = batch.annotator[proper] if S.ndim == 3 else 0
        kind = 2 * group + batch.same[proper]
        weight = None if batch.weight is None else batch.weight[proper]
        (to_left, to_right), joint, log_total = exchange(left, right, kind, weight)
        for k in range(1, K):
            total[:, k] += np.bincount(left, to_left[k - 1], n)
            total[:, k] += np.bincount(right, to_right[k - 1], n)
        log_edges += log_total
        counts += _by_kind(joint, kind, weight, n_kinds)
    if clamped is not None:
        total[clamped] = log_phi[clamped]
    log_normaliser = normalise(total)
    split = counts.reshape(-1, 2, K, K)
    split = (split + split.swapaxes(2, 3)) / 2
    return Sweep(total, float(log_normaliser.sum()), split[:, 1], split[:, 0], log_edges)


class StreamEStep:
    """The E-step of `inference.em.infer` on a stream: at most ``sweeps`` passes a round.

    A sweep counts for the M-step as it goes, so a round needs no pass of its own for S. With
    ``n_groups`` > 1 answers are counted by annotator. The beliefs of the last ``depth`` sweeps are
    remembered from round to round; a round ends early if no belief changes by ``tol``.
    """

    def __init__(
        self,
        table: Stream,
        *,
        n_groups: int = 1,
        clamp: Mapping[int, int] | None = None,
        tol: float = 5e-3,
        sweeps: int = 5,
        depth: int = 3,
        damping: float = 0.1,
        size: int = BATCH,
    ) -> None:
        if sweeps < 2 or depth < 1:
            raise ValueError(
                f"sweeps={sweeps}, depth={depth}: expected at least 2 sweeps and depth 1"
            )
        self.table, self.n_groups, self.clamp = table, n_groups, dict(clamp or {})
        self.tol, self.sweeps, self.depth = tol, sweeps, depth
        self.damping, self.size = damping, size
        self.clamped = np.zeros(table.n_items, dtype=bool)
        self.clamped[list(self.clamp)] = True
        self.past: list[Array] = []
        self.passes = 0

    def __call__(self, phi: Array, item_proba: Array, S: Array) -> Expectation:
        """Return beliefs and counts at potentials ``phi``, (n_items, K), under S."""
        K = phi.shape[1]
        log_phi = np.log(phi)
        if self.clamp:
            known = np.array(list(self.clamp.values()))[:, None]
            log_phi[list(self.clamp)] = np.where(np.arange(K) == known, 0.0, -np.inf)
        if not self.past:
            self.past = [np.log(np.clip(item_proba, CERTAIN, None))]
            self.past[0][self.clamped] = log_phi[self.clamped]
        groups = np.broadcast_to(S, (self.n_groups, K, K)) if self.n_groups > 1 else S
        log_scale = np.nan
        for n_iter in progress.each("pass", range(1, self.sweeps + 1)):
            one, change = self._sweep(log_phi, groups)
            value = log_scale + one.log_edges
            log_scale = one.log_scale
            # With fewer past sweeps than ``depth``, or no scale from the sweep before: go on.
            converged = n_iter > 1 and self._deep and change < self.tol
            if converged:
                break
        self.passes += n_iter
        log_item, no_messages = self.past[0], np.empty((2, K - 1, 0))
        item = np.exp(log_item)
        beliefs = Beliefs(item, log_item, no_messages, log_scale, converged, n_iter, change)
        notes = {"passes": self.passes}
        return Expectation(beliefs, one.same, one.different, lambda _S: value, self._deep, notes)

    @property
    def _deep(self) -> bool:
        return len(self.past) == self.depth

    def _sweep(self, log_phi: Array, S: Array) -> tuple[Sweep, float]:
        """Make one pass and remember the damped beliefs; return the largest change of a belief."""
        dtype = np.float32 if self.tol >= COARSE else np.float64
        how: dict[str, Any] = {"clamped": self.clamped, "size": self.size, "dtype": dtype}
        one = sweep(self.table, log_phi, self.past, S, **how)
        before, share = self.past[0], self.damping
        mixed = (1 - share) * one.log_item + share * before
        mixed[self.clamped] = log_phi[self.clamped]
        normalise(mixed)
        self.past = [mixed, *self.past[: self.depth - 1]]
        return one, float(np.abs(np.exp(mixed) - np.exp(before)).max())


def most_suspect(
    table: Stream, item_proba: Array, S: Array, k: int, *, depth: int = 3, size: int = BATCH
) -> Suspects:
    """Return the ``k`` answers most probably wrong, in one pass that keeps only ``k`` of them.

    Once beliefs (n_items, K) have converged, the messages of a pair follow from them: m = f(h − m')
    and m' = f(h' − m), iterated ``depth`` times from zero. ``S`` as in `sweep`. A self pair
    certainly has one class. Ties are broken by the items, so the order of the stream does not
    matter.

    >>> from noisypairs import Pairs
    >>> class Stream:
    ...     n_items = 3
    ...     def batches(self, size):
    ...         yield Pairs([0, 1, 2], [1, 2, 2], [True, True, False])
    >>> S = np.array([[0.9, 0.3], [0.3, 0.9]])
    >>> certain = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> most_suspect(Stream(), certain, S, k=2).left.tolist()
    [1, 2]
    """
    K = item_proba.shape[1]
    past = [np.log(np.maximum(item_proba, np.finfo(float).tiny))] * depth
    exchange = _exchange(S, past, np.float64)
    n_wrong, kept = 0, np.zeros((5, 0))
    has_annotator = False
    for batch in table.batches(size):
        group = batch.annotator if S.ndim == 3 else 0
        kind = 2 * group + batch.same
        _, joint, _ = exchange(batch.left, batch.right, kind, batch.weight)
        together = np.where(batch.left == batch.right, 1.0, joint[:, :: K + 1].sum(axis=1))
        wrong = np.where(batch.same, 1.0 - together, together)
        n_wrong += int((wrong > 0.5).sum())
        has_annotator = batch.annotator is not None
        who = batch.annotator if has_annotator else np.zeros(len(wrong))
        rows = np.stack([wrong, batch.left, batch.right, batch.same, who])
        if kept.shape[1] >= k:  # most answers are better than the worst k so far
            rows = rows[:, wrong >= kept[0, -1]] if k else rows[:, :0]
        both = np.concatenate([kept, rows], axis=1)
        kept = both[:, np.lexsort([both[4], both[3], both[2], both[1], -both[0]])[:k]]
    left, right, said, who = kept[1:].astype(np.int64)
    return Suspects(left, right, said == 1, who if has_annotator else None, kept[0], n_wrong)


#: Messages to the left and right ends, (K − 1, m) each, relative to class 0; P(y, y' | everything),
#: (m, K·K); and the sum of the log-normalisers.
Exchanged = tuple[tuple[messages.Floats, messages.Floats], messages.Floats, float]


def _exchange(S: Array, past: list[Array], dtype: DTypeLike) -> _Between | _BetweenTwo:
    """Return what works out the messages of a batch, given beliefs (n_items, K), newest first."""
    factors = _factors(S)
    return _BetweenTwo(factors, past, dtype) if S.shape[-1] == 2 else _Between(factors, past)


class _Between:
    """The messages between the two ends of each answer, given the beliefs of the last sweeps.

    ``factors`` are ψ by kind of answer, (n_kinds, K, K); ``past`` log-beliefs (n_items, K), newest
    first. Works from the oldest to the newest; the oldest have no message to take out.
    """

    def __init__(self, factors: Array, past: list[Array]) -> None:
        self.factors = np.ascontiguousarray(factors.transpose(1, 2, 0))
        self.past = [np.ascontiguousarray(one.T) for one in past]

    def __call__(
        self, left: NDArray[Any], right: NDArray[Any], kind: NDArray[Any], weight: Array | None
    ) -> Exchanged:
        """Return messages, posteriors and log-likelihood of a batch of m answers."""
        own = self.factors.take(kind, axis=2)
        if weight is not None:
            own **= weight
        to_left: messages.Floats = np.zeros((len(own) - 1, len(left)))
        to_right = to_left
        for beliefs in reversed(self.past):
            (one, left_scale), (other, right_scale) = (
                messages.cavity(beliefs.take(end, axis=1), received)
                for end, received in ((left, to_left), (right, to_right))
            )
            to_left, to_right = _message(other, own), _message(one, own)
        joint, total = messages.joint(one, other, own)
        log_total = float((np.log(total) + left_scale + right_scale).sum())
        return (to_left, to_right), joint.reshape(-1, len(left)).T, log_total


class _BetweenTwo:
    """The same for two classes, by log-ratios, and in pieces that stay in the cache.

    ``item`` has one row per item, so that one look serves all sweeps: the log-ratios of the past,
    oldest first, and the log-belief in class 0 of the newest. Where a class is ruled out these are
    cut to what the other one leaves of it.
    """

    def __init__(self, factors: Array, past: list[Array], dtype: DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        self.most = messages.most(self.dtype)
        far = 2 * self.most
        log_ratios = [np.clip(one[:, 1] - one[:, 0], -far, far) for one in reversed(past)]
        log_zero = np.maximum(past[0][:, 0], past[0][:, 1] - far)
        self.item = np.stack([*log_ratios, log_zero], axis=1).astype(self.dtype)
        logs = np.log(factors[:, [0, 0, 1], [0, 1, 1]].T)  # ψ₀₀, ψ₀₁ = ψ₁₀, ψ₁₁ by kind
        self.log_scale = logs.max(axis=0)
        self.log_factor = (logs - self.log_scale).astype(self.dtype)

    def __call__(
        self, left: NDArray[Any], right: NDArray[Any], kind: NDArray[Any], weight: Array | None
    ) -> Exchanged:
        """Return messages, posteriors and log-likelihood of a batch of m answers."""
        m = len(left)
        sent, joint = np.empty((2, m)), np.empty((4, m))
        log_total = 0.0
        for start in range(0, m, PIECE):
            piece = slice(start, start + PIECE)
            own = None if weight is None else weight[piece]
            log_total += self._piece(
                left[piece], right[piece], kind[piece], own, sent[:, piece], joint[:, piece]
            )
        return (sent[:1], sent[1:]), joint.T, log_total

    def _piece(
        self,
        left: NDArray[Any],
        right: NDArray[Any],
        kind: NDArray[Any],
        weight: Array | None,
        sent: Array,
        joint: Array,
    ) -> float:
        """Fill in ``sent`` (2, m) and posteriors (4, m); return the sum of log-normalisers."""
        logs, scale = self.log_factor.take(kind, axis=1), self.log_scale.take(kind)
        if weight is not None:
            logs *= weight.astype(self.dtype)
            scale *= weight
        psi = np.exp(np.maximum(logs, -2 * self.most, out=logs), out=logs)
        *at_left, left_zero = self.item.take(left, axis=0).T
        *at_right, right_zero = self.item.take(right, axis=0).T
        to_left: Any = 0.0
        to_right: Any = 0.0
        for on_left, on_right in zip(at_left, at_right, strict=True):
            h_left, h_right = on_left - to_left, on_right - to_right
            one, other = messages.odds(h_left), messages.odds(h_right)
            to_right, to_left = messages.message_two(one, psi), messages.message_two(other, psi)
        sent[0], sent[1] = to_left, to_right
        joint[:], total = messages.joint_two(one, other, psi)
        log_total = np.log(total) + scale
        for h, log_zero in ((h_left, left_zero), (h_right, right_zero)):
            log_total += log_zero
            log_total += np.maximum(h - self.most, 0)  # what `odds` cut off
        return float(log_total.sum())


def _message(cavity: messages.Floats, factor: messages.Floats) -> messages.Floats:
    """Return log Σ_y c(y) ψ(y, y'), relative to class 0, (K − 1, m), for (K, m) and (K, K, m)."""
    log_carried = np.log(messages.carried(cavity, factor))
    return np.asarray(log_carried[1:] - log_carried[0])


def _factors(S: Array) -> Array:
    """Return ψ by kind of answer, 2·group + same, shape (2·n_groups, K, K), from S."""
    groups = S if S.ndim == 3 else S[None]
    both = np.stack([1 - groups, groups], axis=1).reshape(-1, *S.shape[-2:])
    return np.maximum(both, PROBABILITY_FLOOR)


def _by_kind(
    joint: messages.Floats, kind: NDArray[Any], weight: Array | None, n_kinds: int
) -> Array:
    """Sum the rows of joint (m, K·K), times weight, by kind of answer: (n_kinds, K·K)."""
    weighted = joint if weight is None else joint * weight[:, None]
    columns = [np.bincount(kind, column, n_kinds) for column in weighted.T]
    return np.stack(columns, axis=1)
