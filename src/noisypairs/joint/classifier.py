"""The joint learner: item classes, noise and classifier inferred together from pairs alone."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from noisypairs import algebra
from noisypairs.algebra import Array
from noisypairs.errors import ClassNumberWarning, NotIdentifiable, NotIdentifiableWarning
from noisypairs.estimation import Interval
from noisypairs.estimators.base import (
    PairClassifier,
    Positive,
    all_names,
    label_names,
    match_labels,
    order_by_size,
    warn_names,
    warn_unnamed,
)
from noisypairs.estimators.inner.defaults import candidates_of
from noisypairs.inference import progress
from noisypairs.inference.propagation import answer_wrong_probability
from noisypairs.joint.choices import (
    CLEARLY_DETECTED,
    DETECTED,
    LAST_ROUNDS,
    LAST_TOLERANCE,
    ONE_ERROR,
    SEARCH_AGAIN,
    SEARCH_PAIRS,
)
from noisypairs.joint.class_model import Calibration, ClassModel, class_proba
from noisypairs.joint.em import Fit, GraphEStep, Spec, TableEStep, run_em
from noisypairs.joint.intervals import joint_intervals
from noisypairs.joint.judged import JudgedAnswers, without_similarity
from noisypairs.joint.kinds import KindNames, kind_numbers
from noisypairs.joint.next_pairs import NextPairsMixin, asked_pairs
from noisypairs.joint.problem import Problem, sampled_items
from noisypairs.joint.race import Race
from noisypairs.joint.search import Search, beyond_chance
from noisypairs.noise import PARTS, NoiseModel, family
from noisypairs.noise.answers import Expectation
from noisypairs.noise.pair_error import warn_if_clear
from noisypairs.pairs import Answers, Pairs
from noisypairs.pairs.copies import single_answers
from noisypairs.pairs.groups import item_groups, warn_of_repeated_items

#: Pairs on which answers are redrawn for intervals: those of more pairs would be narrower.
PAIRS_FOR_INTERVALS = 500_000

#: Nearly identical rows are looked for in tables of at most this many numbers.
MOST_NUMBERS_LOOKED_AT = 200_000

Switch = bool | Literal["auto"]


class JointPairClassifier(KindNames, NextPairsMixin, PairClassifier, JudgedAnswers):
    """Learn classes, noise and a classifier at once; nothing needs to be known but the pairs.

    Expectation maximisation: belief propagation over the pair graph fuses out-of-fold P(class | x)
    with all answers, the class model is refitted to the beliefs, and the answer model to the
    classes behind the answers. Number of classes, noise family and class model are those that
    predict held-out answers best, the simplest within one standard error. Works at any prior, ½
    included, and for any number of classes.

    Parameters
    ----------
    estimator : a probabilistic classifier that takes ``sample_weight``; a sequence of them to
        choose from; or None for the default ones (linear, kernel, ridge, Gaussian classes, boosted
        trees, a network).
    n_classes : int, sequence or "auto": the number of classes, or candidates.
    noise : a noise model, or ``"estimate"``.
    prior : P(class 1) if known: it only decides which of two groups is class 1.
    annotators, clarity, similarity : False leaves that part out of the answer model: a bias and a
        skill for everybody in ``pairs.annotator``, items that nobody recognises, a bias towards
        "same" for similar-looking pairs. Otherwise its strength is learnt, and may be zero.
    n_kinds : infer kinds that people tell apart, which may be finer than classes: a number, several
        or ``"auto"``, 3 to 12. `kinds` shows them, and `name_kinds` or labels of items turn them
        into classes; ``n_classes`` is then ignored.
    noise_model : ``"pairing"``, ``"labeling"``, ``"free"`` (any symmetric matrix) or ``"auto"``:
        two rates or a shrunk free matrix, whichever predicts held-out answers better.
    max_iter, tol : rounds with the estimator, and the change at which they have converged.
    cv : folds of the items for out-of-fold P(class | x); ``"auto"`` is 5.
    positive : ``"minority"`` or ``"majority"``: which of two groups is class 1 where no item is
        labelled and no prior given.
    random_state, n_jobs : the seed, and the processes; the model is the same for any number.
    verbose : True prints a line on stderr as each stage begins, with the seconds so far; 2 also the
        steps inside them, and higher numbers deeper ones.
    warm_start : start from the last fit, whose items these must be, new ones behind them: for
        answers that come in batches.

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
    wrong_proba_ : probability that each answer is wrong, shape (n_pairs,); None where the answers
        were streamed from a table (see `stream_suspects`).
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
        n_classes: int | Sequence[int] | Literal["auto"] = 2,
        noise: NoiseModel | Literal["estimate"] = "estimate",
        prior: float | Literal["estimate"] = "estimate",
        annotators: Switch = "auto",
        clarity: Switch = "auto",
        similarity: Switch = "auto",
        n_kinds: int | Sequence[int] | Literal["auto"] | None = None,
        noise_model: str = "auto",
        max_iter: int = LAST_ROUNDS,
        tol: float = LAST_TOLERANCE,
        cv: int | Literal["auto"] = "auto",
        positive: Positive = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
        warm_start: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_classes = n_classes
        self.noise = noise
        self.prior = prior
        self.annotators = annotators
        self.clarity = clarity
        self.similarity = similarity
        self.n_kinds = n_kinds
        self.noise_model = noise_model
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.positive = positive
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start

    n_searched_: int
    spec_: Spec
    item_kinds_: Array | None = None
    oof_kinds_: Array | None = None
    wrong_proba_: Array | None
    expected_error_: Array | None
    _of_items = ("item_proba_", "oof_proba_", "item_states_", "item_kinds_", "oof_kinds_")
    _of_answers = ("wrong_proba_", "expected_error_")

    def _leaves_in_place(self, pairs: Answers) -> bool:
        return pairs.n_pairs > SEARCH_PAIRS  # a table is then sampled and streamed

    def _leaves_out(self, name: str) -> bool:
        switch = {"people": "annotators"}.get(name, name)
        return getattr(self, switch, "auto") is False

    def fit(self, X: Any, pairs: Pairs) -> Self:
        """Learn from items ``X``, shape (n_items, n_features), and pairs of them.

        With more than `SEARCH_PAIRS` pairs, the model is chosen on that many, drawn at random, and
        the last rounds take all of them: in memory, or of a `PairTable` batch by batch against
        arrays of the size of the items. A smaller table is loaded whole.
        """
        with progress.fitting(self, self.stages()), threadpool_limits(1):
            asked = pairs
            last = self._last_fit(X)
            X, pairs, given = self._check_training(X, pairs)
            if X.shape[0] * X.shape[1] <= MOST_NUMBERS_LOOKED_AT:
                warn_of_repeated_items(X, pairs)
            labels = dict(pairs.labels)
            self.item_kinds_ = self.oof_kinds_ = self.kind_class_ = None
            pairs = pairs if self.n_kinds is None else pairs.with_labels({})  # they name kinds
            numbers = self._check_parameters(pairs, len(set(labels.values())))
            candidates = candidates_of(self.estimator, X, 0)  # a wrong one is refused before work
            some = pairs if isinstance(pairs, Pairs) else pairs.sample(SEARCH_PAIRS).in_order()[0]
            problem = self._problem(X, some, min(numbers or [2]))
            search = self._search(problem)
            with progress.stage("search"):
                fit = self._found(
                    search, numbers, None if last is None else last[given_items(given)]
                )
            fit = self._named(problem, fit, keep=last is not None)
            candidates = candidates_of(self.estimator, X, problem.seed, fit.n_classes)
            model, fit = self._with_estimator(problem, fit, candidates, pairs)
            self._store(X, pairs, problem, model, fit)
            if self.n_kinds is not None:
                self._store_kinds(X, labels)
            self._restore_order(given)
            self.asked_ = asked_pairs(asked)
            return self

    def choose_number(self, X: Any, pairs: Pairs) -> tuple[int, dict[int, float]]:
        """Return the number of classes or kinds that `fit` would keep, without fitting.

        With it comes the mean log-likelihood of a held-out answer for every number that was tried.
        """
        with threadpool_limits(1):
            X, pairs, _ = self._check_together(X, pairs)
            pairs = pairs if self.n_kinds is None else pairs.with_labels({})
            numbers = self._check_parameters(pairs, 0)
            search = self._search(self._problem(X, pairs, min(numbers or [2])))
            least = max(2, 0 if search.problem.names is None else len(search.problem.names))
            spec = search.choose(numbers, least)
            self._require_evidence(search)
            return spec.n_classes, search.class_numbers()

    # --- what is given --------------------------------------------------------------------

    def stages(self) -> dict[str, float]:
        """Return the stages of a fit in their order, and about how long they take."""
        several = not isinstance(self.n_classes, int) or self.n_kinds is not None
        found = {"search": 20.0 if several else 6.0}
        if self.estimator is None or isinstance(self.estimator, list | tuple):
            found["candidate estimators"] = 4.0
        return found | {"round": 4.0, "final fit": 0.5}

    def _check_parameters(self, pairs: Pairs, n_labels: int) -> list[int] | None:
        """Refuse parameters that make no sense; return the numbers of classes, None for any."""
        if not (isinstance(self.noise, NoiseModel) or self.noise == "estimate"):
            raise ValueError(
                f"noise={self.noise!r}: expected 'estimate' or a noise model such as "
                "PairingNoise(0.1, 0.2)"
            )
        if isinstance(self.prior, str):
            if self.prior != "estimate":
                raise ValueError(f"prior={self.prior!r}: expected 'estimate' or a number in (0, 1)")
        else:
            algebra.class_prior(self.prior)
        if self.noise_model != "auto":
            family(self.noise_model, also=["auto"])
        for name in ("annotators", "clarity", "similarity"):
            if getattr(self, name) not in (True, False, "auto"):
                raise ValueError(f"{name}={getattr(self, name)!r}: expected True, False or 'auto'")
        if self.annotators is True and pairs.annotator_names is None:
            raise ValueError(
                "annotators=True, but the pairs do not say who answered: give Pairs annotator=, or "
                "use annotators='auto'"
            )
        if self.max_iter < 1:
            raise ValueError(f"max_iter={self.max_iter!r}: expected at least one round")
        if self.n_kinds is not None:
            return kind_numbers(self.n_kinds, n_labels)
        return self._class_numbers(pairs)

    def _class_numbers(self, pairs: Pairs) -> list[int] | None:
        if isinstance(self.n_classes, str):
            if self.n_classes != "auto":
                raise ValueError(
                    f"n_classes={self.n_classes!r}: expected a number, several, or 'auto'"
                )
            return None
        if isinstance(self.n_classes, Sequence):
            numbers = [int(K) for K in self.n_classes]
        else:
            numbers = [int(self.n_classes)]
        if min(numbers, default=0) < 2:
            raise ValueError(f"n_classes={self.n_classes!r}: n_classes must be 2 or more")
        if not isinstance(self.n_classes, Sequence):
            label_names(pairs, numbers[0])
            return numbers
        named = len(set(pairs.labels.values()))
        return [K for K in numbers if named <= K] or numbers

    def _problem(self, X: Any, pairs: Pairs, n_classes: int) -> Problem:
        people = not self._leaves_out("people")
        named = max(n_classes, len(set(pairs.labels.values())))
        groups = item_groups(X, pairs)
        if pairs.groups is None and groups.max(initial=0) + 1 < np.sqrt(len(groups)):
            groups = np.arange(len(groups))  # categories: equal rows are not one item
        return Problem(X, pairs, named, self.cv, self.random_state, groups, people)

    def _search(self, problem: Problem) -> Search:
        given = self.noise if isinstance(self.noise, NoiseModel) else None
        families: tuple[str, ...] = ("pairing", "free")
        if given is not None:
            families = ("given",)
        elif self.noise_model != "auto":
            families = (self.noise_model,)
        elif self.n_kinds is not None:  # two rates would merge the kinds that people confuse
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
                return search.best_start(search.problem, spec, {"last fit": last})
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
        per_answer = gain.nats / max(gain.n_answers, 1)
        facts = (
            f"held-out answers are predicted {per_answer:.3f} ± "
            f"{gain.error / max(gain.n_answers, 1):.3f} nats better than by their share of 'same' "
            f"({search.problem.share:.2f})"
        )
        for where, value in z.items():
            facts += f"; {where} predict the answers {value:.1f} standard deviations beyond chance"
        if seen < DETECTED and not gain.exceeds(ONE_ERROR):
            raise NotIdentifiable(
                f"{facts}: these pairs say nothing about classes. The answers are random or all "
                "alike, or there are far too few of them"
            )
        if seen < CLEARLY_DETECTED:
            warnings.warn(
                f"{facts}: expect little. Collect more pairs", NotIdentifiableWarning, stacklevel=4
            )

    def _warn_of_more_classes(self, fit: Fit, numbers: list[int] | None) -> None:
        """Warn where pairs of one class are called "different" more often than not."""
        shares = fit.item_proba.mean(axis=0)
        similar, dissimilar = algebra.mean_rates(
            fit.answers.crowd_noise().same_probability(fit.n_classes), shares
        )
        if similar <= 0.5 or numbers is None or dissimilar >= 0.5:
            return
        warnings.warn(
            f"pairs of one class are called 'different' in {similar:.0%} of the cases: the answers "
            f"want more than {fit.n_classes} classes. Let their number be chosen: "
            "n_classes='auto', --classes in commands",
            ClassNumberWarning,
            stacklevel=4,
        )

    def _last_fit(self, X: Any) -> Array | None:
        """Return the beliefs of the last fit about these items, or None to start anew.

        Items may have been added behind those of the last fit: they begin at what the model
        predicts for them.
        """
        known = getattr(self, "item_proba_", None)
        if not self.warm_start or known is None or self.n_kinds is not None:
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
        own = self.estimator is None
        race = Race(problem, fit, candidates)
        model = problem.class_model(fit.spec.class_model)
        if len(race.candidates) == 1:
            race.winner = next(iter(race.candidates))
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
        return model, self._last_rounds(problem, fit, model, pairs)

    def _last_rounds(self, problem: Problem, fit: Fit, model: ClassModel, pairs: Any) -> Fit:
        """Run the last rounds: all answers, the estimator that was chosen, all parts."""
        parts = (
            part.begin(problem.pairs, problem.X, _seen(problem, fit))
            for name, part in PARTS.items()
            if not (part.with_search or name == "similarity" or self._leaves_out(name))
        )
        rounds: dict[str, Any] = {"rounds": self.max_iter, "tolerance": self.tol}
        if model is problem.class_model(fit.spec.class_model):
            rounds |= {"phi": fit.phi, "line": fit.line}
        if not isinstance(pairs, Pairs):
            names = pairs.annotator_names if fit.answers.part("people") is not None else None
            e_step: Any = TableEStep(pairs, 1 if names is None else len(names), problem.clamp)
            self._weigh(model, pairs.degrees() > 0)
            return run_em(fit.spec, fit.start, e_step, model, fit.answers, fit.item_proba, **rounds)
        answers = fit.answers.with_parts(*parts)
        e_step = GraphEStep(problem.graph, problem.clamp)
        return run_em(fit.spec, fit.start, e_step, model, answers, fit.item_proba, **rounds)

    @staticmethod
    def _weigh(model: ClassModel, in_pairs: NDArray[np.bool_]) -> None:
        model.weight = in_pairs.astype(float)

    # --- what is kept ---------------------------------------------------------------------

    def _named(self, problem: Problem, fit: Fit, keep: bool = False) -> Fit:
        """Put the groups in the order of their names, or ``keep`` it, and set ``classes_``."""
        K = fit.n_classes
        if problem.names is not None:
            self.classes_ = all_names(problem.names, K)
            if len(problem.names) < K:
                warn_unnamed(self.classes_[len(problem.names) :])
            order = match_labels(fit.item_proba, problem.all_pairs, problem.names)
            return fit if np.array_equal(order, np.arange(K)) else fit.permuted(order)
        before = getattr(self, "item_proba_", None)
        self.classes_ = np.arange(K)
        if keep and before is not None and before.shape[1] == K:
            return fit  # names stay what they were, whatever the sizes are now
        shares = fit.item_proba[problem.in_pairs].mean(axis=0)
        if isinstance(self.noise, NoiseModel) and not any_order(self.noise.same_probability(K)):
            return fit  # the given noise says which class is which
        if not isinstance(self.noise, NoiseModel):
            fit.answers.table.require_renumbering(K)
        if isinstance(self.prior, str) or K > 2:
            if self.positive is None:
                warn_names(K)  # from here, so that the warning points at the call of fit
                order = np.argsort(shares, kind="stable")
            else:
                order = order_by_size(shares, self.positive)
        else:
            wanted = algebra.class_prior(self.prior)
            order = np.argsort(shares)[np.argsort(np.argsort(wanted))]
        return fit.permuted(order)

    def _store(self, X: Any, pairs: Any, problem: Problem, model: ClassModel, fit: Fit) -> None:
        """Keep what was found, and fit the estimator to all beliefs."""
        K, beliefs = fit.n_classes, fit.item_proba
        with progress.stage("final fit"):
            self.estimator_, line = model.fitted(beliefs, fit.line)
        self.calibration_ = np.r_[line.log_slope, line.weight]
        self.item_proba_, self.oof_proba_ = beliefs, fit.phi
        self.n_classes_, self.spec_ = K, fit.spec
        self.start_, self.noise_model_ = fit.start, fit.spec.family
        self.noise_ = fit.answers.crowd_noise()
        in_pairs = problem.in_pairs if isinstance(pairs, Pairs) else pairs.degrees() > 0
        shares = beliefs[sampled_items(pairs, in_pairs)].mean(axis=0)
        self.prior_ = float(shares[1]) if K == 2 else shares
        people = fit.answers.part("people")
        self.annotator_noise_ = None
        if people is not None or self.annotators is True:  # people who do not differ are the crowd
            S, R = fit.answers.without("clarity").matrices(), len(pairs.annotator_names)
            everybody = np.broadcast_to(S, (R, K, K))
            self.annotator_noise_ = np.array([algebra.mean_rates(one, shares) for one in everybody])
        self.log_likelihood_, self.history_ = fit.log_likelihood, fit.history
        self.converged_, self.n_iter_ = fit.converged, len(fit.history)
        self.wrong_proba_ = None
        if isinstance(pairs, Pairs):
            graph, S = fit.answers.reweighted(problem.graph), fit.answers.matrices()
            self.wrong_proba_ = answer_wrong_probability(
                graph, fit.beliefs, S, fit.answers.alike > 0
            )
            error = fit.answers.part("pair error")
            if error is not None:
                warn_if_clear(_seen(problem, fit), error.rho)
        self._store_answers(X, pairs, fit.answers, fit.beliefs.item)
        if not fit.converged:
            warnings.warn(
                f"the beliefs still changed after {self.n_iter_} rounds (by "
                f"{fit.history[-1]['belief_change']:.3f} on average), and the round that "
                "explains the answers best was kept: raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )

    # --- predictions ----------------------------------------------------------------------

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

        ``X`` and ``pairs`` are those of `fit`; see `noisypairs.joint.intervals`. Of a large table
        `PAIRS_FOR_INTERVALS` pairs are redrawn, which makes the intervals too wide.

        They assume the model. Lies per item (``LabelingNoise(per="item")``: every answer about an
        item follows one wrong report) look like another class of that item, and no method that
        knows only the answers can see them: rates near zero with tiny intervals come out. Trust
        such rates only where some items of known class confirm them.
        """
        check_is_fitted(self)
        with threadpool_limits(1):
            X, pairs, given = self._check_together(X, pairs.sample(PAIRS_FOR_INTERVALS))
            problem, fit = self.refit(X, pairs, given)
            return joint_intervals(problem, fit, level, n_bootstrap, self.kind_class_)

    def refit(self, X: Any, pairs: Pairs, given: Any) -> tuple[Problem, Fit]:
        """Return the problem of a fitted learner, in canonical order, and its fit."""
        pairs = single_answers(pairs if self.kind_class_ is None else pairs.with_labels({}))
        problem = self._problem(X, pairs, self.n_classes_)
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


def _seen(problem: Problem, fit: Fit) -> Expectation:
    """Return what a fit expects of the answers, without counts."""
    none, graph = np.zeros((1, 1, 1)), fit.answers.reweighted(problem.graph)
    return Expectation(graph, fit.beliefs, fit.answers.matrices(), fit.phi, none, none)


def given_items(given: Any) -> Any:
    """Return the order of the items as an index."""
    return slice(None) if given.items is None else given.items


def any_order(S: Array) -> bool:
    """Return whether exchanging classes leaves S as it is, as pairing noise does."""
    off = S[~np.eye(len(S), dtype=bool)]
    return bool(np.ptp(np.diag(S)) < 1e-12 and np.ptp(off) < 1e-12)
