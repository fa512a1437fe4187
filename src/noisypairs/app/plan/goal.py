"""The whole plan: accuracy with the answers at hand, with more of them, and what to ask next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from noisypairs.algebra import Array, class_prior, mean_rates
from noisypairs.app.files import Dataset
from noisypairs.app.fit.fitting import class_number, learn, verdict_on
from noisypairs.app.fit.request import Request
from noisypairs.app.fit.result import ClassNumber
from noisypairs.app.plan.choice import Worth, old_pairs, worth_of_answers
from noisypairs.app.plan.curve import LearningCurve, Step, learning_curves
from noisypairs.app.plan.forecast import Forecast, forecast
from noisypairs.assess import NextPairs, choose_pairs
from noisypairs.assess.intervals import LEVEL
from noisypairs.assess.verdict import Verdict, of_warnings
from noisypairs.classifier import JointPairClassifier
from noisypairs.errors import collected_warnings
from noisypairs.estimation import Interval
from noisypairs.graph.propagation import PairGraph, propagate
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Pairs

#: Fewer answers than this make no curve.
FEWEST_ANSWERS = 60
#: Sizes of the curve, orders in which answers are taken as having come, and steps of a plan.
N_SIZES, N_ORDERS = 5, 3
N_STEPS = (N_SIZES - 1) * N_ORDERS + 2


@dataclass(frozen=True)
class Goal:
    """What the target takes for one of the two accuracies.

    ``state`` is "reached" (already), "doubtful" (it would be, but a check failed), "more"
    (``needed`` further answers), "open" (these answers cannot tell how many) or "unreachable".
    ``needed`` is None where no number can be given.
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
    ``doubts`` what the verdict doubts, so that no target counts as reached.
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
    n_orders: int = N_ORDERS,
    random_state: int = 0,
    step: Step | None = None,
) -> Plan:
    """Plan from noisy pairs; more of the same mixture are taken to follow.

    - ``X`` (n_items, d): numeric features; ``pairs``: the answers, with labels where known.
    - ``target``: accuracy wanted, above 1/K and below 1.
    - ``estimator``: as in `JointPairClassifier`; by default the best of its candidates.

    How good the learner is now is what `JointPairClassifier.verdict` says. Raises `NotIdentifiable`
    where the answers say nothing about classes.

    >>> from noisypairs import PairingNoise, datasets, sample_pairs
    >>> X, y = datasets.load("gaussians", n_samples=60, prior=0.4, random_state=0)
    >>> pairs = sample_pairs(y, 400, PairingNoise(0.1, 0.1), random_state=0)
    >>> plan(X, pairs, target=0.8).new_items.state
    'reached'
    """
    if isinstance(n_classes, int):
        require_above_chance(target, n_classes)
    begin: Callable[[str], None] = step or (lambda _: None)
    begin(f"learning from all {pairs.n_pairs:,} answers")
    model = JointPairClassifier(estimator, n_classes, random_state=random_state)
    with collected_warnings() as warned:
        model.fit(X, _enough(pairs))
    verdict = model.verdict().with_checks(of_warnings(warned.caught))
    return plan_of_fit(X, pairs, target, model, verdict, n_orders, random_state, begin)


def plan_of_fit(
    X: Any,
    pairs: Pairs,
    target: float,
    model: JointPairClassifier,
    verdict: Verdict,
    n_orders: int = N_ORDERS,
    seed: int = 0,
    begin: Step = lambda _: None,
) -> Plan:
    """Plan by a model that was fitted to all answers, and the verdict on it."""
    pairs, K = pairs.without_self_pairs(), model.n_classes_
    require_above_chance(target, K)
    stated = verdict.intervals
    curves = learning_curves(X, pairs, model, stated, n_orders=n_orders, seed=seed, step=begin)
    begin("weighing the pairs to ask next")
    new, these = (forecast(one, pairs.n_items, level=LEVEL, seed=seed) for one in curves)
    doubts = verdict.doubts
    now = verdict.accuracy or stated["accuracy"]
    S = model.noise_.same_probability(K)
    graph = PairGraph.from_pairs(pairs.yes_or_no())
    beliefs = propagate(graph, np.log(model.oof_proba_), S, tol=1e-4)
    return Plan(
        target=target,
        n_answers=pairs.n_pairs,
        n_items=pairs.n_items,
        n_classes=K,
        class_number=class_number(model, Request(n_classes=model.n_classes)),
        noise=model.noise_,
        rates=mean_rates(S, class_prior(model.prior_, K)),
        chance=verdict.baseline,
        new_items=reach(new, now, target, doubtful=bool(doubts)),
        these_items=reach(these, stated["items"], target, doubtful=bool(doubts)),
        forecasts=(new, these),
        worth=worth_of_answers(graph, beliefs, S, level=LEVEL, random_state=seed),
        old=old_pairs(graph, beliefs, S),
        beliefs=beliefs.item,
        doubts=doubts,
        seed=seed,
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
    begin: Callable[[str], None] = step or (lambda _: None)
    begin(f"learning from all {data.pairs.n_pairs:,} answers")
    learnt = learn(data, Request(n_classes=n_classes, seed=seed))
    verdict = verdict_on(learnt, None)
    X = learnt.X
    if X is None:  # the answers alone must do
        X = np.zeros((data.pairs.n_items, 1))
    found = plan_of_fit(X, data.pairs, target, learnt.model, verdict, seed=seed, begin=begin)
    if learnt.nothing:
        doubt = f"{learnt.nothing}: new items cannot be classified, whatever the curve of them says"
        found = replace(found, doubts=(*found.doubts, doubt))
    return replace(found, doubts=(*found.doubts, *learnt.unread))


def reach(law: Forecast, now: Interval, target: float, *, doubtful: bool = False) -> Goal:
    """Return whether and with how many further answers the law reaches the target.

    ``now`` is the accuracy with the answers at hand, as the verdict states it. ``doubtful`` says
    that a check failed: then no target counts as reached. A number of answers without an upper
    limit is none.
    """
    ceiling, need = law.ceiling_interval, law.need(target)
    needed: Interval | None = None
    if now.estimate >= target:
        state = "doubtful" if doubtful else "reached"
    elif ceiling.high <= target:
        state = "unreachable"
    elif not np.isfinite(need.total.high):
        state = "open"
    else:
        state = "more"
        limits = np.array([need.total.estimate, need.total.low, need.total.high])
        limits = limits - law.curve.sizes[-1]
        estimate, low, high = np.ceil(np.maximum(limits, 0.0)).tolist()
        needed = Interval(max(estimate, 1.0), low, max(high, 1.0), law.level)
    return Goal(law.curve.name, now, ceiling, state, needed, need.reachable)
