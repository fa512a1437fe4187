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
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from noisypairs import reduction
from noisypairs.algebra import Array
from noisypairs.errors import NotIdentifiable
from noisypairs.estimation.heldout import Gain, HeldOut, gain_of_items
from noisypairs.estimators.base import match_labels
from noisypairs.estimators.inner.classifiers import Staged
from noisypairs.graph import progress
from noisypairs.joint.choices import (
    CERTAIN,
    ENOUGH_CROSSED,
    ENOUGH_HELD_OUT,
    ENOUGH_TESTED,
    HALVING_ROUNDS,
    N_FOLDS,
    ONE_ERROR,
    PART_OF_CLASS,
    PLAIN,
    RACE_ITEMS,
    ROUNDS,
    SURE,
    UNEXPLAINED,
)
from noisypairs.joint.class_model import (
    EstimatorModel,
    Positions,
    calibrate,
    fold_proba,
)
from noisypairs.joint.em import Fit, GraphEStep, Spec, expectation, run_em
from noisypairs.joint.problem import Problem
from noisypairs.joint.starts import Starts, crossed, graph_excess, guessed_table
from noisypairs.noise import PARTS, AnswerModel, NoiseModel
from noisypairs.noise.answers import expected_log_chance, log_chance
from noisypairs.noise.model import SLIPS
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import weights_of
from noisypairs.pairs.pairs import levels_of

#: Numbers of classes that are tried where the number is open; larger ones follow by quarters.
GRID = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 32, 40, 50, 64, 80, 100)


#: Class models by name, the simplest first.
CLASS_MODELS = ("shares", "gaussian", "ridge")


def label_noise(problem: Problem, fit: Fit) -> float:
    """Return how often labels are wrong, by what features and answers say of the labelled items.

    With q_i the chance of the class that label i names, the expected share is taken again and
    again, from the law of `SLIPS`.
    """
    labels = problem.clamp
    assert labels is not None
    at = np.fromiter(labels, np.intp, len(labels)), np.fromiter(labels.values(), np.intp)
    q = without_labels(problem, fit)[at]
    noise = labels.noise
    for _ in range(ROUNDS):
        other = noise * (1.0 - q) / (fit.n_classes - 1)
        wrong = other / np.maximum((1.0 - noise) * q + other, 1e-300)
        noise = (float(wrong.sum()) + SLIPS[0]) / (len(q) + sum(SLIPS))
    return noise


def without_labels(problem: Problem, fit: Fit) -> Array:
    """Return what features and answers say of the items, (n_items, K), not their labels."""
    states = np.log(fit.answers.states(fit.phi))
    seen, _ = GraphEStep(problem.graph)(states, fit.item_proba, fit.phi, fit.answers)
    return fit.answers.classes(seen.beliefs.item, fit.phi)


def named_order(problem: Problem, fit: Fit) -> NDArray[np.intp] | None:
    """Return, for each name, which class of a fit its labelled items are in; None if as named.

    What features and answers say about these items decides, not their labels.
    """
    if problem.clamp is None or problem.names is None:
        return None
    order = match_labels(without_labels(problem, fit), problem.all_pairs, problem.names)
    named = np.unique(list(problem.clamp.values())).astype(np.intp)
    return None if np.array_equal(order[named], named) else order


