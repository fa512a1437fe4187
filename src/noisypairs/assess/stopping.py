"""When to stop asking: how many of the items have their right class by now.

The joint learner claims an accuracy, the mean of its highest beliefs, and `joint_intervals` says
how far the claim may be off. A target counts as reached when the lower limit has reached it.

Two classes taken for one are not seen in this way, since classes are drawn from the beliefs. So
where the number of classes was not given, the best cut of a class in two is tried: while
it explains the answers any better, the number is open and nothing is reached. Where the number is
right, one class more explains them a little worse, since features do not predict it.

All that judges the learner by its own model. Where people err in another way, more on some items
than on others, the claim may be too high: what a `Verdict` doubts is to be heeded beside it.

How many more answers a target takes is seen by asking on, with answers from the model: classes are
drawn from the beliefs, the next pairs are chosen as they will be, answers to them drawn from the
noise, and belief propagation says what would then be believed; and so on, until so few items are
expected to be wrong as the target allows. P(class | x) stays what it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from noisypairs.algebra import Array
from noisypairs.assess.intervals import LEVEL, draw_classes, infer_again, joint_intervals
from noisypairs.assess.labels import FEWEST_LABELS
from noisypairs.assess.next_pairs import FEW_ITEMS, choose_pairs
from noisypairs.assess.people import TWO_VOICES, n_voices
from noisypairs.estimation import Interval
from noisypairs.graph.propagation import PairGraph, propagate
from noisypairs.joint.choices import SWEEPS
from noisypairs.joint.em import Fit
from noisypairs.joint.problem import Problem
from noisypairs.joint.search import Search
from noisypairs.joint.starts import Starts
from noisypairs.noise import NoiseModel, PairingNoise
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import weights_of

#: Answers of a batch, per item and at most; batches that are gone through. What is left then is
#: taken to go on as in the second half of these.
BATCH_PER_ITEM, LARGEST_BATCH, N_BATCHES = 0.25, 2_500, 16
#: The mean over so many runs, or over one of more than `FEW_ITEMS`.
N_RUNS = 3


@dataclass(frozen=True)
class Enough:
    """Whether a target is reached.

    ``accuracy`` is the share of the items whose most likely class is right, ``answers_left`` how
    many chosen answers are expected to be needed still, None where no number can be given, and
    ``one_more`` by how many nats one class more explains the answers better, None where the number
    of classes was given. ``one_voice`` says that all answers come from one annotator, or several
    who err alike, and that fewer than ten labelled items would show errors that repeat.
    """

    target: float
    accuracy: Interval
    answers_left: int | None
    one_more: float | None = None
    one_voice: bool = False

    @property
    def enough(self) -> bool:
        """Whether the lower limit has reached the target, and nothing else is open."""
        return self.accuracy.low >= self.target and not (self.open_number or self.one_voice)

    @property
    def open_number(self) -> bool:
        """Whether there may be more classes than were found."""
        return self.one_more is not None and self.one_more > 0


def enough(
    model: Any,
    X: Any,
    pairs: Pairs,
    target: float,
    *,
    level: float = LEVEL,
) -> Enough:
    """Judge a fitted `JointPairClassifier` by ``X`` and ``pairs`` of its fit, without true classes.

    The items are those in X: what new ones will be classified like is another question
    (`intervals`, or ``noisypairs plan``).

    >>> from noisypairs import JointPairClassifier, PairingNoise, datasets, sample_pairs
    >>> X, y = datasets.load("gaussians", n_samples=200, random_state=0)
    >>> pairs = sample_pairs(y, 600, PairingNoise(0.1, 0.1), random_state=0)
    >>> clf = JointPairClassifier(class_order="rising", random_state=0).fit(X, pairs)
    >>> found = enough(clf, X, pairs, 0.95)
    >>> found.enough, found.answers_left, bool(found.accuracy.low > 0.95)
    (True, 0, True)
    """
    check_is_fitted(model)
    if not 1 / len(model.classes_) < target < 1:
        raise ValueError(
            f"target={target}: expected an accuracy above {1 / len(model.classes_):.2g}, which "
            "guessing reaches, and below 1, such as 0.95"
        )
    X, pairs, given = model._check_together(X, pairs)
    problem, fit = model.refit(X, pairs, given)
    accuracy = joint_intervals(problem, fit, level, class_of=model.kind_class_)["items"]
    found = infer_again(problem, fit)
    one_more = (
        None if isinstance(model.n_classes, int) else _one_more(model._search(problem), found)
    )
    left: int | None = 0
    if accuracy.low < target:
        centre = accuracy.estimate
        share = _share_left(1 - centre, centre - accuracy.low, 1 - target)
        left = answers_left(problem, found, model.noise_, share)
    elif one_more is not None and one_more > 0:
        left = None
    voices = n_voices(pairs, fit)
    alone = voices is not None and voices < TWO_VOICES and len(pairs.labels) < FEWEST_LABELS
    return Enough(target, accuracy, left, one_more, alone)


def _one_more(search: Search, found: Fit) -> float | None:
    """Return by how many nats a class more explains the answers better."""
    if not isinstance(search.given, PairingNoise | None):
        return None  # the given matrix has one row per class
    problem, spec = search.problem, replace(found.spec, n_classes=found.n_classes + 1)
    more = search.best_start(problem, spec, Starts(problem, spec.n_classes, problem.seed))
    return more.log_likelihood - found.log_likelihood


def _share_left(wrong: float, margin: float, allowed: float) -> float:
    """Return to what share r² the errors must fall for the lower limit to reach the target.

    The margin between estimate and limit is a spread of a number of errors and falls as its root,

        wrong r² + margin r = allowed.

    >>> round(_share_left(0.1, 0.0, 0.05), 3), round(_share_left(0.1, 0.05, 0.05), 3)
    (0.5, 0.25)
    """
    root = 2.0 * allowed / (margin + np.sqrt(margin**2 + 4.0 * wrong * allowed))
    return float(root**2)


def answers_left(problem: Problem, found: Fit, noise: NoiseModel, share_left: float) -> int | None:
    """Return after how many answers only a share of today's errors is left, None if never.

    ``found`` is what is believed of the items; errors are counted as it expects them, Σ 1 − max b,
    and ``share_left`` is in (0, 1).
    """
    n_runs = N_RUNS if problem.pairs.n_items <= FEW_ITEMS else 1
    rng = np.random.default_rng(problem.seed)
    runs = [_one_run(problem, found, noise, share_left, rng) for _ in range(n_runs)]
    return None if np.inf in runs else int(np.ceil(np.mean(runs)))


def _one_run(
    problem: Problem,
    found: Fit,
    noise: NoiseModel,
    share_left: float,
    rng: np.random.Generator,
) -> float:
    """Return the number of answers in one run through the asking, infinite if never enough."""
    belief, log_phi = found.item_proba, np.log(found.phi)
    S = noise.same_probability(belief.shape[1])
    truth, old = draw_classes(belief, rng), problem.pairs
    pairs = Pairs(old.left, old.right, old.same, old.n_items, weight=weights_of(old))
    size = int(np.clip(BATCH_PER_ITEM * len(belief), 10, LARGEST_BATCH))
    asked, wrong = [0], [_wrong(belief)]
    for _ in range(N_BATCHES):
        ask = choose_pairs(belief, S, size, asked=(pairs.left, pairs.right), random_state=rng)
        if not len(ask):
            return np.inf  # every pair was asked
        same = rng.random(len(ask)) < S[truth[ask.left], truth[ask.right]]
        pairs = pairs.with_answers(ask.left, ask.right, same, weight=np.ones(len(ask)))
        graph = PairGraph.from_pairs(pairs.yes_or_no())
        belief = propagate(graph, log_phi, S, tol=1e-3, max_iter=SWEEPS, clamp=problem.clamp).item
        asked.append(asked[-1] + len(ask))
        wrong.append(_wrong(belief))
        if wrong[-1] <= share_left * wrong[0]:
            return float(np.interp(-share_left * wrong[0], -np.array(wrong[-2:]), asked[-2:]))
    half = len(asked) // 2
    rate = np.log(wrong[half] / wrong[-1]) / (asked[-1] - asked[half])
    more = np.log(wrong[-1] / (share_left * wrong[0])) / rate if rate > 0 else np.inf
    return float(asked[-1] + more)


def _wrong(belief: Array) -> float:
    """Return the share of the items that are expected not to have their likeliest class."""
    return float(1.0 - belief.max(axis=1).mean())
