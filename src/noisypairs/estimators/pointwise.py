"""The paper's two learners, T-Loss and Weighted, and what they share.

T-Loss trains with a loss whose mean over noisy pairs is the loss on true classes. Weighted
classifies "same" against "different", weighed by 1−α and α. Both choose the noise and the prior in
the same way, and refuse where there is no signal.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if

from noisypairs import algebra, model_selection, reduction
from noisypairs.algebra import Array, Formula
from noisypairs.errors import (
    ChosenPairsWarning,
    NotIdentifiable,
    NotIdentifiableWarning,
    did_you_mean,
    warn_user,
)
from noisypairs.estimation import PriorEstimate, estimate_prior, random_answers
from noisypairs.estimation.heldout import gain_of_items, item_folds, items_by_fold
from noisypairs.estimators.base import (
    ClassOrder,
    NoiseName,
    PairClassifier,
    item_order,
    label_names,
    order_by_size,
    row_order,
    undisturbed,
    warn_if_weak,
    warn_of_copies,
)
from noisypairs.estimators.inner.classifiers import default_classifier, default_regressor, weighable
from noisypairs.estimators.inner.features import finite_numbers
from noisypairs.estimators.linear import LOSSES, LinearRiskClassifier, LossName
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Answers, ItemCounts, Pairs
from noisypairs.pairs.counts import some_pairs, weights_of
from noisypairs.pairs.pairs import drawn_at_random, in_memory, pooled_answers, sorted_answers

Shares = Callable[[], model_selection.HeldOutShare]

#: |a − b| √(2n) below which the answers' own randomness hides the difference: refuse.
TOO_WEAK = 2.0
#: … and below which a warning says how much the noise is inflated.
WEAK = 10.0
#: Standard errors by which left-out answers must show their signal to overrule the share of "same".
OVERRULED = 4.0

#: Items on which the estimator is compared with the default one, at most.
ITEMS_COMPARED = 1_000
#: A table of more pairs is counted where it is; a smaller one is loaded.
PAIRS_IN_MEMORY = 2_000_000


class Task(NamedTuple):
    """Pooled answers, a noise and a prior to learn under, and what cross-fits `HeldOutShare`."""

    counts: ItemCounts
    noise: NoiseModel
    prior: float
    shares: Shares


class PointwiseClassifier(PairClassifier):
    """Base of learners that see pairs as weighted items and need a − b ≠ 0.

    Their fit depends on the pairs through counts per item: answers are never sorted, and items only
    so that what draws rows at random (a kernel map, folds, the user's estimator) gets them in the
    same order, whatever order was given.

    Subclasses have the parameters ``estimator``, ``noise``, ``prior``, ``class_order``, ``cv``,
    ``random_state``, ``n_jobs``, and define `_inner_estimator`, `_fit_candidate` and
    `_positive_proba`. A candidate is a tuple of the fitted attributes that `_kept` names.
    """

    _kept: tuple[str, ...] = ("estimator_",)

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
                task = Task(counts, noise, prior, held_out)
                models.append(self._fit_candidate(clone(inner), items, task))
            best = self._best_candidate(models, X, pairs)
            check_signal(noise, priors[best], pairs)
            self.prior_, self.noise_ = priors[best], noise
            self.__dict__.update(zip(self._kept, models[best], strict=True))
            if self.estimator is not None:
                self._compare_with_default(inner, items, counts, held_out)
            return self

    def _compare_with_default(
        self, inner: Any, X: Any, counts: ItemCounts, held_out: Shares
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
        risk, task = [], Task(learnt, self.noise_, self.prior_, held_out)
        for rows, learner in ((X, inner), (numbers, default)):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rule = self._fit_candidate(clone(learner), rows, task)
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
    def _fit_candidate(self, model: Any, X: Any, task: Task) -> tuple[Any, ...]:
        """Fit the inner estimator on pooled items."""

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
                "drawn at random: a point-wise method cannot use chosen pairs, and "
                "they are left out. JointPairClassifier uses all of them",
                ChosenPairsWarning,
            )
            pairs = drawn
        return pairs.without_self_pairs() if isinstance(pairs, Pairs) else pairs

    def _class_proba(self, X: Any) -> Array:
        positive = self._positive_proba(tuple(getattr(self, name) for name in self._kept), X)
        return np.column_stack([1.0 - positive, positive])

    @abstractmethod
    def _positive_proba(self, rule: tuple[Any, ...], X: Any) -> Array:
        """Return P(classes_[1] | x), shape (n,), of one fitted candidate."""

    def _chosen_noise(self, held_out: Shares) -> NoiseModel:
        """Return the given noise, or the one with the best held-out likelihood of the answers."""
        for stale in ("rate_choice_", "prior_estimate_"):  # of an earlier fit
            self.__dict__.pop(stale, None)
        if isinstance(self.noise, NoiseModel):
            return self.noise
        self._check_noise(["auto"], needs="from_rates")  # refused before the cross-fitting
        chosen = "pairing" if self.noise in ("auto", "estimate") else self.noise
        self.rate_choice_ = model_selection.choose_rates(held_out(), chosen)
        return self.rate_choice_.noise

    def _held_out_share(self, share_estimator: Any, X: Any, pairs: Pairs) -> Shares:
        """Return a function that cross-fits P("same" | x) when first asked, and only then.

        Folds, and the answers on which rates are chosen, are drawn from items in their own order.
        """

        @cache
        def held_out() -> model_selection.HeldOutShare:
            order = item_order(X, pairs) if isinstance(pairs, Pairs) else row_order(X)
            ordered = pairs[order] if isinstance(pairs, Pairs) else pairs
            fold = item_folds(ordered, self.cv, self.random_state)
            share = model_selection.out_of_fold_share(
                share_estimator,
                X,
                pairs,
                cv=[(order[a], order[b]) for a, b in items_by_fold(fold, self.cv)],
                n_jobs=self.n_jobs,
            )
            some = in_memory(share.pairs, model_selection.MOST_PAIRS)
            place = np.argsort(order).astype(some.left.dtype)
            ends = place[some.left], place[some.right]
            few = some.select(some_pairs(*ends, model_selection.MOST_PAIRS))
            return replace(share, pairs=sorted_answers(few[order])[0], centred=share.centred[order])

        return held_out

    def _candidate_priors(self, pairs: Pairs, noise: NoiseModel, held_out: Shares) -> list[float]:
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
            if isinstance(self.noise, NoiseModel) or held_out().strength < OVERRULED:
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
    total = weights_of(drawn_at_random(pooled_answers(pairs))).sum()
    strength = abs(difference) * np.sqrt(2.0 * total)
    if strength >= WEAK:
        return
    facts = (
        f"the prior {prior:.3g} and {in_short(noise)} leave a signal a − b = {difference:.2g}: "
        f"about {1 / difference**2:,.0f} answers carry the information of one label, and there are "
        f"{total:,.0f}"
    )
    advice = "Use JointPairClassifier, which looks at all pairs together, or collect more pairs"
    if strength < TOO_WEAK:
        raise NotIdentifiable(f"{facts}, too few for a point-wise method. {advice}")
    warn_user(f"{facts}; expect a large spread. {advice}", NotIdentifiableWarning)


def _refuse_one_half(found: PriorEstimate) -> None:
    if found.touches_one_half:
        raise NotIdentifiable(
            f"the share of 'same' answers, {found.same_share}, does not differ from what a − b = 0 "
            f"gives under {in_short(found.noise)} (for pairing noise a prior of ½): a point-wise "
            "method cannot learn from such pairs. Use JointPairClassifier, which looks at all "
            "pairs together, or give prior= if the pairs were not drawn at random"
        )


class LossCorrectionClassifier(PointwiseClassifier):
    """Minimise the unbiased corrected risk of the noisy pairs, pooled to one row per item.

    l̃(t, Q) = C[Q, +] l(t, +1) + C[Q, −] l(t, −1) with C = T⁻ᵀ has E[l̃(t, Q) | y] = l(t, y), so the
    risk of the pairs is Σ_i u_i l(f(x_i), +1) + v_i l(f(x_i), −1). For the squared loss that is
    weighted regression on u_i/(u_i+v_i), exactly, and any regressor serves.

    Parameters
    ----------
    estimator : what learns. ``loss="squared"``: any regressor (without ``sample_weight`` support
        every item counts once: the targets stay unbiased, only efficiency is lost). Other losses:
        None for a linear model, or an estimator with ``fit_risk(X, u, v)`` such as
        `noisypairs.torch.TorchClassifier`, whose own loss is then used.
    noise : a noise model, or a family, ``"pairing"`` (also ``"auto"``) or ``"labeling"``, whose
        rates are then chosen on held-out answers.
    prior : P(class 1), or ``"estimate"`` from the share of "same" (pairs drawn at random).
    loss : ``"squared"``, ``"logistic"``, ``"brier"`` (the squared loss of a logistic model's
        probabilities, as in the paper), ``"squared_hinge"`` or ``"sigmoid"``.
    formula : ``"unbiased"``, or ``"printed"`` for the paper's T⁻¹ and printed posterior.
    non_negative : keep each class's part of the risk from going below zero, which is over-fitting
        (squared loss with a regressor: targets are cut to [0, 1], the same for each item).
    class_order : how the two classes are numbered when the prior is estimated and no item is
        labelled: ``"rising"`` or ``"falling"`` by size, or their names, the smaller one first.
    cv, random_state, n_jobs : folds by item when noise is estimated.

    Attributes
    ----------
    classes_, noise_, prior_ : class names, and the noise and P(classes_[1]) that were used.
    estimator_ : the inner estimator, fitted on one row per item.

    References
    ----------
    Dan, S., Bao, H. and Sugiyama, M. (2021). Learning from Noisy Similar and Dissimilar Data. ECML
    PKDD 2021, doi:10.1007/978-3-030-86520-7_15.

    Examples
    --------
    >>> from noisypairs import LossCorrectionClassifier, PairingNoise, datasets, sample_pairs
    >>> X, y = datasets.load("gaussians", n_samples=2000, random_state=0)
    >>> noise = PairingNoise(0.2, 0.1)
    >>> pairs = sample_pairs(y, 20_000, noise, random_state=0)
    >>> clf = LossCorrectionClassifier(noise=noise, class_order="falling").fit(X, pairs)
    >>> bool(clf.score(X, y) > 0.99)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        noise: NoiseModel | NoiseName | str = "pairing",
        prior: float | Literal["estimate"] = "estimate",
        loss: LossName = "squared",
        formula: Formula = "unbiased",
        non_negative: bool = False,
        class_order: ClassOrder = None,
        cv: int = 5,
        random_state: int | None = None,
        n_jobs: int | None = None,
        **former: Any,
    ) -> None:
        self.estimator = estimator
        self.noise = noise
        self.prior = prior
        self.loss = loss
        self.formula = formula
        self.non_negative = non_negative
        self.class_order = class_order
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self._take_former(former)

    def _inner_estimator(self, X: Any) -> Any:
        if self.loss == "squared":
            if self.estimator is None:
                return default_regressor(X, self.random_state)
            if is_classifier(self.estimator):
                raise TypeError(
                    f"loss='squared' hands real-valued targets to a regressor, and "
                    f"{type(self.estimator).__name__} is a classifier. Give a regressor, or use "
                    "WeightedPairClassifier, which takes any classifier"
                )
            return self.estimator
        if self.loss not in LOSSES:
            raise ValueError(f"loss={self.loss!r}: {did_you_mean(str(self.loss), LOSSES)}")
        if self.estimator is None:
            return LinearRiskClassifier(loss=self.loss)
        if not hasattr(self.estimator, "fit_risk"):
            raise TypeError(
                f"loss={self.loss!r} gives items weights of both signs, which "
                f"{type(self.estimator).__name__} cannot take. Use loss='squared' with any "
                "regressor, estimator=None for a linear model, or noisypairs.torch.TorchClassifier"
            )
        return self.estimator

    def _fit_candidate(self, model: Any, X: Any, task: Task) -> tuple[Any]:
        C = task.noise.corrected_coefficients(task.prior, self.formula)
        u, v = reduction.risk_weights(task.counts, C)
        if self.loss != "squared":
            rows = np.flatnonzero((u != 0) | (v != 0))
            seen, whole = _safe_indexing(X, rows), self.non_negative
            return (model.fit_risk(seen, u[rows], v[rows], non_negative=whole),)
        rows, target, weight = reduction.squared_loss_rows(u, v)
        target = np.clip(target, 0.0, 1.0) if self.non_negative else target
        if reduction.accepts_weights(model):
            return (reduction.fit_weighted(model, _safe_indexing(X, rows), target, weight),)
        return (model.fit(_safe_indexing(X, rows), target),)

    def _positive_proba(self, rule: tuple[Any, ...], X: Any) -> Array:
        (model,) = rule
        if self.loss == "squared":
            return np.asarray(model.predict(X), dtype=float).clip(0.0, 1.0)
        return np.asarray(model.predict_proba(X)[:, 1], dtype=float)


