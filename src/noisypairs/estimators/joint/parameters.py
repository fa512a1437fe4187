"""The parameters of the joint learner, refused before any work if they make no sense."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from noisypairs import algebra
from noisypairs.estimators.base import label_names
from noisypairs.estimators.joint.parts.kinds import kind_numbers
from noisypairs.estimators.joint.search.class_number import AUTOMATIC
from noisypairs.noise import NoiseModel, family
from noisypairs.pairs import Pairs

if TYPE_CHECKING:
    from noisypairs.estimators.joint.classifier import JointPairClassifier


def check_parameters(given: JointPairClassifier, pairs: Pairs, n_labels: int = 0) -> list[int]:
    """Refuse parameters that make no sense for these pairs; return the numbers of classes.

    With kinds, return the numbers of kinds, of which there are no fewer than ``n_labels`` classes.
    """
    if not (isinstance(given.noise, NoiseModel) or given.noise == "estimate"):
        raise ValueError(
            f"noise={given.noise!r}: expected 'estimate' or a noise model such as "
            "PairingNoise(0.1, 0.2)"
        )
    if isinstance(given.prior, str):
        if given.prior != "estimate":
            raise ValueError(f"prior={given.prior!r}: expected 'estimate' or a number in (0, 1)")
    else:
        algebra.class_prior(given.prior)
    if given.noise_model != "auto":
        family(given.noise_model, also=["auto"])
    if given.n_kinds is not None:
        _check_parts(given, pairs)
        return kind_numbers(given.n_kinds, n_labels)
    if isinstance(given.n_classes, str) and given.n_classes != "auto":
        raise ValueError(f"n_classes={given.n_classes!r}: expected a number, several, or 'auto'")
    numbers = class_numbers(given.n_classes, pairs)
    if min(numbers, default=0) < 2:
        raise ValueError(f"n_classes={given.n_classes!r}: expected numbers of at least 2")
    if not isinstance(given.n_classes, Sequence):
        label_names(pairs, int(given.n_classes))
    if given.max_iter < 1:
        raise ValueError(f"max_iter={given.max_iter!r}: expected at least one round")
    _check_parts(given, pairs)
    return numbers


def _check_parts(given: JointPairClassifier, pairs: Pairs) -> None:
    for name in ("annotators", "clarity", "similarity"):
        if getattr(given, name) not in (True, False, "auto"):
            raise ValueError(f"{name}={getattr(given, name)!r}: expected True, False or 'auto'")
    if given.annotators is True and pairs.annotator_names is None:
        raise ValueError(
            "annotators=True, but the pairs do not say who answered: give Pairs annotator=, or "
            "leave annotators=False"
        )


def class_numbers(n_classes: int | Sequence[int] | Literal["auto"], pairs: Pairs) -> list[int]:
    """Return the numbers in question: of several those that leave room for every label.

    >>> pairs = Pairs([0, 1], [1, 2], [1, 0], labels={0: "a", 1: "b", 2: "c"})
    >>> class_numbers(2, pairs), class_numbers((2, 3, 4), pairs), class_numbers("auto", pairs)
    ([2], [3, 4], [3, 4, 5, 6])
    """
    if not isinstance(n_classes, Sequence):
        return [int(n_classes)]
    named = len(set(pairs.labels.values()))
    if isinstance(n_classes, str):
        return sorted({max(K, named) for K in AUTOMATIC})
    numbers = [int(K) for K in n_classes]
    return [K for K in numbers if named <= K] or numbers


def stages(given: JointPairClassifier) -> dict[str, float]:
    """Return the stages of a fit in their order, and about how long they take in comparison.

    For `noisypairs.inference.progress`. What is given needs no stage in which it is chosen.
    """
    numbers = AUTOMATIC if isinstance(given.n_classes, str) else given.n_classes
    parts = {"parts of the answer model": 3.0}
    if given.n_kinds is not None:
        found = {"start": 3.0, "candidate number of kinds": 60.0}
    elif isinstance(numbers, Sequence) and len(numbers) > 1:
        found = {"candidate number of classes": 12.0 * len(numbers)} | parts
    else:
        found = {"start": 3.0, "noise family": 1.0} | parts | {"one class more": 2.0}
    if given.estimator is None or isinstance(given.estimator, list | tuple):
        found["candidate estimators"] = 8.0
    return found | {"round": 4.0, "final fit": 0.5}
