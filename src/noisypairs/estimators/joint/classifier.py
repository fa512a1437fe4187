"""The joint learner: item classes, noise and classifier inferred together from pairs alone."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from noisypairs import algebra
from noisypairs.algebra import Array
from noisypairs.estimation import Interval
from noisypairs.estimators.base import (
    PairClassifier,
    Positive,
    all_names,
    order_by_size,
    warn_names,
    warn_unnamed,
)
from noisypairs.estimators.inner.defaults import candidates_of
from noisypairs.estimators.joint.answers.judged import JudgedAnswers
from noisypairs.estimators.joint.answers.model import AnswerModel
from noisypairs.estimators.joint.answers.repeats import single_answers
from noisypairs.estimators.joint.answers.states import folded
from noisypairs.estimators.joint.asking.next_pairs import NextPairsMixin, asked_pairs
from noisypairs.estimators.joint.beginning import begin_with_parts, choose_classifier
from noisypairs.estimators.joint.beliefs.potentials import class_proba
from noisypairs.estimators.joint.choice import Choice
from noisypairs.estimators.joint.intervals import joint_intervals
from noisypairs.estimators.joint.parameters import check_parameters, stages
from noisypairs.estimators.joint.parts.kinds import KindNames
from noisypairs.estimators.joint.parts.parts import Switch, wanted_parts
from noisypairs.estimators.joint.problem import (
    JointProblem,
    any_order,
    reordered,
    sampled_items,
)
from noisypairs.estimators.joint.rounds import Ended, LastRounds
from noisypairs.estimators.joint.search.selection import Search
from noisypairs.estimators.joint.search.warm import LastFit
from noisypairs.inference import em, progress
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Answers, Pairs

#: Pairs on which start, noise family and classifier are chosen; of `Pairs` in memory also at least
#: so many for each item. The rounds with the classifier then see all answers.
PAIRS_FOR_CHOICE, PAIRS_FOR_CHOICE_PER_ITEM = 2_000_000, 10
#: Of so many items at most, one thread is faster than several, and gives the same everywhere.
FEW_ITEMS = 20_000
#: Pairs on which answers are redrawn for intervals: those of more pairs would be shorter.
PAIRS_FOR_INTERVALS = 500_000


class JointPairClassifier(KindNames, NextPairsMixin, PairClassifier, JudgedAnswers):
    """Learn classes, noise and a classifier at once; nothing needs to be known but the pairs.

    Expectation maximisation (see `noisypairs.inference.em`): belief propagation over the pair graph
    fuses P(class | x) with all answers, the classifier is refitted on the item beliefs, out of
    fold, and the noise on the classes behind the answers. Works at any prior, ½ included, and for K
    classes.

    Parameters
    ----------
    estimator : a probabilistic classifier that takes ``sample_weight``; a sequence of them, of
        which the one whose out-of-fold P(class | x) explains the answers best is kept; or None for
        the default ones (linear, kernel, ridge, Gaussian classes, boosted trees, a network).
    n_classes : K; a sequence of numbers to choose from by how well they explain the answers; or
        ``"auto"``, 2 to 6, and more than 6 while that does better. With a number a
        `ClassNumberWarning` says when one class more explains the answers better; with several,
        when one more than the largest does.
    noise : a noise model, or ``"estimate"``.
    prior : P(class 1) if known: it only decides which of two groups is class 1.
    annotators : give every annotator in ``pairs.annotator`` a bias and a skill of their own, shrunk
        towards the crowd's (`noisypairs.noise.people`); ``"auto"`` where that predicts held-out
        answers better.
    clarity : allow for items that nobody recognises (`noisypairs.noise.clarity`); ``"auto"`` where
        that predicts held-out answers better.
    similarity : let the answers, not the classes, depend on how alike two items look; ``"auto"``
        where that predicts held-out answers better.
    n_kinds : infer kinds that people tell apart, which may be finer than classes: a number, several
        or ``"auto"``, 3 to 12, of which the one that predicts answers about held-out items best is
        kept. `kinds` shows them, and `name_kinds` or labels of items turn them into classes;
        ``n_classes`` is then not looked at.
    noise_model : ``"pairing"``, ``"labeling"``, ``"free"`` (any symmetric matrix) or ``"auto"``,
        the one that explains the answers best, simplest first.
    starts : guesses to begin from, among ``"aligned"``, ``"answers"``, ``"kmeans"``,
        ``"spectral"``, ``"gaussian"``, ``"random"``.
    n_init : how many random guesses besides.
    max_iter, tol : rounds with the classifier, and the change at which they have converged.
    cv : folds by item for out-of-fold P(class | x); ``"auto"`` is 5, and fewer of many items.
    positive : ``"minority"`` or ``"majority"``: which of two groups is class 1 where no item is
        labelled and no prior given.
    random_state, n_jobs : the seed, and the processes; the model is the same for any number.
    verbose : True prints a line on stderr as each stage begins, with the seconds so far; 2 also the
        steps inside them, and higher numbers deeper ones.
    warm_start : go on from the last fit, whose items these must be, new ones behind them: for
        answers that come in batches (see `noisypairs.estimators.joint.search.warm`).

    Attributes
    ----------
    item_proba_ : P(class | everything) of the training items, shape (n_items, K).
    estimator_, candidate_, candidates_ : the classifier kept, its name among the candidates (or
        names: it may be a mean), and the log-likelihood of those that were tried, compared with
        ridge regression on as many items as it took. See `noisypairs.estimators.joint.choice`.
    noise_, noise_model_, noise_models_ : the noise, its family, log-likelihoods of the families.
    prior_ : share of class 1 (of every class, for K > 2) among the items in pairs; where some were
        chosen, among those in pairs drawn at random.
    annotator_noise_ : rates (similar_flip, dissimilar_flip) per annotator, shape (R, 2), or None.
    wrong_proba_ : probability that each answer is wrong, shape (n_pairs,); None where the answers
        were streamed from a table of more than `PAIRS_FOR_CHOICE` pairs (see `stream_suspects`).
    n_classes_, class_numbers_ : the number of classes, and for every number that was tried its
        log-likelihood less ½ log n for each number that its noise fits.
    repeat_correlation_ : correlation of the answers to one pair, beyond what their classes explain;
        zero where it is not clear (see `repeats`), or where the answers were streamed.
    asked_ : the pairs asked, left and right ends, shape (2, m), for `next_pairs`.
    members_, n_searched_ : the classifiers chosen, not fitted, and the number of answers at the
        last search, for ``warm_start``.
    start_, starts_, log_likelihood_, converged_, n_iter_, history_ : how it went.

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
        starts: Sequence[str] = ("aligned", "answers", "kmeans", "spectral", "gaussian"),
        n_init: int = 0,
        max_iter: int = 10,
        tol: float = 5e-3,
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
        self.starts = starts
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.positive = positive
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start

    # Models of older files have none of their own.
    verbose: bool | int = False
    warm_start: bool = False
    clarity: Switch = False
    similarity: Switch = False
    n_kinds: int | Sequence[int] | Literal["auto"] | None = None
    item_kinds_: Array | None = None
    oof_kinds_: Array | None = None
    wrong_proba_: Array | None
    repeat_correlation_: float
    expected_error_: Array | None
    _of_items = ("item_proba_", "oof_proba_", "item_states_", "item_kinds_", "oof_kinds_")
    _of_answers = ("wrong_proba_", "expected_error_")

    def _leaves_in_place(self, pairs: Answers) -> bool:
        return pairs.n_pairs > PAIRS_FOR_CHOICE  # a table is then sampled and streamed

    def fit(self, X: Any, pairs: Pairs) -> Self:
        """Learn from items ``X``, shape (n_items, n_features), and pairs of them.

        With more than `PAIRS_FOR_CHOICE` pairs, start, noise family and classifier are chosen on so
        many, drawn at random, and the last rounds take all of them: in memory, or of a `PairTable`
        batch by batch against arrays of the size of the items. A smaller table is loaded whole.
        """
        few = getattr(pairs, "n_items", 0) <= FEW_ITEMS
        with progress.fitting(self, stages(self)), threadpool_limits(1 if few else None):
            last, answers = LastFit.of(self, X), pairs
            X, pairs, given = self._check_training(X, pairs)
            labels = dict(pairs.labels)
            self.item_kinds_ = self.oof_kinds_ = self.kind_class_ = None
            pairs = pairs if self.n_kinds is None else pairs.with_labels({})  # they name kinds
            numbers = check_parameters(self, pairs, len(set(labels.values())))
            candidates_of(self.estimator, X, 0)  # a wrong one is refused before any work
            some = self._pairs_for_choice(pairs)
            problem = JointProblem(X, some, numbers, self.cv, self.random_state)
            wanted = wanted_parts(self, pairs)
            last = last and last.ordered(given)
            begun, parts = begin_with_parts(self, problem, numbers, wanted, last)
            search, found = begun.search, self._named(problem, begun.chosen, keep=begun.numbered)
            choice = choose_classifier(self, X, problem, folded(found), begun, parts)
            whole = some if some.n_pairs == pairs.n_pairs else pairs
            how = self.max_iter, self.tol, self.n_jobs
            last_rounds = LastRounds(search, parts, choice, found, *how)
            ended, in_pairs, *_ = self._last_rounds(last_rounds, whole)
            self.start_, self.starts_ = search.start, search.starts
            self.n_classes_ = search.n_classes
            self.noise_model_, self.noise_models_ = search.family, search.noise_models
            self.parts_, self.part_gains_ = tuple(sorted(parts.kept)), tuple(parts.gains)
            self.candidate_ = choice.name
            self.candidates_ = {n: found.log_likelihood + gain for n, gain in choice.gains.items()}
            classifier = [{"stage": "classifier", **row} for row in ended.history]
            self.history_ = search.history + classifier
            self._store(pairs, choice, in_pairs, ended)
            self._store_answers(X, whole, ended)
            if self.n_kinds is not None:
                self._store_kinds(X, labels)
            self._restore_order(given)
            self.members_ = {name: choice.tuned[name] for name in choice.members}
            self.n_searched_ = begun.n_searched
            self.asked_ = asked_pairs(answers)
            return self

    def _pairs_for_choice(self, pairs: Pairs) -> Pairs:
        """Return pairs in memory on which to choose: all, or some drawn at random."""
        enough = max(PAIRS_FOR_CHOICE, PAIRS_FOR_CHOICE_PER_ITEM * pairs.n_items)
        if not isinstance(pairs, Pairs) or pairs.n_pairs <= enough:
            return pairs.sample(PAIRS_FOR_CHOICE).in_order()[0]
        rng = check_random_state(self.random_state)
        return pairs.select(rng.random_sample(pairs.n_pairs) < enough / pairs.n_pairs)

    def _last_rounds(self, rounds: LastRounds, pairs: Any) -> Ended:
        """Run the rounds with the classifier, and keep what they say about the answers."""
        ended = rounds.run(pairs)
        self.wrong_proba_, self.repeat_correlation_ = ended.wrong_proba, ended.repeat_correlation
        return ended

    def _class_proba(self, X: Any) -> Array:
        return self._of_classes(self._kind_proba(X))

    def _kind_proba(self, X: Any) -> Array:
        """Return P(class | x), shape (n, K); of kinds where there are kinds."""
        return class_proba(self.estimator_, X, self.n_classes_)

    def intervals(
        self, X: Any, pairs: Pairs, level: float = 0.9, n_bootstrap: int = 60
    ) -> dict[str, Interval]:
        """Return intervals for ``similar_flip``, ``dissimilar_flip``, ``prior`` and ``accuracy``.

        ``X`` and ``pairs`` are those of `fit`; see `noisypairs.estimators.joint.intervals`. Of a
        large table `PAIRS_FOR_INTERVALS` pairs are redrawn, which makes the intervals too long.

        They assume the model. Lies per item (``LabelingNoise(per="item")``: every answer about an
        item follows one wrong report) look like another class of that item, and no method that
        knows only the answers can see them: rates near zero with tiny intervals come out. Believe
        such rates only where some items of known class confirm them.
        """
        check_is_fitted(self)
        X, pairs, given = self._check_together(X, pairs.sample(PAIRS_FOR_INTERVALS))
        pairs = single_answers(pairs if self.kind_class_ is None else pairs.with_labels({}))
        problem = JointProblem(X, pairs, [self.n_classes_], self.cv, self.random_state)
        return joint_intervals(
            problem,
            *self._fitted_beliefs(given),
            self.noise_,
            self.search(problem).fit_noise(self.noise_model_),
            level,
            n_bootstrap,
            self.repeat_correlation_,
            self.kind_class_,
        )

    def search(self, problem: JointProblem) -> Search:
        """Return the search for start, number of classes and noise family, not yet begun."""
        given = self.noise if isinstance(self.noise, NoiseModel) else None
        return Search(problem, given, self.noise_model, tuple(self.starts), self.n_init)

    def _named(
        self, problem: JointProblem, found: em.Inference, keep: bool = False
    ) -> em.Inference:
        """Put the groups in the order of their names, or ``keep`` it, and set ``classes_``."""
        item = folded(found).beliefs.item
        K = item.shape[1]
        if problem.names is not None:
            self.classes_ = all_names(problem.names, K)
            if len(problem.names) < K:
                warn_unnamed(self.classes_[len(problem.names) :])
            return found
        self.classes_ = np.arange(K)
        if keep:
            return found  # names stay what they were, whatever the sizes are now
        shares = item[problem.in_pairs].mean(axis=0)
        if isinstance(self.noise, NoiseModel) and not any_order(self.noise.same_probability(K)):
            return found  # the given noise says which class is which
        if not isinstance(self.noise, NoiseModel):
            found.noise.require_renumbering(K)
        if isinstance(self.prior, str) or K > 2:
            if self.positive is None:
                warn_names(K)  # from here, so that the warning points at the call of fit
                order = np.argsort(shares, kind="stable")
            else:
                order = order_by_size(shares, self.positive)
        else:
            wanted = algebra.class_prior(self.prior)
            order = np.argsort(shares)[np.argsort(np.argsort(wanted))]
        return reordered(found, order)

    def _store(
        self, pairs: Answers, choice: Choice, in_pairs: NDArray[np.bool_], found: em.Inference
    ) -> None:
        beliefs = folded(found).item_proba
        K = beliefs.shape[1]
        items = np.flatnonzero(in_pairs)
        with progress.stage("final fit"):
            self.estimator_ = choice.fit(beliefs, items)
        self.item_proba_ = beliefs
        self.oof_proba_ = folded(found).potential
        self.noise_ = found.noise
        shares = beliefs[sampled_items(pairs, in_pairs)].mean(axis=0)
        self.prior_ = float(shares[1]) if K == 2 else shares
        self.annotator_noise_ = None
        if "people" in self.parts_:
            S = AnswerModel.of(found, None, K).class_matrices
            self.annotator_noise_ = np.array([algebra.mean_rates(own, shares) for own in S])
        self.log_likelihood_ = found.log_likelihood
        self.converged_, self.n_iter_ = found.converged, len(found.history)
        if not found.converged:
            warnings.warn(
                f"the beliefs still changed after {self.n_iter_} rounds (by "
                f"{found.history[-1]['belief_change']:.3f} on average), and the round that "
                "explains the answers best was kept: raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