def _has_proba(self: WeightedPairClassifier) -> bool:
    inner = getattr(self, "estimator_", self.estimator)
    return inner is None or hasattr(inner, "predict_proba")


class WeightedPairClassifier(PointwiseClassifier):
    """Classify occurrences as "same" or "different" with weights 1−α and α (Theorem 3).

    R_α,noisy(f) = A·R(f) + const, so the weighted rule is the clean Bayes rule, turned over where
    A < 0. Training has one row per item and answer, whatever the number of pairs.

    Parameters
    ----------
    estimator : any classifier; one without ``sample_weight`` learns from rows drawn by weight.
    noise, prior : as for `LossCorrectionClassifier`; they give α, A and the probabilities.
    alpha : ``"noise"``, (a+b)/2 of noise and prior; ``"cv"``, chosen on held-out answers, right
        for pairing noise at any two rates; or a number. ``alpha=0.5`` is the unweighted baseline.
    class_order, cv, random_state, n_jobs : as for `LossCorrectionClassifier`.

    Attributes
    ----------
    classes_, noise_, prior_ : class names, and the noise and P(classes_[1]) that were used.
    alpha_, gain_ : the weight α, and A, which turns the rule over where it is negative.
    estimator_ : the inner classifier, fitted on one row per item and answer.

    References
    ----------
    Dan, S., Bao, H. and Sugiyama, M. (2021). Learning from Noisy Similar and Dissimilar Data. ECML
    PKDD 2021, doi:10.1007/978-3-030-86520-7_15.

    Examples
    --------
    >>> from noisypairs import PairingNoise, WeightedPairClassifier, datasets, sample_pairs
    >>> X, y = datasets.load("gaussians", n_samples=2000, random_state=0)
    >>> noise = PairingNoise(0.2, 0.1)
    >>> pairs = sample_pairs(y, 20_000, noise, random_state=0)
    >>> clf = WeightedPairClassifier(noise=noise, class_order="falling").fit(X, pairs)
    >>> bool(clf.score(X, y) > 0.99)
    True
    """

    _kept = ("estimator_", "alpha_", "gain_")

    def __init__(
        self,
        estimator: Any = None,
        noise: NoiseModel | NoiseName | str = "pairing",
        prior: float | Literal["estimate"] = "estimate",
        alpha: float | Literal["noise", "cv"] = "noise",
        class_order: ClassOrder = None,
        cv: int = 5,
        random_state: int | None = None,
        n_jobs: int | None = None,
        **former: Any,
    ) -> None:
        self.estimator = estimator
        self.noise = noise
        self.prior = prior
        self.alpha = alpha
        self.class_order = class_order
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self._take_former(former)

    def _fit_candidate(self, model: Any, X: Any, task: Task) -> tuple[Any, float, float]:
        alpha, S = self._chosen_alpha(task), task.noise.same_probability()
        rows, label, weight = reduction.weighted_rows(task.counts, alpha)
        if len(np.unique(label)) < 2:
            raise ValueError("all answers are equal: there is nothing to tell apart")
        reduction.fit_weighted(model, _safe_indexing(X, rows), label, weight)
        return model, alpha, algebra.gain(S, task.prior)

    @available_if(_has_proba)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return P(class | x), shape (n_items, 2), columns in the order of ``classes_``."""
        return super().predict_proba(X)

    def decision_function(self, X: Any) -> Array:
        """Return the weighted classifier's margin, turned over where A < 0, shape (n,)."""
        X, model = self._check_items(X), self.estimator_
        if hasattr(model, "predict_proba"):
            margin = np.asarray(model.predict_proba(X)[:, 1], dtype=float) - 0.5
        else:
            margin = np.asarray(model.decision_function(X), dtype=float)
        return np.asarray(np.sign(self.gain_) * margin)

    def _inner_estimator(self, X: Any) -> Any:
        if self.estimator is None:
            return default_classifier(X, self.random_state)
        name = type(self.estimator).__name__
        if is_regressor(self.estimator):
            raise TypeError(
                f"WeightedPairClassifier needs a classifier, and {name} is a regressor. Use "
                "LossCorrectionClassifier, which takes any regressor"
            )
        if not reduction.accepts_weights(self.estimator):
            return weighable(self.estimator, self.random_state)
        tuned = isinstance(self.noise, str) or self.alpha == "cv"
        if tuned and not hasattr(self.estimator, "predict_proba"):
            return weighable(self.estimator, self.random_state)
        return self.estimator

    def _chosen_alpha(self, task: Task) -> float:
        if self.alpha == "noise":
            return algebra.alpha(task.noise.same_probability(), task.prior)
        if self.alpha == "cv":
            return model_selection.choose_alpha(task.shares())
        if isinstance(self.alpha, str) or not 0 < self.alpha < 1:
            raise ValueError(f"alpha={self.alpha!r}: expected 'noise', 'cv' or a number in (0, 1)")
        return float(self.alpha)

    def _positive_proba(self, rule: tuple[Any, ...], X: Any) -> Array:
        """Return P(class 1 | x), shape (n,), from the weighted probability g of "same".

        Undo the weights, m = αg / (αg + (1−α)(1−g)), then m = α + A(2η − 1) for η. Without
        probabilities 0 or 1, which is enough for labels to choose between two rules.
        """
        model, alpha, gain = rule
        if not hasattr(model, "predict_proba"):
            return np.asarray(np.sign(gain) * model.decision_function(X) > 0, dtype=float)
        g = np.asarray(model.predict_proba(X)[:, 1], dtype=float)
        m = alpha * g / (alpha * g + (1.0 - alpha) * (1.0 - g))
        return np.asarray(np.clip(0.5 + (m - alpha) / (2.0 * gain), 0.0, 1.0))
