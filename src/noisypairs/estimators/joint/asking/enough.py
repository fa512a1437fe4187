"""When to stop asking: how many of the items have their right class by now.

The joint learner claims an accuracy, the mean of its highest beliefs. How far the claim may be off
is seen by repetition: classes are drawn from the beliefs, answers to the same pairs from the fitted
noise, the loop runs again, and what it then claims is held against the classes that were drawn. The
interval is the claim, less its mean error, and as wide as these errors spread. A target counts as
reached when the lower limit has reached it.

Two classes taken for one are not seen in this way, since classes are drawn from the beliefs. So
where the number of classes was not given, the best cut of a class in two (`splits`) is tried: while
it explains the answers any better, the number is open and nothing is reached. Where the number is
right, one class more explains them a little worse, since features do not predict it.

All that judges the learner by its own model. Where people err in another way, more on some items
than on others, the claim may be too high: a warning of the fit under which no result is called good
(`errors.DOUBTS`) is to be heeded beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats
from scipy.special import entr
from sklearn.utils.validation import check_is_fitted

from noisypairs.algebra import Array
from noisypairs.estimation import Interval
from noisypairs.estimators.joint.answers.repeats import infer_again, single_answers
from noisypairs.estimators.joint.asking.next_pairs import choose_pairs
from noisypairs.estimators.joint.intervals import draw_classes, redrawn
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.estimators.joint.search.splits import Moves
from noisypairs.inference.graph import PairGraph
from noisypairs.noise import PairingNoise
from noisypairs.pairs import Pairs

if TYPE_CHECKING:
    from noisypairs.estimators.joint.classifier import JointPairClassifier

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
    problem = JointProblem(
        X, single_answers(pairs), [len(model.classes_)], model.cv, model.random_state
    )
    beliefs = given.reordered_items(model.item_proba_)
    errors = _errors(model, problem, beliefs, n_replicates)
    claimed = float(model.item_proba_.max(axis=1).mean())
    half = float(stats.norm.ppf(0.5 + level / 2)) * float(np.std(errors, ddof=1))
    centre = claimed - max(float(np.mean(errors)), 0.0)
    accuracy = Interval(centre, max(centre - half, 0.0), min(centre + half, 1.0), level)
    one_more = None if isinstance(model.n_classes, int) else _one_more(model, problem, beliefs)
    left = _answers_left(model, target, accuracy)
    if left == 0 and one_more is not None and one_more > 0:
        left = None
    return Enough(target, accuracy, left, one_more)


def _one_more(model: JointPairClassifier, problem: JointProblem, beliefs: Array) -> float | None:
    """Return by how many nats the best cut of a class explains the answers better."""
    search = model.search(problem)
    if not isinstance(search.given, PairingNoise | None):
        return None  # the given matrix is one of so many classes
    fit_noise = search.fit_noise(model.noise_model_)
    found = infer_again(problem, problem.graph, beliefs, model.noise_, fit_noise)
    cut = Moves(search).best_cut(found, CUT_ROUNDS)
    return cut.log_likelihood - found.log_likelihood


def _errors(
    model: JointPairClassifier, problem: JointProblem, beliefs: Array, n_replicates: int
) -> Array:
    """Return by how much redrawn answers let the learner claim too much, shape (n_replicates,)."""
    noise = model.noise_
    fit_noise = model.search(problem).fit_noise(model.noise_model_)
    rng = np.random.default_rng(problem.seed)
    errors = []
    for _ in range(n_replicates):
        classes = draw_classes(beliefs, rng)
        answers = redrawn(problem, classes, noise, rng, model.repeat_correlation_)
        graph = PairGraph.from_pairs(answers)
        found = infer_again(problem, graph, beliefs, noise, fit_noise).beliefs.item
        right = float((found.argmax(axis=1) == classes).mean())
        errors.append(float(found.max(axis=1).mean()) - right)
    return np.array(errors)


def _answers_left(model: JointPairClassifier, target: float, accuracy: Interval) -> int | None:
    """Return about how many more answers take the lower limit of the accuracy to the target.

    Let H be the entropy of all beliefs and g what one of the next answers takes from it. If both
    fall together, H decays as exp(−n g / H) and the share of wrong items with it, so that
    n = H/g · log(wrong now / wrong at the target).
    """
    if accuracy.low >= target:
        return 0
    belief = model.item_proba_
    S = model.noise_.same_probability(belief.shape[1])
    n_next = max(10, len(belief) // 10)
    ask = choose_pairs(belief, S, n_next, asked=model.asked_, random_state=0)
    gain = float(ask.information.mean()) if len(ask) else 0.0
    if gain <= 0:
        return None
    entropy = float(entr(belief).sum()) / np.log(2.0)
    return int(np.ceil(entropy / gain * np.log((1 - accuracy.low) / (1 - target))))
