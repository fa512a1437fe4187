"""Which parts the answer model has: people, clarity of items, similarity. Held-out answers decide.

Each part is tried only if the answers show a sign of it (`overdispersion`), and kept only if it
predicts answers about held-out items better; where people are known, also the answers of held-out
people, whose bias and skill are then integrated over the crowd.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.estimation import dyadic_mean
from noisypairs.estimators.joint.answers.model import AnswerModel, Similarity
from noisypairs.estimators.joint.answers.states import clear_or_hard, folded
from noisypairs.estimators.joint.parts.held_out import ItemFold, Part, Parts, PeopleFold
from noisypairs.estimators.joint.problem import JointProblem, is_gaussian
from noisypairs.estimators.joint.search.class_number import ONE_ERROR
from noisypairs.estimators.joint.search.selection import Search
from noisypairs.inference import em, progress
from noisypairs.inference.graph import PairGraph
from noisypairs.noise.clarity import first_clarity, fit_clarity, with_clarity
from noisypairs.pairs import Pairs

if TYPE_CHECKING:
    from noisypairs.estimators.joint.classifier import JointPairClassifier

Switch = bool | Literal["auto"]
PARTS: tuple[Part, ...] = ("people", "clarity", "similarity")
#: Folds of the items, and of the people.
N_FOLDS = 3
#: Standard errors beyond chance from which a part is tried.
SIGN = 2.5
#: Standard errors by which a part must predict better: items alone, and items and people each.
ALONE, EACH = 2.0, 1.0
#: Numbers that a part fits to all answers together; each must gain ½ log n nats, as in any choice.
N_NUMBERS: dict[Part, int] = {"people": 4, "clarity": 5, "similarity": 3}
#: Fewer answers are not divided into folds, nor the answers of fewer people.
FEWEST_ANSWERS, FEWEST_PEOPLE = 200, 6
#: Whether answers follow looks is seen on so many of them.
ENOUGH_ANSWERS = 50_000
#: Rounds of the loop with a part.
ROUNDS = 40


@dataclass(frozen=True)
class HeldOutGain:
    """By how many nats a part predicts held-out answers better, with standard errors."""

    part: Part
    items: float
    items_error: float
    people: float | None = None
    people_error: float | None = None
    kept: bool = False

    @property
    def is_clear(self) -> bool:
        """Whether this is more than chance."""
        if self.people is None or self.people_error is None:
            return self.items > ALONE * self.items_error
        return self.items > EACH * self.items_error and self.people > EACH * self.people_error


@dataclass(frozen=True)
class View:
    """A start, its noise family, and where both lead with the parts that are kept."""

    start: str
    family: str
    run: em.Inference


@dataclass
class PartChoice:
    """The parts of one fit: those asked for, and those that held-out answers speak for.

    ``wanted`` says of each part True, False or "auto". After `choose`: ``kept`` are the parts that
    the classes are inferred with, ``gains`` what those that were tried gained.
    """

    search: Search
    found: em.Inference
    wanted: dict[Part, Switch]
    kept: Parts = frozenset()
    gains: list[HeldOutGain] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.problem = self.search.problem
        self._folds: dict[tuple[str, str], list[ItemFold]] = {}

    @progress.stage("parts of the answer model")
    def choose(self) -> em.Inference:
        """Choose the parts; return the classes inferred with them (of 2K states with clarity)."""
        found = self.found
        for part in PARTS:
            switch = self.wanted[part]
            if switch is False or (switch == "auto" and not self._shows(part, found)):
                continue
            if switch == "auto":
                gain = self._gain(part)
                cost = N_NUMBERS[part] * float(np.log(self.problem.pairs.n_pairs)) / 2.0
                gain = replace(gain, kept=gain.is_clear and gain.items > cost)
                self.gains.append(gain)
                if not gain.kept:
                    continue
            self.kept |= {part}
            if part != "similarity":
                found = self.run(self.problem, self.found, self.kept)
        return self._best_again(found) if self.moved else found

    @property
    def moved(self) -> bool:
        """Whether a part was kept that moves classes."""
        return bool(self.kept - {"similarity"})

    def _best_again(self, found: em.Inference) -> em.Inference:
        """Return what explains the answers best with these parts, of all families and both views.

        Starts and noise were compared without parts, when the ways of single people looked like
        classes or like noise. A model of the features is harder to mislead by what people confuse,
        so it is kept unless another view clearly predicts answers about held-out items better.
        """
        search = self.search
        view = self._best_family(search.start, self.found, {search.family: found})
        other = search.other_view()
        if other is not None:
            rival = self._best_family(*other, {})
            gaussian, plain = (view, rival) if is_gaussian(view.start) else (rival, view)
            view = plain if self._clearly_better(plain, gaussian) else gaussian
        search.start, search.family = view.start, view.family
        return view.run

    def _clearly_better(self, view: View, other: View) -> bool:
        """Return whether a view predicts answers about held-out items better, beyond chance."""
        gain = self._by_items(self.kept, view) - self._by_items(self.kept, other)
        mean, _, above = dyadic_mean(self.held_out()[0], gain, ONE_ERROR)
        return bool(mean > ALONE * (above - mean))

    def _best_family(self, start: str, begun: em.Inference, runs: dict[str, em.Inference]) -> View:
        """Return a start with the noise family that suits it best."""
        scores: dict[str, float] = {}
        for name in self.search.family_names(begun.beliefs.item.shape[1]):
            if name not in runs:
                runs[name] = self.run(self.problem, begun, self.kept, name)
            scores[name] = self.search.score_with(name, runs[name])
        best = max(scores, key=lambda name: scores[name])
        return View(start, best, runs[best])

    def run(
        self,
        problem: JointProblem,
        found: em.Inference,
        parts: Parts,
        name: str | None = None,
    ) -> em.Inference:
        """Return where the rounds lead from an inference without parts, with these."""
        K, learner = found.beliefs.item.shape[1], found.learnt_by or problem.fast_potential
        graph = PairGraph.from_pairs(problem.all_pairs, annotators="people" in parts)
        fit, noise = self.search.fit_noise(name or self.search.family), found.noise
        if "clarity" not in parts:
            e_step = em.GraphEStep(graph, clamp=problem.clamp, messages=found.beliefs.sent)
            start = learner, found.beliefs.item, noise, fit
            return em.infer(e_step, *start, max_iter=ROUNDS, tol=5e-3)
        e_step = em.GraphEStep(graph)
        potential = clear_or_hard(learner, problem.clamp)
        first = with_clarity(found.beliefs.item), first_clarity(noise, K), fit_clarity(fit, K)
        return em.infer(e_step, potential, *first, max_iter=ROUNDS, tol=5e-3)

    def _shows(self, part: Part, found: em.Inference) -> bool:
        """Return whether the answers show a sign of a part, and can be divided to test it."""
        pairs, K = self.problem.pairs, self.found.beliefs.item.shape[1]
        if pairs.n_pairs < FEWEST_ANSWERS or self.problem.X is None:
            return False
        if part == "people" and not self._people_known:
            return False
        if part == "similarity" and pairs.n_pairs > ENOUGH_ANSWERS:
            some = np.random.default_rng(self.problem.seed).permutation(pairs.n_pairs)
            pairs = pairs.select(np.sort(some[:ENOUGH_ANSWERS]))
        chance = AnswerModel.of(found, pairs.annotator_names, K).chance(found.beliefs.item, pairs)
        residual, variance = pairs.same - chance, chance * (1.0 - chance)
        if part == "similarity":
            similarity = Similarity.of_pairs(self.problem.X, pairs)
            if similarity is None:
                return False
            likeness = similarity.likeness(self.problem.X, pairs.left, pairs.right)
            error = float(np.sqrt((variance * likeness**2).sum()))
            return abs(float(residual @ likeness)) > SIGN * error
        same = folded(found).beliefs.item
        leaning = 2.0 * np.einsum("nk,nk->n", same[pairs.left], same[pairs.right]) - 1.0
        signs, groups = [leaning], [pairs.left, pairs.right]
        if part == "people":
            signs, groups = [np.ones(pairs.n_pairs), leaning], [np.asarray(pairs.annotator)]
        return any(overdispersion(residual * s, variance * s**2, groups) > SIGN for s in signs)

    @property
    def _people_known(self) -> bool:
        """Whether enough people are named to hold some of them out."""
        names = self.problem.pairs.annotator_names
        return names is not None and len(names) >= FEWEST_PEOPLE

    def _gain(self, part: Part) -> HeldOutGain:
        """Return what a part gains on held-out items and, where known, on held-out people."""
        with_part = self.kept | {part}
        answers, without = self.held_out()
        gain = self._by_items(with_part) - without
        mean, _, above = dyadic_mean(answers, gain, ONE_ERROR)
        found = HeldOutGain(part, mean * len(gain), (above - mean) * len(gain))
        if part == "similarity" or not self._people_known:
            return found
        own = self._by_people(with_part) - self._by_people(self.kept)
        return replace(
            found, people=float(own.sum()), people_error=float(own.std() * np.sqrt(len(own)))
        )

    def _by_items(self, parts: Parts, view: View | None = None) -> Array:
        """Return log P of every answer about a held-out item, fold after fold."""
        search = self.search
        start, name = (search.start, search.family) if view is None else (view.start, view.family)
        folds = self._item_folds(start, name)
        return np.concatenate([fold.log_chance(parts) for fold in folds])

    def held_out(self, parts: Parts | None = None) -> tuple[Pairs, Array]:
        """Return the answers about held-out items, fold after fold, and log P with the parts."""
        folds = self._item_folds(self.search.start, self.search.family)
        rows = np.concatenate([fold.rows for fold in folds])
        return self.problem.pairs.select(rows), self._by_items(
            self.kept if parts is None else parts
        )

    def _by_people(self, parts: Parts) -> Array:
        """Return log P of all answers of each held-out person, fold after fold."""
        return np.concatenate([fold.log_chance(parts) for fold in self._people_folds])

    def _item_folds(self, start: str, name: str) -> list[ItemFold]:
        """Return the folds of a start and a noise family; made once."""
        if (start, name) not in self._folds:
            begin, run = partial(self._begin, start=start, name=name), partial(self.run, name=name)
            self._folds[start, name] = [
                ItemFold(self.problem, out, begin, run, is_gaussian(start))
                for out in self._thirds(self.problem.pairs.n_items)
            ]
        return self._folds[start, name]

    @cached_property
    def _people_folds(self) -> list[PeopleFold]:
        n_people = len(np.asarray(self.problem.pairs.annotator_names))
        begin = partial(self._begin, start=self.search.start, name=self.search.family)
        return [PeopleFold(self.problem, out, begin, self.run) for out in self._thirds(n_people)]

    def _thirds(self, size: int) -> list[NDArray[np.bool_]]:
        """Return which of so many are held out, for every fold."""
        number = np.random.default_rng(self.problem.seed).permutation(size) % N_FOLDS
        return [number == k for k in range(N_FOLDS)]

    def _begin(self, problem: JointProblem, start: str, name: str) -> em.Inference:
        """Return a start and a noise family on another problem."""
        begun = self.search.run_start(problem, start, self.search.n_classes)
        return self.search.go_on_with(problem, name, begun)


def wanted_parts(given: JointPairClassifier, pairs: Any) -> dict[Part, Switch]:
    """Return which parts are asked for, forbidden or open; of streamed answers only people."""
    in_memory = isinstance(pairs, Pairs)
    return {
        "people": given.annotators if pairs.annotator_names is not None else False,
        "clarity": given.clarity if in_memory else False,
        "similarity": given.similarity if in_memory else False,
    }


def overdispersion(residual: Array, variance: Array, groups: Sequence[NDArray[Any]]) -> float:
    """Return by how many standard errors residuals add up within groups more than by chance.

    z = Σ_g ((Σ_a r_a)² − Σ_a v_a) / √(2 Σ_g (Σ_a v_a)²), where the a are the answers of group g. An
    answer may belong to several groups, such as its two items.

    >>> rng = np.random.default_rng(0)
    >>> group, noise = np.arange(2000) % 50, rng.standard_normal(2000)
    >>> tilted = noise + 0.5 * rng.standard_normal(50)[group]
    >>> [bool(overdispersion(one, np.ones(2000), [group]) > 4) for one in (noise, tilted)]
    [False, True]
    """
    size = max(int(group.max(initial=0)) for group in groups) + 1
    total, spread = (
        np.sum([np.bincount(group, one, size) for group in groups], axis=0)
        for one in (residual, variance)
    )
    by_chance = max(float(np.sqrt(2.0 * (spread**2).sum())), 1e-12)
    return float((total**2 - spread).sum()) / by_chance
