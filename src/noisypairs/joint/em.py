"""Expectation maximisation: classes, answers and features in one loop.

    class model   out-of-fold P(class | x) from the beliefs, calibrated against the evidence;
    E-step        belief propagation fuses it with all answers under the answer model;
    M-step        the answer model is fitted to the states behind the answers.

Where the answers are is the business of the E-step: `GraphEStep` has them in memory, `TableEStep`
leaves them in the engine of a `PairTable`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.graph import progress
from noisypairs.graph.propagation import Beliefs, PairGraph, edge_statistics, propagate
from noisypairs.joint.choices import (
    CERTAIN,
    LAST_TOLERANCE,
    NEGLIGIBLE,
    ROUNDS,
    SWEEPS,
    TOLERANCE,
)
from noisypairs.joint.class_model import Calibration, ClassModel
from noisypairs.noise import AnswerModel, NoiseModel, People
from noisypairs.noise.answers import Expectation
from noisypairs.pairs import Pairs
from noisypairs.tables.propagation import TablePropagation


@dataclass(frozen=True)
class Spec:
    """What is fitted: a number of classes, a class model and a family of the noise."""

    n_classes: int
    class_model: str
    family: str


@dataclass(frozen=True, eq=False)
class Fit:
    """What came of a `Spec` from one start.

    ``beliefs`` are about states, ``item_proba`` (n_items, K) about classes; ``phi`` is the
    out-of-fold P(class | x) that entered, and ``line`` its calibration. ``log_likelihood`` is
    Bethe's of all answers given ``phi``: out of fold, so that starts can be compared by it.
    ``history`` has a row per round.
    """

    spec: Spec
    start: str
    answers: AnswerModel
    beliefs: Beliefs
    item_proba: Array
    phi: Array
    line: Calibration
    log_likelihood: float
    converged: bool
    history: list[dict[str, float]] = field(repr=False)

    @property
    def evidence(self) -> Array:
        """What the answers say about the items beside φ, (n_items, K), rows sum to one."""
        return evidence(self.item_proba, self.phi)

    @property
    def n_classes(self) -> int:
        """K."""
        return self.spec.n_classes

    def permuted(self, order: NDArray[np.intp]) -> Fit:
        """Return the same with class ``order[k]`` as number k."""
        more = np.arange(len(order), self.answers.n_states)  # states that parts add stay last
        return replace(
            self,
            answers=self.answers.permuted(order),
            beliefs=self.beliefs.reordered(np.concatenate([order, more])),
            item_proba=self.item_proba[:, order],
            phi=self.phi[:, order],
            line=self.line.permuted(order),
        )


def evidence(item_proba: Array, phi: Array) -> Array:
    """Return m of b ∝ φ m, normalised, (n_items, K)."""
    m = item_proba / np.maximum(phi, CERTAIN)
    return np.asarray(m / np.maximum(m.sum(axis=1, keepdims=True), 1e-300))


def expectation(graph: PairGraph, fit: Fit) -> Expectation:
    """Return what a fit expects of the answers that it was fitted to."""
    graph, responses = fit.answers.reweighted(graph), fit.answers.responses()
    counts, _ = edge_statistics(graph, fit.beliefs, responses)
    return Expectation(graph, fit.beliefs, responses, fit.phi, counts)


class EStep(Protocol):
    """From log P(state) (n_items, Q), last beliefs and an answer model to what is expected."""

    def __call__(
        self, log_states: Array, item_proba: Array, phi: Array, answers: AnswerModel
    ) -> tuple[Expectation, float]:
        """Return the expectation, and the log-likelihood under the answer model."""
        ...

    def forget(self) -> None:
        """Forget messages: the states have changed."""
        ...


class GraphEStep:
    """The E-step in memory: belief propagation, from the messages of the last round."""

    def __init__(
        self,
        graph: PairGraph,
        clamp: Mapping[int, int] | None = None,
        sweeps: int = SWEEPS,
        messages: Any = None,
    ) -> None:
        self.graph, self.clamp, self.sweeps, self.messages = graph, clamp, sweeps, messages

    def forget(self) -> None:
        """Forget the messages."""
        self.messages = None

    def __call__(
        self, log_states: Array, item_proba: Array, phi: Array, answers: AnswerModel
    ) -> tuple[Expectation, float]:
        """Return the expectation, and Bethe's log-likelihood."""
        graph, S = answers.reweighted(self.graph), answers.responses()
        messages = self.messages
        if messages is None:
            # The features may say little: messages carry the beliefs into the first round.
            guess = np.log(np.clip(answers.states(item_proba), CERTAIN, None))
            messages = propagate(graph, guess, S, max_iter=1, clamp=self.clamp).sent
        beliefs = propagate(
            graph, log_states, S, messages, tol=1e-3, max_iter=self.sweeps, clamp=self.clamp
        )
        self.messages = beliefs.sent
        counts, log_edges = edge_statistics(graph, beliefs, S)
        return Expectation(graph, beliefs, S, phi, counts), beliefs.log_scale + log_edges