@dataclass
class Search:
    """The Specs in question for a problem, and what each predicted of held-out answers.

    ``given`` is the noise if it is known, ``families`` the names of those in question, the simplest
    first. ``fits`` {Spec: its fits without the answers of each fold}.
    After `choose`: ``spec``, ``log_chance`` {Spec: log P of every answer that was held out,
    NaN of others}, ``gain`` that of the Spec kept over the share of "same" alone.
    """

    problem: Problem
    families: Sequence[str] = ("pairing", "free")
    given: NoiseModel | None = None
    log_chance: dict[Spec, Array] = field(default_factory=dict)
    fits: dict[Spec, list[Fit]] = field(default_factory=dict)
    spec: Spec | None = None
    gain: Gain | None = None
    ranking: list[tuple[float, str]] = field(default_factory=list)
    numbers: Sequence[int] | None = None
    least: int = 2

    # --- one Spec -------------------------------------------------------------------------

    def answer_model(self, problem: Problem, guess: Array, family_name: str) -> AnswerModel:
        """Return the answer model to start from: rates of the guess, and people where known."""
        K = guess.shape[1]
        noise = self.given or guessed_table(guess, problem.pairs)
        model = AnswerModel(noise, "given" if self.given else family_name, K)
        if not problem.annotators:
            return model
        parts = (
            part.begin(problem.pairs, problem.X)
            for part in PARTS.values()
            if part.joins == "search"
        )
        return model.with_parts(*parts)

    def best_start(
        self, problem: Problem, spec: Spec, starts: Starts, names: Sequence[str] | None = None
    ) -> Fit:
        """Return the best fit from several starts, crossed with more of its kind while that helps.

        It explains the answers best.
        """
        fit = self.halved(problem, spec, [(name, starts(name)) for name in names or starts.names])
        fit, failed = self.go_on(problem, fit), 0
        while failed < ENOUGH_CROSSED:
            tried = self.cross(problem, fit, starts(fit.start))
            failed += 1
            if tried.log_likelihood > fit.log_likelihood + 1.0:
                fit, failed = tried, 0
        return fit

    def halved(self, problem: Problem, spec: Spec, guesses: Sequence[tuple[str, Array]]) -> Fit:
        """Return the fit that leads after successive halving of guesses, named by their starts.

        Those left after each stage are crossed with the best one.
        """
        runs = [
            self.run(problem, spec, name, guess, HALVING_ROUNDS)
            for name, guess in progress.each("start", list(guesses))
        ]
        rounds = HALVING_ROUNDS
        self.ranking = sorted((-run.log_likelihood, run.start) for run in runs)
        while len(runs) > 1:
            number = len(runs) // 2
            runs = _distinct(runs, (len(runs) + 1) // 2)
            if len(runs) > 1:
                crosses = [self.cross(problem, runs[0], run.item_proba, rounds) for run in runs[1:]]
                runs = [self.go_on(problem, run, rounds) for run in runs]
                runs = _distinct(runs + crosses, number)
                rounds *= 2
        return runs[0]

    def cross(self, problem: Problem, fit: Fit, other: Array, rounds: int = ROUNDS) -> Fit:
        """Return where EM leads from what a fit and other beliefs, (n_items, K), agree on.

        If that moves less than a part of a class, it leads back to the fit.
        """
        guess, moved = crossed(fit.item_proba, other, problem.pairs)
        if moved * fit.n_classes < PART_OF_CLASS:
            return fit
        return self.run(problem, fit.spec, fit.start, guess, rounds)

    def run(
        self,
        problem: Problem,
        spec: Spec,
        start: str,
        guess: Array,
        rounds: int = ROUNDS,
    ) -> Fit:
        """Return where EM leads from one guess."""
        if self.given is not None and problem.clamp is None:
            guess = in_order_of(self.given, guess, problem.pairs)
        answers = self.answer_model(problem, guess, spec.family)
        model = problem.class_model(spec.class_model)
        e_step = GraphEStep(problem.graph, problem.clamp)
        fit = run_em(spec, start, e_step, model, answers, guess, rounds=rounds)
        order = named_order(problem, fit)
        if order is None:
            return fit
        # The guess was wrong about a labelled item, and so about the names of all classes.
        renamed = fit.permuted(order)
        e_step.forget()
        return run_em(
            spec, start, e_step, model, renamed.answers, renamed.item_proba, rounds=rounds
        )

    def go_on(
        self,
        problem: Problem,
        fit: Fit,
        rounds: int = ROUNDS,
        spec: Spec | None = None,
    ) -> Fit:
        """Return where more rounds lead from a fit, under its own Spec or another one."""
        spec = spec or fit.spec
        if fit.converged and spec == fit.spec:
            return fit
        answers = fit.answers
        if spec.family != fit.spec.family:
            answers = replace(answers, family=spec.family).fitted(expectation(problem.graph, fit))
        e_step = GraphEStep(problem.graph, problem.clamp, messages=fit.beliefs.sent)
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
        possible = self.least <= n_classes <= self.problem.pairs.n_items
        return possible and (self.numbers is None or n_classes in self.numbers)

    # --- many Specs -----------------------------------------------------------------------

    def choose(self, numbers: Sequence[int] | None, least: int = 2) -> Spec:
        """Choose the Spec; ``numbers`` of classes are in question, None for any from ``least``.

        Of several numbers all are tried with few rounds on one fold first. Those that another one
        does not clearly beat are then tried in full, with their neighbours.
        """
        problem, self.least = self.problem, least
        n_items = problem.pairs.n_items
        if n_items < least or (numbers and min(numbers) > n_items):
            raise NotIdentifiable(
                f"{min(numbers or [least])} classes of {n_items} items: expected more items than "
                "classes, give items that were compared, or fewer classes"
            )
        self.numbers = numbers and [K for K in numbers if n_items >= K]
        self.held = HeldOut.by_pair(problem.pairs, N_FOLDS, problem.seed, problem.groups)
        one = numbers if numbers is not None and len(numbers) == 1 else None
        alive: set[Spec] | None = None
        alone = one == [2]
        for train, out in self.held.masks(ENOUGH_HELD_OUT):
            if not train.any():
                raise NotIdentifiable(
                    "all answers are about one pair of items: some must be held out to judge the "
                    "fit by, and no others are left to learn from. Ask about more pairs"
                )
            rest = problem.with_pairs(problem.pairs.select(train))
            self.fold_fits: dict[Spec, Fit] = {}
            if alone:
                alone = self._told_by_graph(rest, out) or alive is not None
            if alive is None and not alone:
                for K in one or self._contenders(rest, out):
                    self._predict(rest, K, out)
                if one is None:
                    self._try_neighbours(rest, out)
            elif alive is not None and not alone:
                for K in sorted({spec.n_classes for spec in alive}):
                    self._predict(rest, K, out, alive)
            for spec, fit in self.fold_fits.items():
                self.fits.setdefault(spec, []).append(fit)
            alive = self._alive(alive or set(self.log_chance))
        assert alive is not None  # there is at least one fold
        self.spec = self._simplest({spec: self.log_chance[spec] for spec in alive})
        self.gain = self.held.gain(self.log_chance[self.spec], self.blind)
        return self.spec

    def _told_by_graph(self, rest: Problem, out: NDArray[np.bool_]) -> bool:
        """Try two classes without features; return whether answers alone tell those of most items.

        Two classes are one cut of the graph, and its leading eigenvector is the best to begin with.
        Where answers held out are predicted as well as known classes would, up to `UNEXPLAINED` of
        their gain over blind guessing, features and other starts have nothing to add to the search.
        """
        spec = Spec(2, "shares", self.families[-1])
        fit = self.run(rest, spec, "spectral", Starts(rest, 2, self.problem.seed)("spectral"))
        some = self.problem.pairs.select(out)
        blind = float(self.blind[out] @ weights_of(some))
        reached = float(self._predicted(fit, out)[out] @ weights_of(some)) - blind
        known = expected_log_chance(fit.answers, fit.beliefs.item, some) - blind
        told = reached >= (1.0 - UNEXPLAINED) * known
        if told or self.log_chance:
            for name in self.families:
                other = replace(spec, family=name)
                own = fit if other == spec else self.go_on(rest, fit, spec=other)
                self._keep(own, out)
        return told

    def _keep(self, fit: Fit, out: NDArray[np.bool_]) -> None:
        """Keep a fit of this fold, and what it predicts."""
        self.fold_fits[fit.spec] = fit
        unknown = np.full(self.problem.pairs.n_pairs, np.nan)
        self.log_chance.setdefault(fit.spec, unknown)[out] = self._predicted(fit, out)[out]

    def predicted(self, spec: Spec) -> Array:
        """Return log P of held-out answers under one Spec, (n_pairs,), NaN of those not held out.

        Where `choose` has not tried it, it is fitted without them here.
        """
        if spec not in self.log_chance:
            problem = self.problem
            self.held = HeldOut.by_pair(problem.pairs, N_FOLDS, problem.seed, problem.groups)
            found = np.full(problem.pairs.n_pairs, np.nan)
            for train, out in self.held.masks(ENOUGH_HELD_OUT):
                rest = problem.with_pairs(problem.pairs.select(train))
                fit = self.best_start(rest, spec, Starts(rest, spec.n_classes, problem.seed))
                found[out] = self._predicted(fit, out)[out]
                self.fits.setdefault(spec, []).append(fit)
            self.log_chance[spec] = found
        return self.log_chance[spec]

    def is_inverted(self, n_classes: int) -> bool:
        """Return whether answers read the other way follow classes, and clearly better.

        Never where they have more levels than "same" and "different".
        """
        pairs = self.problem.pairs
        if not pairs.scale.is_plain or self.spec is None:
            return False
        other = Search(self.problem.with_pairs(pairs._replace(same=~pairs.same)), self.families)
        found = other.log_chance[other.choose([n_classes])]
        gains = (self.held.gain(found, known) for known in (self.log_chance[self.spec], self.blind))
        return all(gain.exceeds(2 * ONE_ERROR) for gain in gains)

    def _contenders(self, rest: Problem, out: NDArray[np.bool_]) -> list[int]:
        """Return the numbers of classes that are not clearly beaten after few rounds."""
        enough = np.inf if self.numbers else 1.5 * (1 + n_directions(rest))
        least, most = self.least, max(self.least, rest.pairs.n_items // 2)
        grid = self.numbers or sorted({max(least, K) for K in GRID if most >= K} | {least})
        tried: dict[Spec, Array] = {}
        models = rest.class_models
        for K in progress.each("candidate number of classes", list(grid)):
            starts = Starts(rest, K, self.problem.seed)
            names = starts.names
            for name in reversed(models):
                spec = Spec(K, name, self.families[-1])
                tried_first = [(one, starts(one)) for one in names]
                fit = self.occupied(rest, self.halved(rest, spec, tried_first))
                found = self._predicted(fit, out)
                known = tried.get(fit.spec)
                if known is None or np.nansum(found) > np.nansum(known):
                    tried[fit.spec] = found
                names = [start for _, start in self.ranking[: (len(names) + 1) // 2]]
            best = _best(tried)
            models = [name for name in models if self._near(tried, name, best)]
            if enough <= K and sum(best.n_classes < other <= K for other in grid) > 1:
                break
        near = {spec.n_classes for spec in tried if not self._beats(tried[best], tried[spec], SURE)}
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
        """Return the Specs worth another fold.

        Simpler ones than the best are given up when they are surely worse: of many Specs the best
        on one fold is partly so by chance. Larger ones must be within one error of it.
        """
        tried = {spec: self.log_chance[spec] for spec in specs}
        best = _best(tried)
        errors = {spec: SURE if spec.n_classes <= best.n_classes else ONE_ERROR for spec in specs}
        return {spec for spec in specs if not self._beats(tried[best], tried[spec], errors[spec])}

    def _predict(
        self, rest: Problem, K: int, out: NDArray[np.bool_], alive: set[Spec] | None = None
    ) -> None:
        """Predict the answers held out by every Spec of K classes, or by those still alive."""
        starts = Starts(rest, K, self.problem.seed)
        names = starts.names
        for name in reversed(rest.class_models):  # the most general first: it ranks the starts
            specs = [Spec(K, name, other) for other in self.families]
            if alive is not None and not alive.intersection(specs):
                continue
            fit = self.best_start(rest, specs[-1], starts, names)
            names = [start for _, start in self.ranking[: (len(names) + 1) // 2]]
            for spec in specs:
                if alive is not None and spec not in self.log_chance:
                    continue  # a class had no items in the first fold
                own = fit if spec == specs[-1] else self.go_on(rest, fit, spec=spec)
                if alive is None:  # later folds are about the same Specs
                    own = self.occupied(rest, own)
                known = self.fold_fits.get(own.spec)
                if known is not None and known.log_likelihood >= own.log_likelihood:
                    continue
                self._keep(own, out)

    def _predicted(self, fit: Fit, out: NDArray[np.bool_]) -> Array:
        """Return log P of the answers held out, (n_pairs,), NaN of all others."""
        found = np.full(len(out), np.nan)
        some, names = self.problem.pairs.select(out), self.problem.pairs.annotator_names
        found[out] = log_chance(fit.answers, fit.beliefs.item, some, names)
        return found

    def _beats(self, better: Array, worse: Array, errors: float = ONE_ERROR) -> bool:
        return self.held.gain(better, worse).exceeds(errors)

    def _simplest(self, tried: Mapping[Spec, Array]) -> Spec:
        """Return the simplest Spec that the best one does not clearly beat.

        Simpler class models are in question only where a comparison can tell: the gain of the most
        general one over the share of "same" must be `PLAIN` times the error of the difference.
        Where evidence is weak they win by predicting nothing.
        """
        last = max((spec.class_model for spec in tried), key=CLASS_MODELS.index)
        general = {spec: v for spec, v in tried.items() if spec.class_model == last}
        others = [v for spec, v in tried.items() if spec not in general]
        if others:
            best = general[_best(general)]
            difference = self.held.gain(best, max(others, key=np.nanmean))
            if self.held.gain(best, self.blind).nats <= PLAIN * difference.error:
                tried = general
        best = tried[_best(tried)]
        in_order = sorted(tried, key=self._simplicity)
        return next(spec for spec in in_order if not self._beats(best, tried[spec]))

    def _simplicity(self, spec: Spec) -> tuple[int, int, int]:
        order = CLASS_MODELS.index(spec.class_model)
        return spec.n_classes, order, self.families.index(spec.family)

    @property
    def blind(self) -> Array:
        """Log P of every answer where only the shares of the levels are known, (n_pairs,)."""
        pairs = self.problem.pairs
        times = np.bincount(levels_of(pairs), weights_of(pairs), pairs.scale.n_levels)
        shares = np.clip(times / times.sum(), 1e-9, 1 - 1e-9)
        return np.asarray(np.log(shares)[levels_of(pairs)])

    def class_numbers(self) -> dict[int, float]:
        """Return the mean log P of answers that every Spec held out, by number of classes."""
        found: dict[int, float] = {}
        common = np.all([np.isfinite(values) for values in self.log_chance.values()], axis=0)
        for spec, values in self.log_chance.items():
            mean = float(values[common].mean())
            found[spec.n_classes] = max(mean, found.get(spec.n_classes, -np.inf))
        return dict(sorted(found.items()))

    def final(self, spec: Spec, more: Mapping[str, Array] | None = None) -> Fit:
        """Fit a Spec to all answers: from what was found without those held out, and anew.

        New starts are tried too: all answers make better guesses than a part. What has converged
        is ahead of them at first, so both are run to their end, and then crossed.
        """
        problem, K = self.problem, spec.n_classes
        known = [(fit.start, fit.item_proba) for fit in self.fits[spec]]
        known += (more or {}).items()
        fits = [self.go_on(problem, self.halved(problem, spec, known))]
        if K > 2 or spec.class_model != "shares":  # two classes are one cut of the graph
            fits.append(self.best_start(problem, spec, Starts(problem, K, problem.seed)))
        best, *others = sorted(fits, key=lambda fit: -fit.log_likelihood)
        for other in others:
            tried = self.cross(problem, best, other.item_proba)
            best = max(best, tried, key=lambda fit: fit.log_likelihood)
        return self.occupied(problem, best)


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


def _distinct(runs: Sequence[Fit], number: int) -> list[Fit]:
    """Return the best runs, at most this number, none that believes what a better one does."""
    kept: list[Fit] = []
    for run in sorted(runs, key=lambda run: -run.log_likelihood):
        near = (abs(run.log_likelihood - one.log_likelihood) < 1.0 for one in kept)
        if len(kept) < number and not any(near):
            kept.append(run)
    return kept


@dataclass
class Race:
    """Which estimator: the one whose P(class | x) predicts best what the answers say about items.

    Beliefs are b ∝ φ m, and to first order other potentials φ change Bethe's likelihood by a sum
    over items, Σ_i log Σ_k φ_ik m_ik. So candidates are compared on items without any belief
    propagation, out of fold, with a term per item and hence a standard error. They learn from the
    class shares times m, which is what the answers say alone: φ belongs to the class model of the
    search, and where the answers say little the best copy of it would win. Every candidate is
    calibrated before it is scored.

    Candidates come by name, the simplest first, and are compared from a fit. The simplest is kept
    that the best one does not beat by more than a standard error; first of all comes the class
    model of the search.

    After `run`: ``winner``, ``estimators`` with the number of stages that was best, and ``gains``,
    the nats by which each explains all answers better than the class model of the fit does if it
    learns from the same.
    """

    problem: Problem
    fit: Fit
    candidates: Mapping[str, Any]
    winner: str = ""
    gains: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.evidence = self.fit.evidence
        shares = self.fit.item_proba[self.problem.in_pairs].mean(axis=0)
        targets = shares * self.evidence
        self.targets = targets / targets.sum(axis=1, keepdims=True)
        self.estimators = dict(self.candidates)

    @progress.stage("candidate estimators")
    def run(self, with_search: bool = True) -> str:
        """Return the name of the winner, which may be the class model of the search."""
        searched = [self.fit.spec.class_model]
        if searched == ["shares"] and self.problem.numbers is not None:
            searched += self.problem.class_models  # the answers alone told the classes
        names = [*searched, *self.candidates]
        scores: dict[str, Array] = {name: np.empty(0) for name in names}
        eligible = set(names if with_search else self.candidates)
        if len(searched) > 1:
            eligible.discard("shares")  # it cannot classify new items
        n_items = int(self.problem.in_pairs.sum())
        self.tested = np.empty(0, dtype=np.intp)
        for train, test in self._folds():
            self.tested = np.concatenate([self.tested, test])
            leader = -np.inf
            for name in scores:
                explained = self._explained(name, train, test, leader)
                leader = max(leader, float(explained.mean()))
                scores[name] = np.concatenate([scores[name], explained])
            base = scores[names[0]]
            self.gains |= {n: float((v - base).mean()) * n_items for n, v in scores.items()}
            self.winner = self._simplest({n: v for n, v in scores.items() if n in eligible})
            scores = self._promising(scores)
            if not eligible.intersection(scores) - {self.winner}:
                break
        self.gains.pop(names[0])
        return self.winner

    def _simplest(self, scores: Mapping[str, Array]) -> str:
        """Return the first, so the simplest, that the best does not beat by more than an error."""
        best = max(scores.values(), key=lambda score: float(score.mean()))
        return next(n for n, v in scores.items() if not self._gain(best - v).exceeds(ONE_ERROR))

    def _promising(self, scores: dict[str, Array]) -> dict[str, Array]:
        """Return the scores of those worth another fold, and of the search's class model.

        They are the winner so far, simpler ones that it does not clearly beat, and more complex
        ones that are ahead of it.
        """
        names, ahead = list(scores), scores[self.winner]
        last = names.index(self.winner)
        simpler = {
            n for n in names[:last] if not self._gain(ahead - scores[n]).exceeds(2 * ONE_ERROR)
        }
        better = {n for n in names[last:] if scores[n].mean() > ahead.mean()}
        kept = {names[0], self.winner} | simpler | better
        return {name: score for name, score in scores.items() if name in kept}

    def _gain(self, lead: Array) -> Gain:
        """Return the lead on the items tested so far, (n,), with its standard error."""
        return gain_of_items(lead, self.problem.groups[self.tested])

    def _folds(self) -> Iterator[tuple[Positions, Positions]]:
        """Yield training and test items that are in pairs, until enough were tested."""
        tested, on = 0, self.problem.in_pairs
        for train, test in self.problem.folds:
            if tested >= ENOUGH_TESTED:
                return
            train, test = train[on[train]][:RACE_ITEMS], test[on[test]][:RACE_ITEMS]
            tested += len(test)
            if len(train) and len(test):  # few items may be in pairs
                yield train, test

    def _explained(self, name: str, train: Positions, test: Positions, leader: float) -> Array:
        """Return log Σ_k φ_k m_k of the test items, φ learnt from the others and calibrated."""
        estimator = self.estimators.get(name)
        if estimator is not None and estimator is self.candidates[name]:
            _, learner, seen = self.problem.items_as_given.split(estimator)
            if isinstance(learner, Staged):
                return self._best_stage(name, learner, seen, train, test, leader)
        return self._judged(self._scores(name, train, test), test)

    def _scores(self, name: str, train: Positions, test: Positions) -> Array:
        """Return log φ of the test items, (n_test, K), learnt from the others."""
        if name not in self.candidates:
            return np.asarray(self.problem.scores_of_others(name, self.targets, train, test))
        _, learner, seen = self.problem.items_as_given.split(self.estimators[name])
        phi = fold_proba(learner, seen, self.targets, train, test)
        return np.asarray(np.log(np.maximum(phi, CERTAIN / 10)))

    def _judged(self, scores: Array, test: Positions) -> Array:
        line = calibrate(scores, self.evidence[test])
        return np.asarray(np.log((line(scores) * self.evidence[test]).sum(axis=1)))

    def _best_stage(
        self, name: str, learner: Any, seen: Any, train: Positions, test: Positions, leader: float
    ) -> Array:
        """Return what the best number of stages explains, and keep that number.

        The stages end when one is worse than the one before, or when one more gain like the last
        one would not reach the ``leader``.
        """
        rows, label, weight = reduction.soft_rows(self.targets[train])
        X, X_test = (_safe_indexing(seen, some) for some in (train[rows], test))
        best, last = np.empty(0), -np.inf
        grower = clone(learner)
        for stage, of_seen in grower.stages(X, label, weight, X_test):
            proba = np.zeros((len(test), self.targets.shape[1]))  # a class may be in no row
            proba[:, np.asarray(grower.classes_, dtype=np.intp)] = of_seen
            explained = self._judged(np.log(np.maximum(proba, CERTAIN / 10)), test)
            score = float(explained.mean())
            if not best.size or score > best.mean():
                best = explained
                self.estimators[name] = _with_stages(self.candidates[name], stage)
            if score < last or (np.isfinite(last) and 2 * score - last < leader):
                break
            last = score
        return best

    def behind(self, name: str) -> Gain:
        """Return how many more items of one fold the search's best class model has right.

        Right is what the beliefs of the fit say. The best one is ahead of a candidate, ``name``.
        """
        names = self.problem.class_models if self.problem.numbers is not None else []
        train, self.tested = next(self._folds(), (np.empty(0, np.intp), np.empty(0, np.intp)))
        if not names or not len(train):
            return Gain(0.0, 0.0, 0, 0.0)

        def right(one: str) -> Array:
            scores = self._scores(one, train, self.tested)
            line = calibrate(scores, self.evidence[self.tested])
            believed: Array = self.fit.item_proba[self.tested, line(scores).argmax(axis=1)]
            return believed

        return self._gain(max(map(right, names), key=np.sum) - right(name))

    def class_model(self, n_jobs: int | None) -> EstimatorModel:
        """Return the winner as a class model."""
        weight = self.problem.in_pairs.astype(float)
        chosen = self.estimators[self.winner]
        return EstimatorModel(
            chosen, self.problem.items_as_given, self.problem.folds, weight, n_jobs, self.winner
        )


def _with_stages(estimator: Any, number: int) -> Any:
    """Return a copy of a candidate, its last step limited to this number of stages."""
    limited = clone(estimator)
    last = limited.steps[-1][1] if isinstance(limited, Pipeline) else limited
    last.set_params(max_iter=number)
    return limited
