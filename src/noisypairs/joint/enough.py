"""When to stop asking: how many of the items have their right class by now.

The joint learner claims an accuracy, the mean of its highest beliefs. How far the claim may be off
is seen by repetition: classes are drawn from the beliefs, answers to the same pairs from the fitted
noise, the loop runs again, and what it then claims is held against the classes that were drawn. The
interval is the claim, less its mean error, and as wide as these errors spread. A target counts as
reached when the lower limit has reached it.

Two classes taken for one are not seen in this way, since classes are drawn from the beliefs. So
where the number of classes was not given, the best cut of a class in two is tried: while
it explains the answers any better, the number is open and nothing is reached. Where the number is
right, one class more explains them a little worse, since features do not predict it.

All that judges the learner by its own model. Where people err in another way, more on some items
than on others, the claim may be too high: a warning of the fit under which no result is called good
(`errors.DOUBTS`) is to be heeded beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from noisypairs.algebra import Array
from noisypairs.estimation import Interval
from noisypairs.joint.answers_left import answers_left
from noisypairs.joint.em import Fit
from noisypairs.joint.intervals import draw_classes, infer_again, redrawn
from noisypairs.joint.problem import Problem
from noisypairs.joint.search import Search, cut, cuts
from noisypairs.noise import PairingNoise
from noisypairs.pairs import Pairs

if TYPE_CHECKING:
    from noisypairs.joint.classifier import JointPairClassifier

#: Replicates of the interval.
N_REPLICATES = 12
#: Rounds after a class was cut in two.
CUT_ROUNDS = 8


@dataclass(frozen=True)
class Enough:
    """Whether a target is reached.

    ``accuracy`` is the share of the items whose most likely class is right, ``answers_left`` how
    many chosen answers are expected to be needed still, None where no number can be given, and
    ``one_more`` by how many nats one class more explains the answers better, None where the number
    of classes was given.
    """

    target: float
    accuracy: Interval
    answers_left: int | None
    one_more: float | None = None

    @property
    def enough(self) -> bool:
        """Whether the lower limit has reached the target, and the number of classes is settled."""
        return self.accuracy.low >= self.target and not self.open_number

    @property
    def open_number(self) -> bool:
        """Whether there may be more classes than were found."""
        return self.one_more is not None and self.one_more > 0


def enough(
    model: JointPairClassifier,
    X: Any,
    pairs: Pairs,
    target: float,
    *,
    level: float = 0.9,
    n_replicates: int = N_REPLICATES,
) -> Enough:
    """Judge a fitted learner by the ``X`` and ``pairs`` of its fit; no true class is used.

    The items are those in X: what new ones will be classified like is another question
    (`intervals`, or ``noisypairs plan``).

    >>> from noisypairs import JointPairClassifier, PairingNoise, datasets, sample_pairs
    >>> X, y = datasets.load("gaussians", n_samples=200, random_state=0)
    >>> pairs = sample_pairs(y, 600, PairingNoise(0.1, 0.1), random_state=0)
    >>> clf = JointPairClassifier(positive="majority", random_state=0).fit(X, pairs)
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
    errors = _errors(problem, fit, n_replicates)
    claimed = float(model.item_proba_.max(axis=1).mean())
    half = float(stats.norm.ppf(0.5 + level / 2)) * float(np.std(errors, ddof=1))
    centre = claimed - max(float(np.mean(errors)), 0.0)
    accuracy = Interval(centre, max(centre - half, 0.0), min(centre + half, 1.0), level)
    found = infer_again(problem, fit)
    one_more = (
        None if isinstance(model.n_classes, int) else _one_more(model._search(problem), found)
    )
    left: int | None = 0
    if accuracy.low < target:
        share = _share_left(1 - centre, centre - accuracy.low, 1 - target)
        left = answers_left(problem, found, model.noise_, share)
    elif one_more is not None and one_more > 0:
        left = None
    return Enough(target, accuracy, left, one_more)


def _one_more(search: Search, found: Fit) -> float | None:
    """Return by how many nats the best cut of a class explains the answers better."""
    if not isinstance(search.given, PairingNoise | None):
        return None  # the given matrix has one row per class
    spec = replace(found.spec, n_classes=found.n_classes + 1)
    halves = [
        search.run(search.problem, spec, "cut", cut(found.item_proba, *one), CUT_ROUNDS)
        for one in cuts(search.problem, found)
    ]
    values = [half.log_likelihood for half in halves]
    return max(values, default=found.log_likelihood) - found.log_likelihood


def _errors(problem: Problem, fit: Fit, n_replicates: int) -> Array:
    """Return by how much redrawn answers let the learner claim too much, shape (n_replicates,)."""
    rng = np.random.default_rng(problem.seed)
    noise, errors = fit.answers.crowd_noise(), []
    for _ in range(n_replicates):
        classes = draw_classes(fit.item_proba, rng)
        again = infer_again(problem, fit, redrawn(problem, classes, noise, fit, rng)).item_proba
        right = float((again.argmax(axis=1) == classes).mean())
        errors.append(float(again.max(axis=1).mean()) - right)
    return np.array(errors)


def _share_left(wrong: float, margin: float, allowed: float) -> float:
    """Return to what share r² the errors must fall for the lower limit to reach the target.

    The margin between estimate and limit is a spread of a number of errors and falls as its root,

        wrong r² + margin r = allowed.

    >>> round(_share_left(0.1, 0.0, 0.05), 3), round(_share_left(0.1, 0.05, 0.05), 3)
    (0.5, 0.25)
    """
    root = 2.0 * allowed / (margin + np.sqrt(margin**2 + 4.0 * wrong * allowed))
    return float(root**2)