class TableEStep:
    """The E-step over a `PairTable`: queries in its engine, and beliefs of the items in memory."""

    def __init__(self, table: Any, people: bool, clamp: Mapping[int, int] | None) -> None:
        self.propagation = TablePropagation(table, people=people, known=clamp, tol=LAST_TOLERANCE)

    def forget(self) -> None:
        """Begin from beliefs again."""
        self.propagation.beliefs = None

    def __call__(
        self, log_states: Array, item_proba: Array, phi: Array, answers: AnswerModel
    ) -> tuple[Expectation, float]:
        """Return the expectation, and Bethe's log-likelihood."""
        at, responses = self.propagation, answers.responses()
        potentials = at.potentials(np.exp(log_states))
        if at.beliefs is None:
            at.begin(potentials, at.potentials(np.clip(answers.states(item_proba), CERTAIN, None)))
        else:
            at.renew(potentials)
        found, item = at.round(responses), at.item_proba()
        no_messages = np.empty((2, item.shape[1] - 1, 0))
        log_item = np.log(np.maximum(item, np.finfo(float).tiny))
        beliefs = Beliefs(item, log_item, no_messages, np.nan, True, at.passes, np.nan)
        seen = Expectation(None, beliefs, responses, phi, found.counts)
        return seen, found.log_likelihood


def run_em(
    spec: Spec,
    start: str,
    e_step: EStep,
    class_model: ClassModel,
    answers: AnswerModel,
    item_proba: Array,
    *,
    phi: Array | None = None,
    line: Calibration | None = None,
    rounds: int = ROUNDS,
    tolerance: float = TOLERANCE,
) -> Fit:
    """Run EM from a guess of the beliefs, (n_items, K), and keep the round of highest likelihood.

    ``phi`` and ``line`` are those of an earlier run to go on from. EM has converged when the
    beliefs change by less than ``tolerance`` on average, and the round, or a new table where there
    are no parts, explains the answers better by less than `NEGLIGIBLE` of the sampling error of
    their likelihood, the root of their number. The likelihood is out of fold, so it may fall: the
    second fall in a row ends the run.
    """
    history: list[dict[str, float]] = []
    best: Fit | None = None
    last, falls, converged = -np.inf, 0, False
    for _ in progress.each("round", range(rounds)):
        known = item_proba if phi is None else evidence(item_proba, phi)
        phi, line = class_model.proba(item_proba, known, line)
        seen, value = e_step(np.log(answers.states(phi)), item_proba, phi, answers)
        new = answers.classes(seen.beliefs.item, phi)
        change = float(np.abs(new - item_proba).mean())
        fit = Fit(spec, start, answers, seen.beliefs, new, phi, line, value, False, history)
        answers = answers.fitted(seen).with_parts()
        gained = abs(value - last)
        if not answers.parts:  # else the table is not all that was fitted
            gained = min(gained, table_gain(seen, fit.answers, answers))
        if answers.n_states != fit.answers.n_states:  # a part has gone, and with it its state
            e_step.forget()
        item_proba = new
        history.append({"log_likelihood": value, "belief_change": change, "gain": gained})
        converged = change < tolerance and gained < NEGLIGIBLE * np.sqrt(seen.counts.sum())
        if answers.n_states == fit.answers.n_states:
            fit = replace(fit, answers=answers)  # a table of its family, though this round began it
        if best is None or value >= best.log_likelihood:
            best = fit
        falls = falls + 1 if value < last else 0
        last = value
        if converged or falls == 2:
            break
    assert best is not None  # rounds is at least one
    return replace(best, converged=converged or falls == 2)


def table_gain(seen: Expectation, before: AnswerModel, after: AnswerModel) -> float:
    """Return by how many nats a new table explains the counted answers better, as EM sees it."""
    K = before.n_classes
    old, new = (np.maximum(one.average_response(), 1e-12) for one in (before, after))
    return float(abs((seen.counts.sum(axis=0)[:, :K, :K] * np.log(new / old)).sum()))


class KnownModel(ClassModel):
    """P(class | x) that is known and stays as it is, (n_items, K)."""

    name, calibrated = "known", False

    def __init__(self, phi: Array) -> None:
        self.phi, self.weight = phi, np.ones(len(phi))

    def scores(self, beliefs: Array) -> Array:
        """Return log P(class | x)."""
        del beliefs
        return np.log(np.maximum(self.phi, 1e-12))

    def fitted(self, beliefs: Array, line: Calibration) -> tuple[Any, Calibration]:
        """Refuse: nothing is learnt."""
        raise NotImplementedError("what is known is not fitted")


def beliefs_from(
    graph: PairGraph, phi: Array, noise: NoiseModel, pairs: Pairs, rounds: int = ROUNDS
) -> Fit:
    """Return beliefs about items of known P(class | x), (n, K), under a given noise.

    Where the graph has several groups, everybody's bias and skill are estimated.
    """
    K = phi.shape[1]
    people = People.begin(pairs, None) if graph.n_groups > 1 else None
    answers = AnswerModel(noise, "given", K).with_parts(people)
    spec = Spec(K, "known", "given")
    return run_em(spec, "known", GraphEStep(graph), KnownModel(phi), answers, phi, rounds=rounds)
