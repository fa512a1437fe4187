"""The joint learner: item classes, noise and classifier inferred together from pairs alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from noisypairs import algebra
from noisypairs.algebra import Array
from noisypairs.assess.intervals import joint_intervals
from noisypairs.assess.judged import JudgedAnswers, without_similarity
from noisypairs.assess.kinds import KindNames, kind_numbers
from noisypairs.assess.next_pairs import NextPairsMixin
from noisypairs.assess.verdict import INVERTED, Record, Verdict
from noisypairs.errors import (
    ClassNumberWarning,
    NotIdentifiable,
    NotIdentifiableWarning,
    UnpredictedAnswersWarning,
    did_you_mean,
    warn_user,
    warnings_kept,
)
from noisypairs.estimation import Interval
from noisypairs.estimators.base import (
    ClassOrder,
    GivenOrder,
    NoiseName,
    PairClassifier,
    all_names,
    check_class_order,
    known_classes,
    label_names,
    match_labels,
    order_by_size,
    undisturbed,
    warn_if_weak,
    warn_unnamed,
)
from noisypairs.estimators.inner.classifiers import candidates_of
from noisypairs.graph import progress
from noisypairs.graph.propagation import Labels, answer_wrong_probability
from noisypairs.joint.beyond_memory import FoldedModel, ItemTableEStep, PredictScorer
from noisypairs.joint.choices import (
    CLEARLY_DETECTED,
    DETECTED,
    LAST_ROUNDS,
    LAST_TOLERANCE,
    ONE_ERROR,
    SEARCH_AGAIN,
    SEARCH_PAIRS,
    PartName,
)
from noisypairs.joint.class_model import (
    Calibration,
    ClassModel,
    EstimatorModel,
    class_proba,
)
from noisypairs.joint.em import Fit, GraphEStep, Spec, TableEStep, expectation, run_em
from noisypairs.joint.problem import Problem, sampled_items
from noisypairs.joint.search import Race, Search, beyond_chance, label_noise
from noisypairs.noise import PARTS, NoiseModel
from noisypairs.noise.pair_error import warn_if_clear
from noisypairs.pairs import Answers, Pairs
from noisypairs.pairs.groups import item_groups, single_answers, warn_of_repeated_items
from noisypairs.pairs.levels import PLAIN
from noisypairs.pairs.pairs import in_memory, sorted_answers
from noisypairs.tables import ItemTable, PairTable
from noisypairs.tables.results import TableResults, classified

#: Pairs on which answers are redrawn for intervals: those of more pairs would be narrower.
PAIRS_FOR_INTERVALS = 500_000

#: Fewer answers for each item compared may simply be too few; more that show nothing are random.
FEW_PER_ITEM = 5.0

#: The weight of answers that stand for none.
WEIGHTLESS = 1e-9

#: Nearly identical rows are looked for in tables of at most this many numbers.
MOST_NUMBERS_LOOKED_AT = 200_000


@dataclass(frozen=True)
class SearchOptions:
    """What only developers set of a joint fit.

    ``max_iter`` and ``tol`` are the rounds with the estimator and the change at which they have
    converged. ``n_kinds`` lets `fit` infer kinds, as `JointPairClassifier.fit_kinds` does.
    ``label_noise`` is the share of the labels that are wrong; None learns it.

    >>> SearchOptions(max_iter=0)
    Traceback (most recent call last):
    ValueError: max_iter=0: expected at least one round
    """

    max_iter: int = LAST_ROUNDS
    tol: float = LAST_TOLERANCE
    n_kinds: int | Sequence[int] | Literal["auto"] | None = None
    label_noise: float | None = None

    def __post_init__(self) -> None:
        if self.max_iter < 1:
            raise ValueError(f"max_iter={self.max_iter!r}: expected at least one round")
        if not self.tol >= 0:
            raise ValueError(f"tol={self.tol!r}: expected a number from 0 up")
        if self.label_noise is not None and not 0 <= self.label_noise < 0.5:
            raise ValueError(f"label_noise={self.label_noise!r}: expected a share below one half")


class JointPairClassifier(KindNames, NextPairsMixin, PairClassifier, JudgedAnswers):
    """Learn classes, noise and a classifier at once; nothing needs to be known but the pairs.

    Expectation maximisation: belief propagation over the pair graph fuses out-of-fold P(class | x)
    with all answers, the class model is refitted to the beliefs, and the answer model to the
    classes behind the answers. Number of classes, noise family and class model are those that
    predict held-out answers best, the simplest within one standard error. Works at any prior, ½
    included, and for any number of classes.

    Parameters
    ----------
    estimator : any classifier, or a sequence of them to choose from; None for the default ones
        (linear, kernel, ridge, Gaussian classes, boosted trees, a network). One without
        ``sample_weight`` learns from classes drawn from the beliefs.
    n_classes : the number of classes, candidates, or "auto".
    noise : a noise model; ``"pairing"``, ``"labeling"``, ``"free"`` (any symmetric matrix) or the
        name of a family of your own; or ``"auto"``: two rates or a shrunk free matrix, whichever
        predicts held-out answers better.
    answer_model : what else may shape the answers, a set of ``"people"`` (a bias and a skill for
        everybody in ``pairs.annotator``), ``"clarity"`` (items that nobody recognises),
        ``"similarity"`` (a bias towards "same" for similar-looking pairs) and ``"pair error"`` (an
        error that everybody makes on a pair); or ``"auto"``, all of them. The strength of each is
        learnt, and may be zero.
    class_order : how classes are numbered where no item is labelled: ``"rising"`` by size, so that
        the last is the largest, ``"falling"``, or their names, the smallest class first.
    cv : folds of the items for out-of-fold P(class | x); ``"auto"`` is 2 to 5, by their number.
    random_state, n_jobs : the seed, and the processes; the model is the same for any number.
    verbose : True prints a line on stderr as each stage begins, with the seconds so far; 2 also the
        steps inside them, and higher numbers deeper ones.
    warm_start : start from the last fit, whose items these must be, new ones behind them: for
        answers that come in batches.
    search : `SearchOptions`, for developers.

    Attributes
    ----------
    item_proba_ : P(class | everything) of the training items, shape (n_items, K).
    oof_proba_ : P(class | x) of the training items, out of fold and calibrated.
    estimator_, calibration_ : the fitted classifier, and the line that its log-probabilities go
        through before they are returned.
    candidate_, candidates_ : the estimator's name among the candidates, and the log-likelihood that
        each would reach.
    noise_, noise_model_ : the noise of an average answer, and its family.
    answer_model_, parts_ : how people answer, and the parts of that model that are there.
    prior_ : share of class 1 (of every class, for K > 2) among the items in pairs; where some pairs
        were chosen, among items in pairs drawn at random.
    annotator_noise_ : rates (similar_flip, dissimilar_flip) per annotator, shape (R, 2), or None.
    label_noise_ : share of the labels that are wrong, as learnt; None without labels.
    wrong_proba_ : probability that each answer is wrong, shape (n_pairs,); None where the answers
        were streamed from a table (see `stream_suspects`).
    tables_, sample_ : of a fit to an `ItemTable`, all results as tables, and the positions of the
        items in memory.
    n_classes_, class_numbers_ : the number of classes, and the mean log-likelihood of a held-out
        answer for every number that was tried in full.
    held_out_gain_ : nats by which held-out answers are predicted better than by their share of
        "same", with its standard error and the number of these answers.
    asked_ : the pairs asked, left and right ends, shape (2, m), for `next_pairs`.
    start_, log_likelihood_, converged_, n_iter_, history_ : how EM went.

    References
    ----------
    Yedidia, J., Freeman, W. and Weiss, Y. (2005). Constructing free-energy approximations and
    generalized belief propagation algorithms. IEEE Transactions on Information Theory 51(7).

    Examples
    --------
    >>> from noisypairs import JointPairClassifier, PairingNoise, datasets, sample_pairs
    >>> X, y = datasets.load("gaussians", n_samples=500, prior=0.5, random_state=0)
    >>> pairs = sample_pairs(y, 1500, PairingNoise(0.3, 0.2), random_state=0)
    >>> clf = JointPairClassifier(random_state=0).fit(X, pairs.with_labels({0: y[0], 1: y[1]}))
    >>> bool(clf.score(X, y) > 0.98)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        n_classes: int | Sequence[int] | Literal["auto"] = "auto",
        *,
        noise: NoiseModel | NoiseName | str = "auto",
        answer_model: Collection[PartName] | Literal["auto"] = "auto",
        class_order: ClassOrder = None,
        cv: int | Literal["auto"] = "auto",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        warm_start: bool = False,
        search: SearchOptions | None = None,
        **former: Any,
    ) -> None:
        self.estimator = estimator
        self.n_classes = n_classes
        self.noise = noise
        self.answer_model = answer_model
        self.class_order = class_order
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start
        self.search = search
        self._take_former(former)

    def _now_called(self, name: str, value: Any) -> dict[str, Any]:
        parts = {"annotators": "people", "clarity": "clarity", "similarity": "similarity"}
        if name in parts:
            now = set(PARTS) if self.answer_model == "auto" else set(self.answer_model)
            if value is False:
                return {"answer_model": tuple(sorted(now - {parts[name]}))}
            asked = value is True and name == "annotators"
            return {"answer_model": tuple(sorted(now))} if asked else {}
        if name in ("max_iter", "tol", "n_kinds"):
            return {"search": replace(self._options, **{name: value})}
        if name == "prior":
            rising = None if value == "estimate" else "rising" if value > 0.5 else "falling"
            return {"class_order": rising}
        return super()._now_called(name, value)

    @property
    def _options(self) -> SearchOptions:
        if not isinstance(self.search, SearchOptions | None):
            raise TypeError(
                f"search={self.search!r}: expected SearchOptions, such as SearchOptions(max_iter=5)"
            )
        return self.search or SearchOptions()

    n_searched_: int
    sample_: NDArray[np.int64]
    tables_: TableResults
    label_noise_: float | None
    pairs_: Any
    spec_: Spec
    item_kinds_: Array | None = None
    oof_kinds_: Array | None = None
    wrong_proba_: Array | None
    expected_error_: Array | None
    _record_: Record | None = None
    _warned_: Sequence[Warning] = ()
    _of_session = ("_record_", "_warned_", "pairs_", "tables_")
    _takes_levels = True
    _of_items = ("item_proba_", "oof_proba_", "item_states_", "item_kinds_", "oof_kinds_")
    _of_answers = ("wrong_proba_", "expected_error_")
    _former = (
        "annotators",
        "clarity",
        "max_iter",
        "n_kinds",
        "noise_model",
        "positive",
        "prior",
        "similarity",
        "tol",
    )

    def _leaves_in_place(self, pairs: Answers) -> bool:
        return pairs.n_pairs > SEARCH_PAIRS  # a table is then sampled and streamed

    def _without_answers(self, pairs: Answers) -> Answers:
        """Labels of two classes are enough: two answers that weigh nothing stand for none."""
        enough = pairs.n_items > 2 and len(pairs.class_names) > 1
        if self.answers_only_ or not isinstance(pairs, Pairs) or not enough:
            return super()._without_answers(pairs)
        weight = np.full(2, WEIGHTLESS)
        none = Pairs([0, 0], [1, 2], [True, False], pairs.n_items, weight=weight)
        return none.with_labels(pairs.labels).with_groups(pairs.groups)

    def _leaves_out(self, name: str) -> bool:
        return self.answer_model != "auto" and name not in self.answer_model

    def fit(self, X: Any, pairs: Any, *, folder: str | Path | None = None) -> Self:
        """Learn from items ``X``, shape (n_items, n_features), and pairs of them.

        With more than `SEARCH_PAIRS` pairs, the model is chosen on that many, drawn at random, and
        the last rounds take all of them: in memory, or of a `PairTable` by queries in
        its engine. A smaller table is loaded whole.

        ``X=None`` learns from the answers alone: ``item_proba_`` has the classes of the items that
        were compared, and new items cannot be classified.

        Items may be an `ItemTable` beside a `PairTable`: the model is chosen on a sample of them,
        and everything else is done in their engine. The attributes of items are then those of
        ``sample_``, their positions, and `tables_` has the tables of all items. Every round leaves
        a checkpoint in ``folder``, and fitting the same again goes on from there.
        """
        if isinstance(X, ItemTable):
            return self._fit_tables(X, pairs, folder)
        if folder is not None:
            raise ValueError(f"folder={str(folder)!r} keeps rounds of a fit to an ItemTable alone")
        return self._fit(X, pairs, self._options.n_kinds)

    def _fit_tables(self, X: ItemTable, pairs: Any, folder: str | Path | None) -> Self:
        """Choose the model on a sample of the items, and run the last rounds on tables."""
        if not isinstance(pairs, PairTable) or pairs.n_items != X.n_items:
            raise TypeError(
                f"the items are {X!r}, so pairs must be a PairTable of them, got {pairs!r}: open "
                "it with PairTable.from_parquet(path, items=items)"
            )
        inputs = {"items": X.source.description, "pairs": pairs.source.description}
        inputs |= {"sample": X.sample, "learner": repr(self)}
        some = pairs.sample_of_items(X.sample)
        labelled = np.array(list(pairs.labels), dtype=np.int64)
        chosen = np.unique(np.concatenate([some.left, some.right, labelled]).astype(np.int64))
        features, fold, groups = X.some(chosen)
        # The model is chosen on the sample: on copies of its items and pairs, in memory.
        self._fit(features, some[chosen].with_groups(groups), None)
        assert self._record_ is not None
        problem, fit, in_order = self._record_.problem, self._record_.fit, self._record_.given
        folds = in_order.reordered_items(fold)
        model = FoldedModel(self._record_.model, problem.X, folds)
        sample, clamp = in_order.reordered_items(chosen), problem.clamp
        known = Labels()
        if clamp is not None:
            known = Labels({int(sample[item]): k for item, k in clamp.items()}, clamp.noise)
        answers = fit.answers.without("clarity", "pair error", "similarity")
        e_step = ItemTableEStep(X, pairs, model, self.filler_, sample, known, folder, inputs)
        rounds: dict[str, Any] = {"rounds": self._options.max_iter, "tolerance": self._options.tol}
        with undisturbed():
            guess = fit.answers.classes(fit.beliefs.item, fit.phi)
            fit = run_em(fit.spec, fit.start, e_step, model, answers, guess, **rounds)
            e_step.propagation.take_best()
            shares = e_step.propagation.shares()
            self._store(problem.X, pairs, problem, model, fit, shares)
        self._restore_order(in_order)
        self.sample_, self.pairs_ = chosen, pairs
        names = tuple(str(name) for name in self.classes_)
        self.tables_ = TableResults(
            e_step.propagation, X, names, fit.answers.responses(), self.annotator_noise_
        )
        return self

    def predict_table(self, items: ItemTable, names: Sequence[str] | None = None) -> Any:
        """Return the items as an Ibis table: id, class, probability, P(class) for every class.

        They are classified where they are. Its ``to_parquet`` writes it. ``names`` are those of the
        classes to write instead of `classes_`.
        """
        check_is_fitted(self)
        names = tuple(names or map(str, self.classes_))
        columns = [f"p_{k}" for k in range(len(names))]
        scored = items.scored(items.store, "predicted", PredictScorer(copy(self)), columns)
        return classified(scored, items.keys, names)

    def fit_kinds(
        self, X: Any, pairs: Pairs, n_kinds: int | Sequence[int] | Literal["auto"] = "auto"
    ) -> Self:
        """Infer the kinds that people tell apart, which may be finer than the classes you want.

        ``n_kinds`` is a number, several, or "auto", 3 to 12. `kinds` shows them, and `name_kinds`
        or labels of items turn them into classes; ``n_classes`` is ignored.
        """
        return self._fit(X, pairs, n_kinds)

    def _fit(self, X: Any, pairs: Pairs, n_kinds: Any) -> Self:
        self.answers_only_ = X is None
        with (
            progress.fitting(self, self.stages(n_kinds)),
            undisturbed(),
            warnings_kept() as self._warned_,
        ):
            self._record_ = None
            if X is not None:
                X, pairs = self._table_and_answers(X, pairs)
            asked = pairs
            last = None if n_kinds is not None else self._last_fit(X)
            X, pairs, given = self._check_training(X, pairs)
            if X.shape[0] * X.shape[1] <= MOST_NUMBERS_LOOKED_AT:
                warn_of_repeated_items(X, pairs)
            labels = dict(pairs.labels)
            self.item_kinds_ = self.oof_kinds_ = self.kind_class_ = None
            pairs = pairs if n_kinds is None else pairs.with_labels({})  # they name kinds
            numbers = self._check_parameters(pairs, n_kinds, len(set(labels.values())))
            candidates = candidates_of(self._inner, X, 0)  # a wrong one is refused before work
            in_ram = isinstance(pairs, Pairs)
            some = pairs if in_ram else sorted_answers(in_memory(pairs, SEARCH_PAIRS))[0]
            problem = self._problem(X, some, min(numbers or [2]))
            search = self._search(problem, n_kinds)
            with progress.stage("search"):
                fit = self._found(
                    search, numbers, None if last is None else given.reordered_items(last)
                )
            fit = self._named(problem, fit, keep=last is not None)
            self.label_noise_ = self._label_noise(problem, fit)
            candidates = candidates_of(self._inner, X, problem.seed, fit.n_classes)
            model, fit = self._with_estimator(problem, fit, candidates, pairs)
            self._store(X, pairs, problem, model, fit)
            if n_kinds is not None:
                self._store_kinds(X, labels)
            self._record_ = Record(problem, search, fit, model, labels, given)
            self._warn_of_new_items(self._record_)
            self._restore_order(given)
            if self._record_.is_labels_alone:
                self.wrong_proba_ = self.expected_error_ = np.empty(0)
            self.asked_, self.pairs_ = _asked(asked), asked
            return self

    def _label_noise(self, problem: Problem, fit: Fit) -> float | None:
        """Return how often labels are wrong: as given, or as features and answers show it."""
        if problem.clamp is None:
            return None
        if self._options.label_noise is None:
            problem.clamp.noise = label_noise(problem, fit)
        return problem.clamp.noise

    # --- what is given --------------------------------------------------------------------

    def stages(self, n_kinds: Any = None) -> dict[str, float]:
        """Return the stages of a fit in their order, and about how long they take."""
        several = not isinstance(self.n_classes, int) or n_kinds is not None
        found = {"search": 20.0 if several else 6.0}
        if self.estimator is None or isinstance(self.estimator, list | tuple):
            found["candidate estimators"] = 4.0
        return found | {"round": 4.0, "final fit": 0.5}

    def _check_parameters(self, pairs: Pairs, n_kinds: Any, n_labels: int) -> list[int] | None:
        """Refuse parameters that make no sense; return the numbers of classes, None for any."""
        self._check_noise(also=["auto"])
        self._check_scale(pairs)
        check_class_order(self.class_order)
        if self.cv != "auto" and (not isinstance(self.cv, Integral) or self.cv < 2):
            raise ValueError(f"cv={self.cv!r}: expected a whole number of at least 2, or 'auto'")
        if self.answer_model != "auto":
            if isinstance(self.answer_model, str) or not isinstance(self.answer_model, Collection):
                raise ValueError(
                    f"answer_model={self.answer_model!r}: expected 'auto' or a list of parts, of "
                    f"{', '.join(PARTS)}"
                )
            for part in self.answer_model:
                if part not in PARTS:
                    raise ValueError(f"answer_model: part {part!r}: {did_you_mean(part, PARTS)}")
        if n_kinds is not None:
            return kind_numbers(n_kinds, n_labels)
        return self._class_numbers(pairs)

    def _check_scale(self, pairs: Pairs) -> None:
        """Refuse a noise of yes and no for answers of more levels."""
        scale = pairs.scale if isinstance(pairs, Pairs) else PLAIN
        if isinstance(self.noise, NoiseModel) and self.noise.scale != scale:
            raise ValueError(
                f"noise={self.noise} is about the answers {self.noise.scale}, but these are "
                f"{scale}: give a LevelNoise of that scale, or Pairs.yes_or_no()"
            )
        families = ("auto", "pairing", "free", "estimate")
        if not scale.is_plain and isinstance(self.noise, str) and self.noise not in families:
            raise ValueError(
                f"noise={self.noise!r} is about yes and no, but the answers are "
                f"{scale}: expected 'auto', 'pairing' or 'free', or give Pairs.yes_or_no()"
            )

    def _class_numbers(self, pairs: Pairs) -> list[int] | None:
        fixed = self.noise.class_number if isinstance(self.noise, NoiseModel) else None
        if isinstance(self.n_classes, str) and self.n_classes == "auto":
            return None if fixed is None else [fixed]
        several = isinstance(self.n_classes, Sequence | np.ndarray)
        given: Any = self.n_classes if several else [self.n_classes]
        numbers = [int(K) for K in given if isinstance(K, Integral) and not isinstance(K, bool)]
        if len(numbers) < len(given) or min(numbers, default=0) < 2:
            raise ValueError(
                f"n_classes={self.n_classes!r}: expected a whole number of at least 2, several of "
                "them, or 'auto'"
            )
        if fixed is not None and fixed not in numbers:
            raise ValueError(
                f"n_classes={self.n_classes!r}, but noise={self.noise} is about {fixed} classes: "
                "leave n_classes='auto', or give the noise of that many"
            )
        if fixed is not None:
            numbers = [fixed]
        if not several:
            label_names(pairs, numbers[0], self.class_order)
            return numbers
        named = len(pairs.class_names)
        return [K for K in numbers if named <= K] or numbers

    def _problem(self, X: Any, pairs: Pairs, n_classes: int) -> Problem:
        people = not self._leaves_out("people")
        named = max(n_classes, len(pairs.class_names))
        names = None
        if pairs.class_names and isinstance(self.n_classes, int):
            names = label_names(pairs, named, self.class_order)
        groups = item_groups(X, pairs)
        if pairs.groups is None and groups.max(initial=0) + 1 < np.sqrt(len(groups)):
            groups = np.arange(len(groups))  # categories: equal rows are not one item
        problem = Problem(X, pairs, named, self.cv, self.random_state, groups, people, names)
        if problem.clamp is not None and self._options.label_noise is not None:
            problem.clamp.noise = self._options.label_noise
        return problem

    def _search(self, problem: Problem, n_kinds: Any = None) -> Search:
        given = self.noise if isinstance(self.noise, NoiseModel) else None
        families: tuple[str, ...] = ("pairing", "free")
        if given is not None:
            families = ("given",)
        elif self.noise not in ("auto", "estimate"):
            families = (str(self.noise),)
        elif n_kinds is not None:  # two rates would merge the kinds that people confuse
            families = ("free",)
        return Search(problem, families, given)

    # --- the search -----------------------------------------------------------------------

    def _found(self, search: Search, numbers: list[int] | None, last: Array | None) -> Fit:
        """Return the fit of the Spec that predicts best, or of the last Spec from its beliefs."""
        n_answers = search.problem.all_pairs.n_pairs
        if (
            last is not None
            and (numbers is None or last.shape[1] in numbers)
            and n_answers < SEARCH_AGAIN * self.n_searched_
        ):
            family = self.spec_.family
            family = family if family in search.families else search.families[-1]
            spec = replace(self.spec_, n_classes=last.shape[1], family=family)
            with progress.stage("start"):
                return search.run(search.problem, spec, "last fit", last)
        least = max(2, 0 if search.problem.names is None else len(search.problem.names))
        with progress.stage("model choice"):
            spec = search.choose(numbers, least)
        self.n_searched_, self.spec_ = n_answers, spec
        self.held_out_gain_ = search.gain
        self.class_numbers_ = search.class_numbers()
        self._require_evidence(search)
        more = {} if last is None or last.shape[1] != spec.n_classes else {"last fit": last}
        with progress.stage("start"):
            fit = search.final(spec, more)
        self._warn_of_more_classes(fit, numbers)
        return fit

    def _require_evidence(self, search: Search) -> None:
        """Raise `NotIdentifiable` where neither held-out answers nor permuted ones show classes."""
        gain = search.gain
        assert gain is not None  # the search has chosen
        if gain.exceeds(CLEARLY_DETECTED) or search.problem.clamp:
            return
        z = beyond_chance(search.problem)
        seen = max(z.values())
        facts = " and ".join(f"{where} (z = {value:.1f})" for where, value in z.items())
        if seen < DETECTED and not gain.exceeds(ONE_ERROR):
            raise NotIdentifiable(self._why_nothing_shows(search, facts))
        if seen < CLEARLY_DETECTED:
            warn_user(
                f"{facts} predict the answers little better than chance: the classes may be wrong. "
                "Collect more pairs",
                NotIdentifiableWarning,
            )

    @staticmethod
    def _why_nothing_shows(search: Search, facts: str) -> str:
        """Return why these answers show no classes, and what to do, one reason at a time."""
        pairs, share = search.problem.all_pairs, search.problem.share
        if share in (0.0, 1.0):
            only = "same" if share else "different"
            return f'all {pairs.n_pairs:,} answers are "{only}": nothing can be learnt from them'
        assert search.spec is not None
        said = f"the answers say nothing about classes: {facts} predict them no better than chance"
        if search.is_inverted(search.spec.n_classes):
            return f"{said}; {INVERTED}"
        per_item = 2 * pairs.n_pairs / max(int(search.problem.in_pairs.sum()), 1)
        if per_item < FEW_PER_ITEM:
            return (
                f"{said}. There are only {per_item:.1f} answers per compared item: collect more "
                "about the same items"
            )
        many = f"{said}, with {per_item:.0f} answers per compared item. The answers are random, or"
        if not search.problem.has_features:
            return f"{many} they need features X or items of known class beside them"
        return (
            f"{many} they refer to other rows of X: Pairs.from_frame(..., items=X.index) "
            "compares ids"
        )

    def _warn_of_more_classes(self, fit: Fit, numbers: list[int] | None) -> None:
        """Warn where pairs of one class are called "different" more often than not."""
        shares = fit.item_proba.mean(axis=0)
        similar, dissimilar = algebra.mean_rates(
            fit.answers.crowd_noise().same_probability(fit.n_classes), shares
        )
        if similar <= 0.5 or numbers is None or dissimilar >= 0.5:
            return
        warn_user(
            f"pairs of one class are called 'different' in {similar:.0%} of the cases: there seem "
            f"to be more than {fit.n_classes} classes. Use n_classes='auto'; in commands, leave "
            "--classes out",
            ClassNumberWarning,
        )

    def _last_fit(self, X: Any) -> Array | None:
        """Return the beliefs of the last fit about these items, or None to start anew.

        Items may have been added behind those of the last fit: they begin at what the model
        predicts for them.
        """
        known = getattr(self, "item_proba_", None)
        if not self.warm_start or known is None or self.kind_class_ is not None:
            return None
        n_items = X.shape[0] if hasattr(X, "shape") else len(X)
        if len(known) > n_items:
            return None
        if len(known) < n_items:
            more = self.predict_proba(_safe_indexing(X, np.arange(len(known), n_items)))
            known = np.concatenate([known, more])
        return np.asarray(known)

    # --- the estimator --------------------------------------------------------------------

    def _with_estimator(
        self, problem: Problem, fit: Fit, candidates: Mapping[str, Any], pairs: Any
    ) -> tuple[ClassModel, Fit]:
        """Return the class model that is kept, and the fit after the last rounds with it."""
        own = self._inner is None
        race = Race(problem, fit, candidates)
        model = problem.class_model(fit.spec.class_model)
        if len(race.candidates) == 1:
            race.winner = next(iter(race.candidates))
            if not own:
                warn_if_weak(race.behind(race.winner), race.winner.removeprefix("0: "))
            model, self.candidate_, self.candidates_ = (
                race.class_model(self.n_jobs),
                race.winner,
                {},
            )
        else:
            winner = race.run(with_search=own)
            self.candidate_ = winner
            self.candidates_ = {n: fit.log_likelihood + g for n, g in race.gains.items()}
            if winner in race.candidates:
                model = race.class_model(self.n_jobs)
            elif winner != fit.spec.class_model:
                model = problem.class_model(winner)
        return model, self._last_rounds(problem, fit, model, pairs)

    def _last_rounds(self, problem: Problem, fit: Fit, model: ClassModel, pairs: Any) -> Fit:
        """Run the last rounds: all answers, the estimator that was chosen, all parts."""
        parts = (
            part.begin(problem.pairs, problem.X, expectation(problem.graph, fit))
            for name, part in PARTS.items()
            if part.joins == "last rounds" and not self._leaves_out(name)
        )
        rounds: dict[str, Any] = {"rounds": self._options.max_iter, "tolerance": self._options.tol}
        if model is problem.class_model(fit.spec.class_model):
            rounds |= {"phi": fit.phi, "line": fit.line}
        if not isinstance(pairs, Pairs):
            people = fit.answers.part("people") is not None
            e_step: Any = TableEStep(pairs, people, problem.clamp)
            model.weight = (pairs.degrees() > 0).astype(float)
            return run_em(fit.spec, fit.start, e_step, model, fit.answers, fit.item_proba, **rounds)
        answers = fit.answers.with_parts(*parts)
        e_step = GraphEStep(problem.graph, problem.clamp)
        return run_em(fit.spec, fit.start, e_step, model, answers, fit.item_proba, **rounds)

    # --- what is kept ---------------------------------------------------------------------

    def _named(self, problem: Problem, fit: Fit, keep: bool = False) -> Fit:
        """Put the groups in the order of their names, or ``keep`` it, and set ``classes_``."""
        K = fit.n_classes
        if problem.names is not None:
            names, pairs = all_names(problem.names, K), problem.all_pairs
            unnamed = np.setdiff1d(np.arange(K), list(known_classes(pairs, names).values()))
            if len(unnamed) > 1 or (K > 2 and len(problem.names) < K):  # else the one left
                warn_unnamed(names[unnamed])
            by_name = np.argsort(names, kind="stable")
            order = match_labels(fit.item_proba, pairs, problem.names)[by_name]
            self.classes_ = names[by_name]
            problem.name_classes(self.classes_, pairs)
            return fit if np.array_equal(order, np.arange(K)) else fit.permuted(order)
        before = getattr(self, "item_proba_", None)
        self.classes_ = np.arange(K)
        if keep and before is not None and before.shape[1] == K:
            return fit  # names stay what they were, whatever the sizes are now
        shares = fit.item_proba[problem.in_pairs].mean(axis=0)
        if isinstance(self.noise, NoiseModel) and not any_order(self.noise.same_probability(K)):
            self.names_known_ = True  # the given noise says which class is which
            return fit
        if not isinstance(self.noise, NoiseModel):
            fit.answers.table.require_renumbering(K)
        order, self.classes_ = order_by_size(shares, self.class_order)
        return fit.permuted(order)

    def _store(
        self,
        X: Any,
        pairs: Any,
        problem: Problem,
        model: ClassModel,
        fit: Fit,
        shares: Array | None = None,
    ) -> None:
        """Keep what was found, and fit the estimator to all beliefs."""
        K, beliefs = fit.n_classes, fit.item_proba
        with progress.stage("final fit"):
            self.estimator_, line = model.fitted(beliefs, fit.line)
        self.calibration_ = np.r_[line.log_slope, line.weight]
        self.item_proba_, self.oof_proba_ = beliefs, fit.phi
        self.n_classes_, self.spec_ = K, fit.spec
        self.start_, self.noise_model_ = fit.start, fit.spec.family
        self.noise_ = fit.answers.crowd_noise()
        if shares is None:
            in_pairs = problem.in_pairs if isinstance(pairs, Pairs) else pairs.degrees() > 0
            shares = beliefs[sampled_items(pairs, in_pairs)].mean(axis=0)
        self.prior_ = float(shares[1]) if K == 2 else shares
        self.annotator_noise_ = None
        if pairs.annotator_names is not None and not self._leaves_out("people"):
            S, R = fit.answers.without("clarity").matrices(), len(pairs.annotator_names)
            everybody = np.broadcast_to(S, (R, K, K))  # people who do not differ are the crowd
            self.annotator_noise_ = np.array([algebra.mean_rates(one, shares) for one in everybody])
        self.log_likelihood_, self.history_ = fit.log_likelihood, fit.history
        self.converged_, self.n_iter_ = fit.converged, len(fit.history)
        self.wrong_proba_ = None
        if isinstance(pairs, Pairs):
            graph, S = fit.answers.reweighted(problem.graph), fit.answers.responses()
            self.wrong_proba_ = answer_wrong_probability(
                graph, fit.beliefs, S, fit.answers.alike > 0
            )
            error = fit.answers.part("pair error")
            if error is not None:
                warn_if_clear(expectation(problem.graph, fit), error.rho)
        self._store_answers(X, pairs, fit.answers, fit.beliefs.item)
        if not fit.converged:
            warn_user(
                f"not converged after {self.n_iter_} rounds: class probabilities still changed by "
                f"{fit.history[-1]['belief_change']:.3f} on average. The best round was kept. "
                "Allow more rounds with search=SearchOptions(max_iter=...)",
                ConvergenceWarning,
            )

    # --- predictions ----------------------------------------------------------------------

    @property
    def _inner(self) -> Any:
        """The estimator as it was given; without features there is nothing to choose one by."""
        if self.estimator is None and self.answers_only_:
            return LogisticRegression()
        return self.estimator

    def _check_together(self, X: Any, pairs: Any) -> tuple[Any, Pairs, GivenOrder]:
        if X is None and isinstance(pairs, Answers):
            X = np.zeros((pairs.n_items, 1))
        return super()._check_together(X, pairs)

    def _check_items(self, X: Any) -> Any:
        if getattr(self, "answers_only_", False):
            raise ValueError(
                "this model was fitted to answers alone (X=None), so it cannot classify new items: "
                "item_proba_ has the classes of the compared items. Fit it with features to "
                "classify others"
            )
        return super()._check_items(X)

    def _class_proba(self, X: Any) -> Array:
        return self._of_classes(self._kind_proba(X))

    def _kind_proba(self, X: Any) -> Array:
        """Return calibrated P(class | x), shape (n, K); of kinds where there are kinds."""
        proba = class_proba(self.estimator_, X, self.n_classes_)
        line = Calibration(float(self.calibration_[0]), self.calibration_[1:])
        if line.log_slope == 0.0 and not line.weight.any():
            return proba
        return line(np.log(np.maximum(proba, 1e-4)))

    def intervals(
        self, X: Any, pairs: Pairs, level: float = 0.9, n_bootstrap: int = 60
    ) -> dict[str, Interval]:
        """Return intervals for ``similar_flip``, ``dissimilar_flip``, ``prior`` and ``accuracy``.

        ``X`` and ``pairs`` are those of `fit`; see `noisypairs.assess.intervals`. Of a large table
        `PAIRS_FOR_INTERVALS` pairs are redrawn, which makes the intervals too wide.

        They assume the model. Lies per item (``LabelingNoise(per="item")``: every answer about an
        item follows one wrong report) look like another class of that item, and no method that
        knows only the answers can see them: rates near zero with tiny intervals come out. Trust
        such rates only where some items of known class confirm them.
        """
        check_is_fitted(self)
        with undisturbed():
            X, pairs, given = self._check_together(X, in_memory(pairs, PAIRS_FOR_INTERVALS))
            problem, fit = self.refit(X, pairs, given)
            return joint_intervals(problem, fit, level, n_bootstrap, self.kind_class_)

    def verdict(self, X: Any = None, pairs: Pairs | None = None) -> Verdict:
        """Return whether the model may be trusted, and why: what ``noisypairs fit`` prints.

        ``X`` and ``pairs`` of the fit are needed only where the model was copied or read from a
        file, which keeps none of them. See `noisypairs.assess.verdict`.
        """
        check_is_fitted(self)
        record = self._record_
        with undisturbed():
            if X is not None and pairs is not None:
                ordered, some, given = self._check_together(
                    X, in_memory(pairs, PAIRS_FOR_INTERVALS)
                )
                record = self._record_of(ordered, some, given)
            if record is None:
                raise ValueError(
                    "this model was copied or read from a file and keeps no answers: give the "
                    "items and pairs of its fit, verdict(X, pairs)"
                )
            return record.verdict(self.kind_class_, self._warned_)

    def _record_of(self, X: Any, pairs: Pairs, given: Any) -> Record:
        """Return what a verdict needs, from items and pairs of the fit in canonical order."""
        problem, fit = self.refit(X, pairs, given)
        model = problem.class_model(self.spec_.class_model)
        if self.candidate_ != self.spec_.class_model:
            weight = problem.in_pairs.astype(float)
            model = EstimatorModel(self.estimator_, problem.items_as_given, problem.folds, weight)
        return Record(problem, self._search(problem), fit, model, dict(pairs.labels), given)

    def _warn_of_new_items(self, record: Record) -> None:
        """Warn where the answers cannot say what new items are."""
        if text := record.unpredicted():
            warn_user(text, UnpredictedAnswersWarning)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out items and answers: a copy or a file of the model does not hold them."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name not in self._of_session}

    def refit(self, X: Any, pairs: Pairs, given: Any) -> tuple[Problem, Fit]:
        """Return the problem of a fitted learner, in canonical order, and its fit."""
        pairs = single_answers(pairs if self.kind_class_ is None else pairs.with_labels({}))
        problem = self._problem(X, pairs, self.n_classes_)
        if problem.clamp is not None and self.label_noise_ is not None:
            problem.clamp.noise = self.label_noise_
        answers = without_similarity(self.answer_model_)
        if answers.part("people") is not None and not problem.annotators:
            answers = answers.without("people")
        item, phi = self._fitted_beliefs(given)
        K = self.n_classes_
        beliefs: Any = None
        fit = Fit(
            self.spec_, self.start_, answers, beliefs, item, phi, Calibration.none(K), 0.0, True, []
        )
        return problem, fit


def _asked(pairs: Answers) -> NDArray[np.intp] | None:
    """Return both ends of all pairs, (2, n_pairs); None of a table, where they may be many."""
    return np.stack([pairs.left, pairs.right]) if isinstance(pairs, Pairs) else None


def any_order(S: Array) -> bool:
    """Return whether exchanging classes leaves S as it is, as pairing noise does."""
    off = S[~np.eye(len(S), dtype=bool)]
    return bool(np.ptp(np.diag(S)) < 1e-12 and np.ptp(off) < 1e-12)
