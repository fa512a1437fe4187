"""The search of a joint fit: every start of every Spec, and the Spec that predicts best.

One rule: among starts of one `Spec` the likelihood decides, which is out of fold; among Specs
(number of classes, class model, noise family) answers that were held out decide, and the simplest
is kept unless another one predicts better by more than a standard error. Where no Spec predicts
better than the share of "same" alone, the answers say nothing about classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from noisypairs.algebra import Array
from noisypairs.inference import progress
from noisypairs.inference.graph import PairGraph, signed_embedding
from noisypairs.inference.propagation import expected_counts
from noisypairs.joint.choices import (
    ENOUGH_HELD_OUT,
    HALVING_ROUNDS,
    HALVING_SWEEPS,
    N_FOLDS,
    ONE_ERROR,
    PLAIN,
    REPAIR_ROUNDS,
    REPAIRS,
    ROUNDS,
    SWEEPS,
)
from noisypairs.joint.em import Fit, GraphEStep, Spec, run_em
from noisypairs.joint.heldout import Gain, HeldOut
from noisypairs.joint.problem import Problem
from noisypairs.joint.starts import graph_excess, guessed_noise, guesses
from noisypairs.noise import PARTS, AnswerModel, NoiseModel
from noisypairs.pairs import Pairs

#: Numbers of classes that are tried where the number is open; larger ones follow by quarters.
GRID = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80, 100)


@dataclass
class Search:
    """The Specs in question for a problem, and what each predicted of held-out answers.

    ``given`` is the noise if it is known, ``families`` the names of those in question, the simplest
    first. After `choose`: ``spec``, ``log_chance`` {Spec: log P of every answer that was held out,
    NaN of others}, ``gain`` that of the Spec kept over the share of "same" alone.
    """

    problem: Problem
    families: Sequence[str] = ("pairing", "free")
    given: NoiseModel | None = None
    log_chance: dict[Spec, Array] = field(default_factory=dict)
    fits: dict[Spec, Fit] = field(default_factory=dict)
    spec: Spec | None = None
    gain: Gain | None = None
    ranking: list[tuple[float, str]] = field(default_factory=list)
    numbers: Sequence[int] | None = None
    least: int = 2

    # --- one Spec -------------------------------------------------------------------------

    def answer_model(self, problem: Problem, guess: Array, family_name: str) -> AnswerModel:
        """Return the answer model to start from: rates of the guess, and people where known."""
        K = guess.shape[1]
        noise = self.given or guessed_noise(guess, problem.pairs)
        model = AnswerModel(noise, "given" if self.given else family_name, K)
        if not problem.annotators:
            return model
        parts = (
            part.begin(problem.pairs, problem.X) for part in PARTS.values() if part.with_search
        )
        return model.with_parts(*parts)

    def best_start(
        self, problem: Problem, spec: Spec, beginnings: Mapping[str, Array], quick: bool = False
    ) -> Fit:
        """Return the fit of highest likelihood from several guesses: successive halving.

        ``quick`` ends it when one start is left.
        """
        runs = [
            self.run(problem, spec, name, guess, HALVING_ROUNDS, HALVING_SWEEPS)
            for name, guess in progress.each("start", list(beginnings.items()))
        ]
        rounds = HALVING_ROUNDS
        self.ranking = sorted((-run.log_likelihood, run.start) for run in runs)
        while len(runs) > 1:
            runs = sorted(runs, key=lambda run: -run.log_likelihood)[: (len(runs) + 1) // 2]
            runs = _distinct(runs)
            if len(runs) > 1:
                runs = [self.go_on(problem, run, rounds, HALVING_SWEEPS) for run in runs]
                rounds *= 2
        return runs[0] if quick else self.go_on(problem, runs[0])

    def run(
        self,
        problem: Problem,
        spec: Spec,
        start: str,
        guess: Array,
        rounds: int = ROUNDS,
        sweeps: int = SWEEPS,
    ) -> Fit:
        """Return where EM leads from one guess."""
        if self.given is not None and problem.clamp is None:
            guess = in_order_of(self.given, guess, problem.pairs)
        answers = self.answer_model(problem, guess, spec.family)
        e_step = GraphEStep(problem.graph, problem.clamp, sweeps)
        model = problem.class_model(spec.class_model)
        return run_em(spec, start, e_step, model, answers, guess, rounds=rounds)

    def go_on(
        self,
        problem: Problem,
        fit: Fit,
        rounds: int = ROUNDS,
        sweeps: int = SWEEPS,
        spec: Spec | None = None,
    ) -> Fit:
        """Return where more rounds lead from a fit, under its own Spec or another one."""
        spec = spec or fit.spec
        if fit.converged and spec == fit.spec:
            return fit
        answers = replace(fit.answers, family=spec.family)
        same = problem.graph.n_edges == fit.beliefs.sent.shape[-1]
        e_step = GraphEStep(
            problem.graph, problem.clamp, sweeps, fit.beliefs.sent if same else None
        )
        model = problem.class_model(spec.class_model)
        known: dict[str, Any] = {}
        if spec.class_model == fit.spec.class_model:
            known = {"phi": fit.phi, "line": fit.line}
        return run_em(
            spec, fit.start, e_step, model, answers, fit.item_proba, rounds=rounds, **known
        )

    def occupied(self, problem: Problem, fit: Fit) -> Fit:
        """Return the fit without classes that own no item, if that number is in question too."""
        owned = np.unique(fit.item_proba.argmax(axis=1))
        if len(owned) == fit.n_classes or not self.in_question(len(owned)):
            return fit
        spec = replace(fit.spec, n_classes=len(owned))
        guess = fit.item_proba[:, owned]
        guess = guess / np.maximum(guess.sum(axis=1, keepdims=True), 1e-12)
        return self.run(problem, spec, fit.start, guess)

    def in_question(self, n_classes: int) -> bool:
        """Return whether this may be the number of classes."""
        return n_classes >= self.least and (self.numbers is None or n_classes in self.numbers)

    def repaired(self, problem: Problem, fit: Fit) -> Fit:
        """Return the fit after merging two classes and cutting another one while that helps."""
        if fit.n_classes < 3 or problem.clamp is not None:
            return fit
        while True:
            better = None
            for guess in self._swaps(problem, fit):
                tried = self.run(problem, fit.spec, fit.start, guess, REPAIR_ROUNDS, SWEEPS)
                if tried.log_likelihood > fit.log_likelihood:
                    better = tried
                    break
            if better is None:
                return fit
            fit = self.go_on(problem, better)

    def _swaps(self, problem: Problem, fit: Fit) -> Iterator[Array]:
        """Yield beliefs with two classes merged and another one cut in two, K as before."""
        merged = list(mergers(problem, fit))[:REPAIRS]
        for (first, second), (c, mine, side) in zip(merged, cuts(problem, fit), strict=False):
            if c in (first, second):
                continue
            B = fit.item_proba
            new = cut(B, c, mine, side)
            new[:, first] += new[:, second]
            yield np.delete(new, second, axis=1)

    # --- many Specs -----------------------------------------------------------------------

    def choose(self, numbers: Sequence[int] | None, least: int = 2) -> Spec:
        """Choose the Spec; ``numbers`` of classes are in question, None for any from ``least``.

        Of several numbers all are tried with few rounds on one fold first. Those that another one
        does not clearly beat are then tried in full, with their neighbours.
        """
        problem, self.numbers, self.least = self.problem, numbers, least
        self.held = HeldOut.by_pair(problem.pairs, N_FOLDS, problem.seed, problem.groups)
        alive: set[Spec] | None = None
        for train, out in self.held.masks(ENOUGH_HELD_OUT):
            rest = problem.with_pairs(problem.pairs.select(train))
            self.fold_fits: dict[Spec, Fit] = {}
            if alive is None:
                one = numbers if numbers is not None and len(numbers) == 1 else None
                for K in one or self._contenders(rest, out):
                    self._predict(rest, K, out)
                if one is None:
                    self._try_neighbours(rest, out)
            else:
                for K in sorted({spec.n_classes for spec in alive}):
                    self._predict(rest, K, out, alive)
            self.fits |= self.fold_fits
            alive = self._alive(alive or set(self.log_chance))
        assert alive is not None  # there is at least one fold
        self.spec = self._simplest({spec: self.log_chance[spec] for spec in alive})
        self.gain = self.held.gain(self.log_chance[self.spec], self.blind)
        return self.spec

    def _contenders(self, rest: Problem, out: NDArray[np.bool_]) -> list[int]:
        """Return the numbers of classes that are not clearly beaten after few rounds."""
        enough = np.inf if self.numbers else 1.5 * (1 + n_directions(rest))
        least, most = self.least, max(self.least, rest.pairs.n_items // 2)
        grid = self.numbers or sorted({max(least, K) for K in GRID if most >= K} | {least})
        tried: dict[Spec, Array] = {}
        models = rest.class_models
        for K in progress.each("candidate number of classes", list(grid)):
            beginnings = guesses(rest, K, self.problem.seed)
            for name in reversed(models):
                spec = Spec(K, name, self.families[-1])
                fit = self.occupied(rest, self.best_start(rest, spec, beginnings, True))
                found = self._predicted(fit, out)
                known = tried.get(fit.spec)
                if known is None or np.nansum(found) > np.nansum(known):
                    tried[fit.spec] = found
                leaders = [start for _, start in self.ranking[: (len(beginnings) + 1) // 2]]
                beginnings = {start: beginnings[start] for start in leaders}
            best = _best(tried)
            models = [name for name in models if self._near(tried, name, best)]
            if enough <= K and sum(best.n_classes < other <= K for other in grid) > 1:
                break
        near = {spec.n_classes for spec in tried if not self._beats(tried[best], tried[spec])}
        return sorted(K for K in near if best.n_classes >= K)

    def _near(self, tried: Mapping[Spec, Array], name: str, best: Spec) -> bool:
        """Return whether a class model is not clearly beaten by the best Spec."""
        own = {spec: value for spec, value in tried.items() if spec.class_model == name}
        return not self._beats(tried[best], own[_best(own)], 2 * ONE_ERROR)

    def _try_neighbours(self, rest: Problem, out: NDArray[np.bool_]) -> None:
        """Try the numbers beside the one that would be kept."""
        tried = {spec.n_classes for spec in self.log_chance}
        while True:
            kept = self._simplest(self.log_chance).n_classes
            beside = {kept - 1, kept + 1} - tried
            for K in sorted(beside):
                if self.in_question(K):
                    self._predict(rest, K, out)
            tried |= beside
            if not beside:
                return

    def _alive(self, specs: set[Spec]) -> set[Spec]:
        """Return the Specs worth another fold: none that is clearly beaten, or larger in vain."""
        tried = {spec: self.log_chance[spec] for spec in specs}
        best = _best(tried)
        return {
            spec
            for spec in specs
            if spec.n_classes <= best.n_classes
            and not self._beats(tried[best], tried[spec], 2 * ONE_ERROR)
        }

    def _predict(
        self, rest: Problem, K: int, out: NDArray[np.bool_], alive: set[Spec] | None = None
    ) -> None:
        """Predict the answers held out by every Spec of K classes, or by those still alive."""
        beginnings = guesses(rest, K, self.problem.seed)
        for name in reversed(rest.class_models):  # the most general first: it ranks the starts
            specs = [Spec(K, name, other) for other in self.families]
            if alive is not None and not alive.intersection(specs):
                continue
            fit = self.best_start(rest, specs[-1], beginnings)
            leaders = [start for _, start in self.ranking[: (len(beginnings) + 1) // 2]]
            beginnings = {start: beginnings[start] for start in leaders}
            for spec in specs:
                if alive is not None and spec not in self.log_chance:
                    continue  # a class had no items in the first fold
                own = fit if spec == specs[-1] else self.go_on(rest, fit, spec=spec)
                if alive is None:  # later folds are about the same Specs
                    own = self.occupied(rest, own)
                known = self.fold_fits.get(own.spec)
                if known is not None and known.log_likelihood >= own.log_likelihood:
                    continue
                self.fold_fits[own.spec] = own
                unknown = np.full(self.problem.pairs.n_pairs, np.nan)
                self.log_chance.setdefault(own.spec, unknown)[out] = self._predicted(own, out)[out]

    def _predicted(self, fit: Fit, out: NDArray[np.bool_]) -> Array:
        """Return log P of the answers held out, (n_pairs,), NaN of all others."""
        found = np.full(len(out), np.nan)
        found[out] = log_chance(fit, self.problem.pairs.select(out))
        return found

    def _beats(self, better: Array, worse: Array, errors: float = ONE_ERROR) -> bool:
        return self.held.gain(better, worse).exceeds(errors)

    def _simplest(self, tried: Mapping[Spec, Array]) -> Spec:
        """Return the simplest Spec that the best one does not clearly beat.

        Simpler class models come first only where a comparison could tell: the gain over the share
        of "same" must be `PLAIN` times the error of the difference. There they are kept unless
        beaten by two errors, as classes that are clusters of the features are what users look for.
        """
        models = self.problem.class_models
        general = {spec: v for spec, v in tried.items() if spec.class_model == models[-1]}
        others = {spec: v for spec, v in tried.items() if spec not in general}
        if general and others:
            difference = self.held.gain(general[_best(general)], others[_best(others)])
            total = self.held.gain(general[_best(general)], self.blind).nats
            if total <= PLAIN * difference.error:
                tried = general
        best = _best(tried)
        for spec in sorted(tried, key=self._simplicity):
            simpler = spec.n_classes == best.n_classes and spec.class_model != models[-1]
            if not self._beats(tried[best], tried[spec], ONE_ERROR * (2 if simpler else 1)):
                return spec
        return best

    def _simplicity(self, spec: Spec) -> tuple[int, int, int]:
        order = self.problem.class_models.index(spec.class_model)
        return spec.n_classes, order, self.families.index(spec.family)

    @property
    def blind(self) -> Array:
        """Log P of every answer where only the share of "same" is known, (n_pairs,)."""
        share = np.clip(self.problem.share, 1e-9, 1 - 1e-9)
        return np.asarray(np.where(self.problem.pairs.same, np.log(share), np.log1p(-share)))

    def class_numbers(self) -> dict[int, float]:
        """Return the mean log P of answers that every Spec held out, by number of classes."""
        found: dict[int, float] = {}
        common = np.all([np.isfinite(values) for values in self.log_chance.values()], axis=0)
        for spec, values in self.log_chance.items():
            mean = float(values[common].mean())
            found[spec.n_classes] = max(mean, found.get(spec.n_classes, -np.inf))
        return dict(sorted(found.items()))

    def final(self, spec: Spec, more: Mapping[str, Array] | None = None) -> Fit:
        """Fit a Spec to all answers, from what was found without those held out, and repair it."""
        beginnings = {self.fits[spec].start: self.fits[spec].item_proba} | dict(more or {})
        found = self.repaired(self.problem, self.best_start(self.problem, spec, beginnings))
        return self.occupied(self.problem, found)


def in_order_of(noise: NoiseModel, guess: Array, pairs: Pairs) -> Array:
    """Return the guess with its classes in the order under which a given noise fits best.

    Pairing noise fits all orders alike. Orders of up to six classes are tried.
    """
    K = guess.shape[1]
    S = np.clip(noise.same_probability(K), 1e-6, 1.0 - 1e-6)
    if K > 6:
        return guess
    named = guess.argmax(axis=1)
    counts = np.zeros((2, K, K))
    np.add.at(counts, (pairs.same.astype(int), named[pairs.left], named[pairs.right]), 1.0)
    logs = np.stack([np.log1p(-S), np.log(S)])
    orders = [np.array(order) for order in permutations(range(K))]
    best = max(orders, key=lambda order: float((counts[:, order][:, :, order] * logs).sum()))
    return guess[:, best]


def _best(tried: Mapping[Spec, Array]) -> Spec:
    """Return the Spec that predicts best."""
    return max(tried, key=lambda spec: float(np.nanmean(tried[spec])))


def log_chance(fit: Fit, pairs: Pairs) -> Array:
    """Return log P of every answer, shape (n_pairs,), from the beliefs about its two items."""
    states, S = fit.beliefs.item, fit.answers.matrices()
    left, right = states[pairs.left], states[pairs.right]
    if S.ndim == 2:
        chance = np.einsum("nk,nk->n", left @ S, right)
    else:
        chance = np.empty(pairs.n_pairs)
        who = np.asarray(pairs.annotator)
        order = np.argsort(who, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(who[order])) + 1):
            if rows.size:
                chance[rows] = np.einsum("nk,nk->n", left[rows] @ S[who[rows[0]]], right[rows])
    chance = np.clip(chance, 1e-9, 1.0 - 1e-9)
    return np.asarray(np.log(np.where(pairs.same, chance, 1.0 - chance)))


def beyond_chance(problem: Problem) -> dict[str, float]:
    """Return by how many standard deviations features, and graph, exceed permuted answers.

    What is compared is the leading eigenvalue: of the answers along features, and of the graph.
    """
    rng = np.random.default_rng(problem.seed)
    found = {}
    if problem.Z is not None:
        found["features"] = problem.alignment.excess(rng)
    found["other answers"] = graph_excess(problem.graph, rng)
    return found


def n_directions(problem: Problem) -> int:
    """Return how many directions of features, or of the graph, show more than permuted answers."""
    rng = np.random.default_rng(problem.seed)
    if problem.Z is not None:
        return problem.alignment.n_directions(rng)
    return 1


def _distinct(runs: Sequence[Fit]) -> list[Fit]:
    """Return the runs, best first, without those that believe what a better one does."""
    kept: list[Fit] = []
    for run in runs:
        near = (abs(run.log_likelihood - one.log_likelihood) < 1.0 for one in kept)
        if not any(near):
            kept.append(run)
    return kept


def cuts(problem: Problem, fit: Fit) -> Iterator[tuple[int, NDArray[np.intp], NDArray[np.bool_]]]:
    """Yield classes that may be two: the class, its items, and which of these are the other half.

    First those in which most answers are "different" beyond what the noise explains; cut along the
    answers within them, and along the features.
    """
    B = fit.item_proba
    same, different = _counts(problem, fit)
    rate = np.diag(fit.answers.S)
    inside = np.diag(same), np.diag(different)
    surplus = inside[1] - (inside[0] + inside[1]) * (1.0 - rate)
    owner = B.argmax(axis=1)
    for c in np.argsort(-surplus / np.sqrt(inside[0] + inside[1] + 1.0), kind="stable")[:REPAIRS]:
        mine = np.flatnonzero(owner == c)
        if len(mine) < 4:
            continue
        within = PairGraph.from_pairs(problem.pairs[mine])
        sides = [signed_embedding(within, 1, problem.seed)[:, 0] > 0]
        if problem.Z is not None:
            near = KMeans(2, n_init=2, random_state=problem.seed)
            sides.append(near.fit_predict(problem.Z[mine]) == 1)
        for side in sides:
            if 0 < side.sum() < len(mine):
                yield int(c), mine, side


def mergers(problem: Problem, fit: Fit) -> Iterator[tuple[int, int]]:
    """Yield couples of classes that may be one, those most often called "same" first."""
    K = fit.n_classes
    same, different = _counts(problem, fit)
    rate = (same + 0.1) / (same + different + 1.0)
    first, second = np.triu_indices(K, 1)
    for k in np.argsort(-rate[first, second], kind="stable"):
        yield int(first[k]), int(second[k])


def _counts(problem: Problem, fit: Fit) -> tuple[Array, Array]:
    """Return the classes behind "same" and "different", (K, K) each."""
    graph, K = fit.answers.reweighted(problem.graph), fit.n_classes
    same, different = expected_counts(graph, fit.beliefs, fit.answers.matrices())
    return same.sum(axis=0)[:K, :K], different.sum(axis=0)[:K, :K]


def cut(B: Array, c: int, mine: NDArray[np.intp], side: NDArray[np.bool_]) -> Array:
    """Return beliefs (n, K + 1) in which one side of the items of class c is a class of its own."""
    new = np.column_stack([B, np.zeros(len(B))])
    share = np.where(side, 0.8, 0.2)
    new[mine, -1] = share * B[mine, c]
    new[mine, c] = (1.0 - share) * B[mine, c]
    return new
