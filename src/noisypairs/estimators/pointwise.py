"""What the paper's two learners share: which noise, which prior, and is there any signal."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils import _safe_indexing

from noisypairs import algebra, model_selection
from noisypairs.algebra import Array
from noisypairs.errors import (
    ChosenPairsWarning,
    NotIdentifiable,
    NotIdentifiableWarning,
    warn_user,
)
from noisypairs.estimation import PriorEstimate, estimate_prior, random_answers
from noisypairs.estimation.heldout import gain_of_items
from noisypairs.estimators.base import (
    PairClassifier,
    item_order,
    label_names,
    order_by_size,
    row_order,
    undisturbed,
    warn_if_weak,
    warn_of_copies,
)
from noisypairs.estimators.inner.features import finite_numbers
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Answers, ItemCounts, Pairs
from noisypairs.pairs.counts import some_pairs
from noisypairs.pairs.pairs import drawn_at_random, in_memory, pooled_answers, sorted_answers

HeldOut = Callable[[], model_selection.HeldOutShare]

#: |a − b| √(2n) below which the answers' own randomness hides the difference: refuse.
TOO_WEAK = 2.0
#: … and below which a warning says how much the noise is inflated.
WEAK = 10.0
#: Standard errors by which left-out answers must show their signal to overrule the share of "same".
CLEAR = 4.0

#: Items on which the estimator is compared with the default one, at most.
ITEMS_COMPARED = 1_000
#: A table of more pairs is counted where it is; a smaller one is loaded.
PAIRS_IN_MEMORY = 2_000_000


class PointwiseClassifier(PairClassifier):
    """Base of learners that see pairs as weighted items and need a − b ≠ 0.

    Their fit depends on the pairs through counts per item: answers are never sorted, and items only
    so that what draws rows at random (a kernel map, folds, the user's estimator) gets them in the
    same order, whatever order was given.

    Subclasses have the parameters ``estimator``, ``noise``, ``prior``, ``class_order``, ``cv``,
    ``random_state``, ``n_jobs``, and define `_inner_estimator`, `_fit_candidate`, `_keep` and
    `_positive_proba`.
    """

    estimator: Any
    noise: Any
    prior: Any
    class_order: Any
    cv: Any
    random_state: Any
    n_jobs: Any
    estimator_: Any
    _former = ("noise_model", "positive")

    def fit(self, X: Any, pairs: Pairs) -> Self:
        """Learn from items ``X``, shape (n_items, n_features), and pairs of them."""
        with undisturbed():
            X, pairs = self._check_input(X, self._drawn_at_random(pairs))
            warn_of_copies(pairs)
            inner = self._inner_estimator(X)
            counts = pairs.item_counts()
            held_out = self._held_out_share(inner, X, pairs)
            noise = self._chosen_noise(held_out)
            priors = self._candidate_priors(pairs, noise, held_out)
            order = row_order(X, counts.different, counts.same)
            items = _safe_indexing(X, order)
            counts = ItemCounts(counts.same[order], counts.different[order])
            models = []
            for prior in priors:
                algebra.require_signal(algebra.signal(noise.same_probability(), prior))
                models.append(
                    self._fit_candidate(clone(inner), items, counts, noise, prior, held_out)
                )
            best = self._best_candidate(models, X, pairs)
            check_signal(noise, priors[best], pairs)
            self.prior_, self.noise_ = priors[best], noise
            self._keep(models[best])
            if self.estimator is not None:
                self._compare_with_default(inner, items, counts, held_out)
            return self

    def _compare_with_default(
        self, inner: Any, X: Any, counts: ItemCounts, held_out: HeldOut
    ) -> None:
        """Warn where the default estimator is clearly more accurate on half of the answers.

        Of some items, half of the answers about each are held out. An error costs A of the weighted
        risk of noisy answers (Theorem 3). So the difference of two rules in that risk, on answers
        that neither saw and divided by A, is that of their accuracies, whatever the noise.
        """
        rng = np.random.default_rng(0)
        some = np.sort(rng.permutation(len(counts.same))[:ITEMS_COMPARED])
        X = _safe_indexing(X, some)
        learnt, unseen = ItemCounts(counts.same[some], counts.different[some]).halved(rng)
        numbers = finite_numbers(X)
        if numbers is None or not (learnt.total.any() and unseen.total.any()):
            return
        S = self.noise_.same_probability()
        alpha, gain = algebra.alpha(S, self.prior_), algebra.gain(S, self.prior_)
        default = clone(self).set_params(estimator=None)._inner_estimator(numbers)
        risk = []
        for rows, learner in ((X, inner), (numbers, default)):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rule = self._fit_candidate(
                        clone(learner), rows, learnt, self.noise_, self.prior_, held_out
                    )
            except ValueError:  # half of the answers may be alike, or too few for the estimator
                return
            positive = self._positive_proba(rule, rows) > 0.5
            wrong = np.where(positive, alpha * unseen.different, (1.0 - alpha) * unseen.same)
            risk.append(wrong / gain)
        lead = gain_of_items(risk[0] - risk[1], np.arange(len(some)))
        total = float(unseen.total.sum())
        warn_if_weak(lead._replace(weight=total), type(self.estimator).__name__)

    @abstractmethod
    def _inner_estimator(self, X: Any) -> Any:
        """Return the estimator to clone, after checking that it can do what is asked of it."""

    @abstractmethod
    def _fit_candidate(
        self,
        model: Any,
        X: Any,
        counts: ItemCounts,
        noise: NoiseModel,
        prior: float,
        held_out: HeldOut,
    ) -> Any:
        """Fit the inner estimator on pooled items under this noise and prior."""

    @abstractmethod
    def _keep(self, model: Any) -> None:
        """Store the candidate that was chosen."""

    def _leaves_in_place(self, pairs: Answers) -> bool:
        return pairs.n_pairs > PAIRS_IN_MEMORY  # a smaller table gives the model that `Pairs` give

    def _drawn_at_random(self, pairs: Any) -> Any:
        """Return the pairs without chosen ones and without those of an item with itself.

        What an answer says about one of its items rests on the other being any item, of class k
        with probability π_k: that is so of pairs drawn at random and of no others.
        """
        if isinstance(pairs, Pairs) and pairs.chosen is not None:
            drawn = random_answers(pairs, "how often an item is called 'same'")
            warn_user(
                f"{pairs.n_pairs - drawn.n_pairs:,} of {pairs.n_pairs:,} pairs were chosen, not "
                "drawn at random: a method that looks at items one by one cannot use them, and "
                "they are left out. JointPairClassifier uses all of them",
                ChosenPairsWarning,
            )
            pairs = drawn
        return pairs.without_self_pairs() if isinstance(pairs, Pairs) else pairs

    def _class_proba(self, X: Any) -> Array:
        positive = self._positive_proba(self._fitted_rule(), X)
        return np.column_stack([1.0 - positive, positive])

    @abstractmethod
    def _positive_proba(self, model: Any, X: Any) -> Array:
        """Return P(classes_[1] | x), shape (n,), of one fitted candidate."""

    def _fitted_rule(self) -> Any:
        """Return the fitted candidate that was kept."""
        return self.estimator_

    def _chosen_noise(self, held_out: HeldOut) -> NoiseModel:
        """Return the given noise, or the one with the best held-out likelihood of the answers."""
        for stale in ("rate_choice_", "prior_estimate_"):  # of an earlier fit
            self.__dict__.pop(stale, None)
        if isinstance(self.noise, NoiseModel):
            return self.noise
        self._check_noise(["auto"], needs="from_rates")  # refused before the cross-fitting
        chosen = "pairing" if self.noise in ("auto", "estimate") else self.noise
        self.rate_choice_ = model_selection.choose_rates(held_out(), chosen)
        return self.rate_choice_.noise

    def _held_out_share(self, share_estimator: Any, X: Any, pairs: Pairs) -> HeldOut:
        """Return a function that cross-fits P("same" | x) when first asked, and only then.

        Folds, and the answers on which rates are chosen, are drawn from items in their own order.
        """

        @cache
        def held_out() -> model_selection.HeldOutShare:
            order = item_order(X, pairs) if isinstance(pairs, Pairs) else row_order(X)
            folds = KFold(self.cv, shuffle=True, random_state=self.random_state).split(order)
            share = model_selection.out_of_fold_share(
                share_estimator,
                X,
                pairs,
                cv=[(order[train], order[test]) for train, test in folds],
                n_jobs=self.n_jobs,
            )
            some = in_memory(share.pairs, model_selection.MOST_PAIRS)
            place = np.argsort(order).astype(some.left.dtype)
            ends = place[some.left], place[some.right]
            few = some.select(some_pairs(*ends, model_selection.MOST_PAIRS))
            return replace(share, pairs=sorted_answers(few[order])[0], centred=share.centred[order])

        return held_out

    def _candidate_priors(self, pairs: Pairs, noise: NoiseModel, held_out: HeldOut) -> list[float]:
        """Return the priors of classes_[1] to try, and set ``classes_``.

        A given prior is one; an estimated one has two roots, between which known labels decide,
        else ``class_order``, else size.
        """
        names, order = label_names(pairs, 2, self.class_order), np.arange(2)
        if names is not None:
            self.classes_ = names
        elif isinstance(self.prior, str):
            order, self.classes_ = order_by_size([0.0, 1.0], self.class_order)
        else:  # the prior says which class is which
            self.classes_ = order_by_size([0.0, 1.0], self.class_order or "rising")[1]
        if isinstance(self.prior, str):
            if self.prior != "estimate":
                raise ValueError(f"prior={self.prior!r}: expected 'estimate' or a number in (0, 1)")
            found = estimate_prior(pooled_answers(pairs), noise)
            self.prior_estimate_ = found
            # Estimated rates cannot test the share of "same"; left-out answers can.
            if isinstance(self.noise, NoiseModel) or held_out().strength < CLEAR:
                _refuse_one_half(found)
            if pairs.labels:
                return [root.estimate for root in found.roots if 0 < root.estimate < 1]
            return [found.choose("majority" if order[1] == 1 else "minority").estimate]
        return [float(algebra.class_prior(self.prior)[1])]

    def _best_candidate(self, models: list[Any], X: Any, pairs: Pairs) -> int:
        """Return which candidate agrees best with the labelled items (the only one, if one)."""
        if len(models) == 1:
            return 0
        items = np.fromiter(pairs.labels.keys(), dtype=np.intp)
        positive = np.array([name == self.classes_[1] for name in pairs.labels.values()])
        fits = []
        for model in models:
            proba = self._positive_proba(model, _safe_indexing(X, items))
            fits.append(float(np.where(positive, proba, 1.0 - proba).mean()))
        return int(np.argmax(fits))


def in_short(noise: NoiseModel) -> str:
    """Return what a noise makes of two classes, in few words whatever its family.

    >>> from noisypairs import LabelingNoise
    >>> in_short(LabelingNoise(0.1, 0.2))
    "LabelingNoise (P('same') .82 and .68 within classes 1 and 0, .26 across)"
    """
    S = noise.same_probability()
    within_one, within_zero, across = (
        f"{value:.2f}".removeprefix("0") for value in (S[1, 1], S[0, 0], S[0, 1])
    )
    return (
        f"{type(noise).__name__} (P('same') {within_one} and {within_zero} within classes 1 and 0, "
        f"{across} across)"
    )


def check_signal(noise: NoiseModel, prior: float, pairs: Pairs) -> None:
    """Refuse when the randomness of the answers hides a − b, warn when it nearly does."""
    difference = algebra.signal(noise.same_probability(), prior)
    algebra.require_signal(difference)
    total = drawn_at_random(pooled_answers(pairs)).weights.sum()
    strength = abs(difference) * np.sqrt(2.0 * total)
    if strength >= WEAK:
        return
    facts = (
        f"the prior {prior:.3g} and {in_short(noise)} leave a signal a − b = {difference:.2g}: "
        f"about {1 / difference**2:,.0f} answers carry the information of one label, and there are "
        f"{total:,.0f}"
    )
    advice = "Use a joint method, which also sees the pairs as a graph, or collect more pairs"
    if strength < TOO_WEAK:
        raise NotIdentifiable(f"{facts}, too few for a point-wise method. {advice}")
    warn_user(f"{facts}; expect a large spread. {advice}", NotIdentifiableWarning)


def _refuse_one_half(found: PriorEstimate) -> None:
    if found.touches_one_half:
        raise NotIdentifiable(
            f"the share of 'same' answers, {found.same_share}, does not differ from what a − b = 0 "
            f"gives under {in_short(found.noise)} (for pairing noise a prior of ½): no method that "
            "looks at items one by one can learn from such pairs. Use a joint method, which looks "
            "at the pairs as a graph, or give prior= if the pairs were not drawn at random"
        )
