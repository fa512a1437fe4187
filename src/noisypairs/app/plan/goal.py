"""The whole plan: accuracy with the answers at hand, with more of them, and what to ask next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from sklearn.linear_model import LogisticRegression

from noisypairs.algebra import Array, class_prior, mean_rates
from noisypairs.app.encoding import encoded
from noisypairs.app.files import Dataset
from noisypairs.app.fit.fitting import class_number
from noisypairs.app.fit.request import Request
from noisypairs.app.fit.result import ClassNumber
from noisypairs.app.plan.choice import Worth, old_pairs, worth_of_answers
from noisypairs.app.plan.curve import LearningCurve, Step, fit_with_doubts, learning_curves
from noisypairs.app.plan.forecast import Forecast, forecast
from noisypairs.assess import NextPairs, choose_pairs
from noisypairs.estimation import Interval
from noisypairs.graph.propagation import PairGraph, propagate
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Pairs

#: Answers in the largest part of the curve, at least, and steps of a plan beside the curve's.
FEWEST_ANSWERS = 60
N_SIZES, N_FOLDS = 5, 3
N_STEPS = N_SIZES * N_FOLDS + 2


@dataclass(frozen=True)
class Goal:
    """What the target takes for one of the two accuracies.

    ``state`` is "reached" (already), "doubtful" (it would be, but a warning of the fit stands),
    "more" (``needed`` further answers), "open" (the interval of the ceiling contains the target:
    these answers cannot decide) or "unreachable". ``needed`` is None where no number can be given;
    its ``high`` may be infinite.
    """

    name: str
    now: Interval
    ceiling: Interval
    state: str
    needed: Interval | None
    reachable: float


@dataclass(frozen=True)
class Plan:
    """How good the learner is, what a target takes, and what to ask next.

    ``new_items`` and ``these_items`` are the goals for items never compared and for those at hand,
    ``chance`` the share of the largest class, which naming that class for every item would reach,
    ``rates`` how often same pairs are called different and different ones same, ``forecasts`` the
    laws behind the two goals, ``old`` the pairs asked, ``beliefs`` (n_items, K) about the items,
    ``doubts`` the warnings of the fit under which no target counts as reached (`errors.DOUBTS`).
    """

    target: float
    n_answers: int
    n_items: int
    n_classes: int
    class_number: ClassNumber | None = field(default=None, kw_only=True)
    noise: NoiseModel
    rates: tuple[float, float]
    chance: float
    new_items: Goal
    these_items: Goal
    forecasts: tuple[Forecast, Forecast]
    worth: Worth
    old: NextPairs
    beliefs: Array
    doubts: tuple[str, ...] = ()
    seed: int = 0

    @property
    def curves(self) -> tuple[LearningCurve, LearningCurve]:
        """The measured curves behind the forecasts, of new items and of these items."""
        new, these = self.forecasts
        return new.curve, these.curve

    def next_pairs(self, n: int) -> NextPairs:
        """Return ``n`` new pairs to ask next, some of them drawn at random: `choose_pairs`."""
        S = self.noise.same_probability(self.n_classes)
        asked = self.old.left, self.old.right
        return choose_pairs(self.beliefs, S, n, asked=asked, random_state=self.seed)

    def ask_again(self, n: int) -> NextPairs:
        """Return the ``n`` old pairs most worth asking again."""
        return self.old[:n]


def plan(
    X: Any,
    pairs: Pairs,
    target: float,
    *,
    n_classes: int | Sequence[int] | Literal["auto"] = 2,
    estimator: Any = None,
    level: float = 0.9,
    n_folds: int = N_FOLDS,
    random_state: int = 0,
    step: Step | None = None,
) -> Plan:
    """Plan from noisy pairs alone: no true class is used, known labels are ignored.

    - ``X`` (n_items, d): numeric features; ``pairs`` of which those drawn at random judge the
      learner (`Pairs.chosen`); more of the same mixture are taken to follow.
    - ``target``: accuracy wanted, above 1/K and below 1.
    - ``estimator``: as in `JointPairClassifier`; by default the best of its candidates.
    - ``level``: of all intervals. They hold the error of judging by left-out answers and that of
      the answers learnt from; the noise is taken as estimated from all answers.

    Raises `NotIdentifiable` where the answers say nothing about classes.

    >>> from noisypairs import PairingNoise, datasets, sample_pairs
    >>> X, y = datasets.load("gaussians", n_samples=60, prior=0.4, random_state=0)
    >>> pairs = sample_pairs(y, 400, PairingNoise(0.1, 0.1), random_state=0)
    >>> plan(X, pairs, target=0.8).new_items.state
    'reached'
    """
    if isinstance(n_classes, int):
        require_above_chance(target, n_classes)
    pairs = _enough(pairs).with_labels(None)
    begin: Callable[[str], None] = step or (lambda _: None)
    begin(f"learning from all {pairs.n_pairs:,} answers")
    model, doubts = fit_with_doubts(X, pairs, estimator, n_classes, random_state, "auto")
    K = model.n_classes_
    require_above_chance(target, K)
    curves = learning_curves(
        X,
        pairs,
        model.noise_,
        model.estimator_,
        n_classes=K,
        n_sizes=N_SIZES,
        n_folds=n_folds,
        noise_model=model.noise_model_,
        beliefs=model.item_proba_,
        seed=random_state,
        step=begin,
    )
    begin("weighing the pairs to ask next")
    new, these = (forecast(one, pairs.n_items, level=level, seed=random_state) for one in curves)
    S = model.noise_.same_probability(K)
    graph = PairGraph.from_pairs(pairs.yes_or_no())
    beliefs = propagate(graph, np.log(model.oof_proba_), S, tol=1e-4)
    in_pairs = np.unique(np.concatenate([pairs.left, pairs.right]))
    return Plan(
        target=target,
        n_answers=pairs.n_pairs,
        n_items=pairs.n_items,
        n_classes=K,
        class_number=class_number(model, Request(n_classes=n_classes)),
        noise=model.noise_,
        rates=mean_rates(S, class_prior(model.prior_, K)),
        chance=float(model.item_proba_[in_pairs].mean(axis=0).max()),
        new_items=reach(new, target, pairs.n_pairs, doubtful=bool(doubts)),
        these_items=reach(these, target, pairs.n_pairs, doubtful=bool(doubts)),
        forecasts=(new, these),
        worth=worth_of_answers(graph, beliefs, S, level=level, random_state=random_state),
        old=old_pairs(graph, beliefs, S),
        beliefs=beliefs.item,
        doubts=doubts,
        seed=random_state,
    )


def require_above_chance(target: float, n_classes: int) -> None:
    """Refuse a target that guessing reaches, or nothing does."""
    if not 1.0 / n_classes < target < 1.0:
        raise ValueError(
            f"target {target:g}: expected an accuracy above {1.0 / n_classes:.2g}, which guessing "
            f"among {n_classes} classes reaches, and below 1, such as 0.95"
        )


def _enough(pairs: Pairs) -> Pairs:
    """Return the pairs of two items; refuse if they are too few for a learning curve."""
    proper = pairs.without_self_pairs()
    if proper.n_pairs < FEWEST_ANSWERS:
        raise ValueError(
            f"{proper.n_pairs} answers are too few to plan by: at least {FEWEST_ANSWERS} are "
            "needed for a learning curve. Ask more pairs at random first"
        )
    drawn = proper.drawn_at_random().n_pairs
    if drawn < FEWEST_ANSWERS:
        raise ValueError(
            f"only {drawn} of {proper.n_pairs:,} answers are about pairs drawn at random, and only "
            f"those can judge the learner: at least {FEWEST_ANSWERS} are needed. Ask more pairs at "
            "random first"
        )
    return proper


def plan_dataset(
    data: Dataset,
    target: float,
    *,
    n_classes: int | Sequence[int] | None = None,
    seed: int = 0,
    step: Step | None = None,
) -> Plan:
    """Plan for the items and answers of files: encode the features, then `plan`.

    Of several numbers of classes, any if none is given, the fit of all answers chooses one.
    """
    _enough(data.pairs)
    _, X, nothing, unread = encoded(data.features, seed, data.encode)
    if X is None:  # the answers alone must do
        X = np.zeros((data.pairs.n_items, 1))
    numbers = Request(n_classes=n_classes).settled(data.pairs).n_classes or "auto"
    inner = LogisticRegression() if nothing else None
    found = plan(
        X, data.pairs, target, n_classes=numbers, estimator=inner, random_state=seed, step=step
    )
    if nothing:
        doubt = f"{nothing}: new items cannot be classified, whatever the curve of them says"
        found = replace(found, doubts=(*found.doubts, doubt))
    return replace(found, doubts=(*found.doubts, *unread))


def reach(law: Forecast, target: float, n_answers: int, *, doubtful: bool = False) -> Goal:
    """Return whether and with how many further answers the law reaches the target.

    ``doubtful`` says that a warning of the fit stands: then no target counts as reached.
    """
    now, ceiling, need = law.accuracy(n_answers), law.ceiling_interval, law.need(target)
    needed: Interval | None = None
    if now.estimate >= target:
        state = "doubtful" if doubtful else "reached"
    elif ceiling.high <= target:
        state = "unreachable"
    elif not np.isfinite(need.total.estimate):
        state = "open"
    else:
        state = "more"
        limits = np.array([need.total.estimate, need.total.low, need.total.high]) - n_answers
        estimate, low, high = np.ceil(np.maximum(limits, 0.0)).tolist()
        needed = Interval(max(estimate, 1.0), low, high, law.level)
    return Goal(law.curve.name, now, ceiling, state, needed, need.reachable)
