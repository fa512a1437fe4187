"""How many more pairs a target takes, and which to ask: planning from noisy answers alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array, class_prior, mean_rates
from noisypairs.app.files import Dataset, delimited_text
from noisypairs.app.fit.fitting import class_number, learn
from noisypairs.app.fit.request import Request
from noisypairs.app.fit.result import ClassNumber
from noisypairs.app.learning_curve import NEW, THESE, Forecast, Step, forecast, learning_curves
from noisypairs.app.sentences import said
from noisypairs.assess import NextPairs, choose_pairs
from noisypairs.assess.intervals import LEVEL
from noisypairs.assess.verdict import Verdict, of_warnings
from noisypairs.classifier import JointPairClassifier
from noisypairs.errors import collected_warnings
from noisypairs.estimation import Interval
from noisypairs.graph.information import independent_laws, pair_information
from noisypairs.graph.propagation import Beliefs, PairGraph, edge_posterior, propagate
from noisypairs.noise import NoiseModel, RandomState
from noisypairs.pairs import Pairs
from noisypairs.sampling import random_pairs

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

    ``new_items`` and ``these_items`` are the goals for items never compared and for those at hand;
    the answers alone say nothing of new items, and then there is no such goal. ``chance`` is the
    share of the largest class, which naming that class for every item would reach, ``rates`` how
    often same pairs are called different and different ones same, ``forecasts`` the laws behind the
    goals, ``old`` the pairs asked, ``beliefs`` (n_items, K) about the items,
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
    new_items: Goal | None
    these_items: Goal
    forecasts: tuple[Forecast, ...]
    worth: Worth
    old: NextPairs
    beliefs: Array
    doubts: tuple[str, ...] = ()
    seed: int = 0

    @property
    def goals(self) -> list[tuple[Goal, Forecast]]:
        """The goals with the laws behind them, that of new items first."""
        goals = [goal for goal in (self.new_items, self.these_items) if goal is not None]
        return list(zip(goals, self.forecasts, strict=True))

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
    laws = tuple(forecast(one, pairs.n_items, level=LEVEL, seed=seed) for one in curves)
    doubts = verdict.doubts
    now = {NEW: verdict.accuracy or stated["accuracy"], THESE: stated["items"]}
    goals = {
        law.curve.name: reach(law, now[law.curve.name], target, doubtful=bool(doubts))
        for law in laws
    }
    S = model.noise_.same_probability(K)
    graph = PairGraph.from_pairs(pairs.yes_or_no())
    beliefs = propagate(graph, np.log(model.oof_proba_), S, tol=1e-4)
    return Plan(
        target=target,
        n_answers=pairs.n_pairs,
        n_items=pairs.n_items,
        n_classes=K,
        class_number=class_number(model, model.n_classes),
        noise=model.noise_,
        rates=mean_rates(S, class_prior(model.prior_, K)),
        chance=verdict.baseline,
        new_items=goals.get(NEW),
        these_items=goals[THESE],
        forecasts=laws,
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
    X, model, verdict = learnt.X, learnt.model, learnt.verdict
    found = plan_of_fit(X, data.pairs, target, model, verdict, seed=seed, begin=begin)
    nothing = [f"{learnt.nothing}: new items cannot be classified"] if learnt.nothing else []
    unread = [note for note in learnt.data.notes if note not in data.notes]
    return replace(found, doubts=(*found.doubts, *nothing, *unread))


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


@dataclass(frozen=True)
class Worth:
    """Mean information of one more answer, in bits: on a new random pair, on an old one again."""

    fresh: Interval
    repeated: Interval
    best_repeated: float
    """Mean over the tenth of the old pairs most worth asking again."""


def old_pairs(graph: PairGraph, beliefs: Beliefs, same: Array) -> NextPairs:
    """Return the pairs asked already, those most worth asking again first.

    By the information I(answer; y, y') of one more answer, under the posterior of the pair's edge:
    as if it erred independently of those given before.

    >>> from noisypairs.graph.propagation import propagate
    >>> graph = PairGraph.from_answers([0, 0, 0], [1, 1, 2], [True, True, False])
    >>> S = np.array([[0.9, 0.2], [0.2, 0.9]])
    >>> found = old_pairs(graph, propagate(graph, np.zeros((3, 2)), S, clamp={0: 1}), S)
    >>> found.left.tolist(), found.right.tolist()  # asked once: more is left to be said
    ([0, 0], [2, 1])
    """
    bits = pair_information(edge_posterior(graph, beliefs, same), same)
    order = np.argsort(-bits, kind="stable")
    left, right = graph.left.astype(np.intp), graph.right.astype(np.intp)
    return NextPairs(left[order], right[order], np.ones(len(bits), dtype=bool), bits[order])


def worth_of_answers(
    graph: PairGraph,
    beliefs: Beliefs,
    same: Array,
    *,
    level: float = 0.9,
    random_state: RandomState = None,
) -> Worth:
    """Compare one more answer on a random new pair with one on a random old pair.

    Information about the classes of the pair, `pair_information`. The intervals are those of a mean
    over resampled items (200 times); beliefs and noise are taken as they are.
    """
    rng = np.random.default_rng(random_state)
    left, right = random_pairs(graph.n_items, 10_000, rng)
    fresh = pair_information(independent_laws(beliefs.item[left], beliefs.item[right]), same)
    old = pair_information(edge_posterior(graph, beliefs, same), same)
    top = np.sort(old)[-max(1, len(old) // 10) :]
    return Worth(
        _item_bootstrap(fresh, left, right, graph.n_items, level, rng),
        _item_bootstrap(old, graph.left, graph.right, graph.n_items, level, rng),
        float(top.mean()),
    )


def _item_bootstrap(
    values: Array,
    left: NDArray[np.integer],
    right: NDArray[np.integer],
    n_items: int,
    level: float,
    rng: np.random.Generator,
) -> Interval:
    count = rng.multinomial(n_items, np.full(n_items, 1.0 / n_items), size=200)
    weight = count[:, left] * count[:, right]
    total = np.maximum(weight.sum(axis=1), 1)
    low, high = np.quantile(weight @ values / total, [0.5 - level / 2, 0.5 + level / 2]).tolist()
    mean = float(values.mean())
    return Interval(mean, min(low, mean), max(high, mean), level)


#: Gain in accuracy that is not worth twice the answers.
MIN_GAIN = 0.01
#: Old pairs shown as worth asking again.
N_AGAIN = 5


def statement(goal: Goal, target: float, cost: float | None = None) -> str:
    """Say what the target takes, at this price of an answer, or why no number can be given.

    >>> sure = Interval(0.8, 0.78, 0.82, 0.9)
    >>> statement(Goal("new items", sure, sure, "unreachable", None, 0.0), 0.95)
    'now about 0.800 [0.780, 0.820]; 0.95 cannot be reached with these features: ceiling 0.800
    [0.780, 0.820].'
    """
    return said("goal.txt", "statement", goal, target, price_of(goal, cost))


def outlook(law: Forecast) -> str:
    """Say whether more answers would help, by what twice as many would add.

    The curve is flat where that is clearly below a point, and rises where it is clearly above zero.
    """
    gain = law.doubling
    low, high = (f"{100 * end:.1f}" for end in (gain.low, gain.high))
    if gain.high < MIN_GAIN:
        return "More answers would help little: twice as many add less than 1 point."
    if gain.low > 0.0:
        return f"More answers would help: twice as many add {low} to {high} points."
    return f"More answers may or may not help: twice as many add 0 to {high} points."


def price_of(goal: Goal, cost: float | None) -> Interval | None:
    """Return what the answers needed cost in all, at ``cost`` each; None where one is unknown."""
    if goal.needed is None or cost is None:
        return None
    need = goal.needed
    return Interval(need.estimate * cost, need.low * cost, need.high * cost, need.level)


def pair_rows(chosen: NextPairs, ids: list[str]) -> list[dict[str, Any]]:
    """Return one flat dict per pair to ask, items by their ``ids``."""
    columns = (chosen.left, chosen.right, chosen.chosen, chosen.information)
    return [
        {
            "left": ids[left],
            "right": ids[right],
            "chosen": "yes" if not_random else "no",
            "expected_bits": round(bits, 4),
        }
        for left, right, not_random, bits in zip(*(c.tolist() for c in columns), strict=True)
    ]


def pairs_csv(chosen: NextPairs, ids: list[str], raw: bool = False) -> str:
    """Return the pairs to ask as the text of a CSV file; ``raw`` as in `delimited_text`."""
    rows = (list(row.values()) for row in pair_rows(chosen, ids))
    return delimited_text(["left", "right", "chosen", "expected_bits"], rows, raw=raw)


def as_dict(
    found: Plan, cost: float | None, ids: list[str], chosen: NextPairs | None
) -> dict[str, Any]:
    """Return the plan as plain data, ready for JSON; what is infinite is None."""
    goals: dict[str, Any] = {"new_items": None}
    curves = {}
    for goal, law in found.goals:
        key, curve = goal.name.replace(" ", "_"), law.curve
        goals[key] = {
            "now": _ends(goal.now),
            "ceiling": _ends(goal.ceiling),
            "state": goal.state,
            "answers_needed": _ends(goal.needed),
            "cost": _ends(price_of(goal, cost)),
            "reachable_probability": goal.reachable,
            "twice_the_answers_add": _ends(law.doubling),
            "says": f"{statement(goal, found.target, cost)} {outlook(law)}",
        }
        curves[key] = {
            "answers": curve.sizes.tolist(),
            "accuracy": curve.accuracy.tolist(),
            "standard_error": curve.error.tolist(),
            "fitted": law.band(curve.sizes.astype(float))[0].tolist(),
        }
    return {
        "target": found.target,
        "answers": found.n_answers,
        "items": found.n_items,
        "classes": found.n_classes,
        "class_number": None if found.class_number is None else asdict(found.class_number),
        "noise": {
            "similar_flip": found.rates[0],
            "dissimilar_flip": found.rates[1],
            "same_probability": found.noise.same_probability(found.n_classes).tolist(),
        },
        "largest_class_share": found.chance,
        **goals,
        "curves": curves,
        "bits_per_fresh_answer": _ends(found.worth.fresh),
        "bits_per_repeated_answer": _ends(found.worth.repeated),
        "bits_per_best_repeated_answer": found.worth.best_repeated,
        "ask_again": pair_rows(found.ask_again(N_AGAIN), ids),
        "warnings": list(found.doubts),
        "next": None if chosen is None else pair_rows(chosen, ids),
    }


def _ends(interval: Interval | None) -> dict[str, float | None] | None:
    """Return the three numbers; an infinite one is None, as JSON has no infinity."""
    if interval is None:
        return None
    ends = {"estimate": interval.estimate, "low": interval.low, "high": interval.high}
    return {name: end if isfinite(end) else None for name, end in ends.items()}
