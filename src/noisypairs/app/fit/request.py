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

from noisypairs.app.fit.class_number import numbers_in_question
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

#: Methods that a fit chooses from, and what they are compared with, by the titles people read.
METHOD_TITLES = {
    "joint": "Joint learner",
    "weighted": "Weighted pairs",
    "correction": "Loss correction",
}
BASELINE_TITLES = {
    "k-means": "k-means, answers ignored",
    "majority": "Always the same odds, items ignored",
}
ESTIMATORS = ("boosting", "default", "forest", "logistic", "mlp")
#: More classes than this are not looked for.
MOST_CLASSES = 50


@dataclass(frozen=True)
class Request:
    """What is asked for; names are checked at once.

    ``n_classes=None`` leaves the number open: as many as labels name, else chosen from 2 to 6.

    >>> Request(estimator="forrest")
    Traceback (most recent call last):
    ValueError: estimator 'forrest': did you mean 'forest'? Known: boosting, default, forest, ...
    """

    method: str = "auto"
    estimator: str = "default"
    n_classes: int | tuple[int, ...] | Literal["auto"] | None = None
    #: None: where the pairs name more than one, and it helps.
    annotators: bool | Literal["auto"] | None = None
    noise_model: str = "auto"
    curve: bool = False
    parts: bool = True  # False: no part of the answer model is tried, see `without_parts`
    seed: int = 0

    def __post_init__(self) -> None:
        for what, given, known in (
            ("method", self.method, ("auto", *METHOD_TITLES)),
            ("estimator", self.estimator, ESTIMATORS),
            ("noise model", self.noise_model, ("auto", *families())),
        ):
            if given not in known:
                raise ValueError(f"{what} {given!r}: {did_you_mean(given, known)}")

    def settled(self, pairs: Pairs) -> Request:
        """Return the request with the open questions answered from the pairs."""
        named = len(set(pairs.labels.values()))
        several = pairs.annotator_names is not None and len(pairs.annotator_names) > 1
        if self.annotators and pairs.annotator_names is None:
            raise ValueError("annotators were asked for, but no column says who answered")
        asked = None if self.n_classes == "auto" else self.n_classes
        numbers = numbers_in_question(asked, named)
        people: bool | Literal["auto"] = "auto" if self.annotators is None else self.annotators
        return replace(self, n_classes=numbers, annotators=several and people)

    def without_parts(self) -> Request:
        """Return the request for a fit that is only compared: parts are chosen once, at the end."""
        people: bool | Literal["auto"] | None = self.annotators is True
        return replace(self, parts=False, annotators=people)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods in question."""
        return tuple(METHOD_TITLES) if self.method == "auto" else (self.method,)

    @property
    def n_groups(self) -> int:
        """How many classes there are; two where that is still open."""
        return self.n_classes if isinstance(self.n_classes, int) else 2


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


def pair_classifier(name: str, request: Request) -> PairClassifier:
    """Return the unfitted learner of this name; a learner for two classes refuses more."""
    inner = _inner(request.estimator, name == "correction", request.seed)
    if name == "joint":
        everything = request.parts and request.annotators == "auto"
        parts: list[PartName] = ["people"] if request.annotators else []
        parts += ["clarity", "similarity"] if request.parts else []
        return JointPairClassifier(
            inner,
            n_classes=_as_sequence(request.n_classes),
            noise=request.noise_model,
            answer_model="auto" if everything else (*parts, "pair error"),
            random_state=request.seed,
            search=SearchOptions(max_iter=20),
        )
    if isinstance(request.n_classes, int) and request.n_classes > 2:
        raise NotIdentifiable(f"it is made for two classes, not {request.n_classes}")
    if request.noise_model == "free":
        raise NotIdentifiable("it has no free noise matrix, only pairing and labeling noise")
    kind = WeightedPairClassifier if name == "weighted" else LossCorrectionClassifier
    return kind(inner, noise=request.noise_model, random_state=request.seed)


def _as_sequence(
    n_classes: int | tuple[int, ...] | Literal["auto"] | None,
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
