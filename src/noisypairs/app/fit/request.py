"""What a fit is asked for, checked at once, and the unfitted learner that it leads to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor

from noisypairs.classifier import JointPairClassifier, SearchOptions
from noisypairs.errors import NotIdentifiable, did_you_mean
from noisypairs.estimators import (
    LossCorrectionClassifier,
    WeightedPairClassifier,
)
from noisypairs.estimators.base import PairClassifier
from noisypairs.joint.choices import PartName
from noisypairs.noise import families
from noisypairs.pairs import Pairs
from noisypairs.pairs.pairs import pooled_answers

#: Methods by the titles people read; "auto" is the first.
METHOD_TITLES = {
    "joint": "Joint learner",
    "weighted": "Weighted pairs",
    "correction": "Loss correction",
}
ESTIMATORS = ("boosting", "default", "forest", "logistic", "mlp")
#: More classes than this are not looked for.
MOST_CLASSES = 50


@dataclass(frozen=True)
class Request:
    """What is asked for; names are checked at once.

    ``n_classes=None`` leaves the number open: as many as labels name, else what predicts held-out
    answers best.

    >>> Request(estimator="forrest")
    Traceback (most recent call last):
    ValueError: estimator 'forrest': did you mean 'forest'? Known: boosting, default, forest, ...
    """

    method: str = "auto"
    estimator: str = "default"
    n_classes: int | Sequence[int] | Literal["auto"] | None = None
    #: None: where the pairs name more than one, and it helps.
    annotators: bool | Literal["auto"] | None = None
    noise_model: str = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        for what, given, known in (
            ("method", self.method, ("auto", *METHOD_TITLES)),
            ("estimator", self.estimator, ESTIMATORS),
            ("noise model", self.noise_model, ("auto", *families())),
        ):
            if given not in known:
                raise ValueError(f"{what} {given!r}: {did_you_mean(given, known)}")
        if isinstance(self.n_classes, int) and self.n_classes < 2:
            raise ValueError(f"n_classes={self.n_classes}: expected at least 2 classes")

    def settled(self, pairs: Pairs) -> Request:
        """Return the request with the open questions answered from the pairs."""
        named = len(set(pairs.labels.values()))
        several = pairs.annotator_names is not None and len(pairs.annotator_names) > 1
        if self.annotators and pairs.annotator_names is None:
            raise ValueError("annotators were asked for, but no column says who answered")
        asked = None if self.n_classes == "auto" else self.n_classes
        numbers = numbers_in_question(asked, named)
        people: bool | Literal["auto"] = "auto" if self.annotators is None else self.annotators
        method = "joint" if self.method == "auto" else self.method
        return replace(self, method=method, n_classes=numbers, annotators=several and people)


def class_numbers(text: str | None, option: str = "--classes") -> int | tuple[int, ...] | None:
    """Read "3" as 3, "2-5" as (2, 3, 4, 5), and nothing or "auto" as None.

    >>> class_numbers("3"), class_numbers("2-5"), class_numbers("auto")
    (3, (2, 3, 4, 5), None)
    """
    if text is None or text.strip().lower() == "auto":
        return None
    first, dash, last = text.partition("-")
    if not (first.strip().isdigit() and (last.strip().isdigit() or not dash)):
        raise ValueError(f"{option} {text!r}: expected a number such as 3, or a range such as 2-5")
    low, high = int(first), int(last if dash else first)
    if not 2 <= low <= high <= MOST_CLASSES:
        raise ValueError(f"{option} {text!r}: expected 2 to {MOST_CLASSES}, smaller number first")
    return tuple(range(low, high + 1)) if high > low else low


def numbers_in_question(
    asked: int | Sequence[int] | None, named: int
) -> int | tuple[int, ...] | Literal["auto"]:
    """Return how many classes there may be: what is asked for, else what labels name, else any.

    ``named`` is how many classes the known labels name. Of several numbers those stay that leave
    room for every name.

    >>> numbers_in_question(None, 0), numbers_in_question(None, 3), numbers_in_question((2, 3), 3)
    ('auto', 3, (3,))
    """
    if isinstance(asked, int):
        if asked < 2:
            raise ValueError(f"n_classes={asked}: expected at least 2 classes")
        if named and asked != named:
            raise ValueError(
                f"the known labels name {named} classes, but {asked} were requested: label at "
                f"least one item of every class, request {named}, or give a range"
            )
        return asked
    if asked is None:
        return named if named > 1 else "auto"
    room = tuple(number for number in asked if number >= named)
    if not room:
        raise ValueError(
            f"the known labels name {named} classes, but at most {max(asked)} were requested: "
            "request more"
        )
    return room


def require_both_answers(pairs: Pairs) -> None:
    """Refuse where nothing was answered, or everything alike."""
    n_proper = pairs.without_self_pairs().n_pairs
    if n_proper == 0:
        raise ValueError("there is no answer about two distinct items: nothing to learn from")
    said = pooled_answers(pairs).same
    if said.all() or not said.any():
        word = "same" if said[0] else "different"
        raise NotIdentifiable(
            f"all {n_proper:,} answers are {word!r}; nothing can be learnt. Both kinds of "
            "answers are needed to separate classes"
        )


def pair_classifier(request: Request) -> PairClassifier:
    """Return the unfitted learner of a settled request; one for two classes refuses more."""
    inner = _inner(request.estimator, request.method == "correction", request.seed)
    if request.method == "joint":
        parts: list[PartName] = ["people"] if request.annotators else []
        return JointPairClassifier(
            inner,
            n_classes=_as_sequence(request.n_classes),
            noise=request.noise_model,
            answer_model=(*parts, "clarity", "similarity", "pair error"),
            random_state=request.seed,
            search=SearchOptions(max_iter=20),
        )
    if isinstance(request.n_classes, int) and request.n_classes > 2:
        raise NotIdentifiable(
            f"method {request.method!r} is for two classes only, not {request.n_classes}: use joint"
        )
    if request.noise_model == "free":
        raise NotIdentifiable(
            f"method {request.method!r} has no free noise matrix: use pairing or labeling"
        )
    weighted = request.method == "weighted"
    kind = WeightedPairClassifier if weighted else LossCorrectionClassifier
    return kind(inner, noise=request.noise_model, random_state=request.seed)


def _as_sequence(
    n_classes: int | Sequence[int] | Literal["auto"] | None,
) -> Sequence[int] | Literal["auto"]:
    """Return the numbers in question: of a sequence of one, labels need not name every class."""
    if n_classes is None or n_classes == "auto":
        return "auto"
    return (n_classes,) if isinstance(n_classes, int) else n_classes


def _inner(name: str, regress: bool, seed: int) -> Any:
    """Return the estimator inside; the squared corrected loss asks for a regressor."""
    # Leaves and steps are coarse: labels this noisy do not support finer ones.
    forest = {"min_samples_leaf": 5, "random_state": seed}
    match name:
        case "logistic":
            return Ridge() if regress else LogisticRegression(max_iter=1000)
        case "forest":
            return RandomForestRegressor(**forest) if regress else RandomForestClassifier(**forest)
        case "boosting":
            boosting = HistGradientBoostingRegressor if regress else HistGradientBoostingClassifier
            return boosting(max_iter=50, learning_rate=0.1, random_state=seed)
        case "mlp":
            network = MLPRegressor if regress else MLPClassifier
            return network(
                hidden_layer_sizes=(50,), alpha=0.1, tol=1e-3, max_iter=300, random_state=seed
            )
    return None
