"""What pipelines do before they look at labels, done once for all fits."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from noisypairs.estimators.inner.features import (
    FiniteNumbers,
    KernelColumns,
    QuantileBins,
    TailScaler,
)

#: Where scikit-learn keeps transformers that look at the items only.
LABEL_FREE = (
    "sklearn.preprocessing",
    "sklearn.impute",
    "sklearn.decomposition",
    "sklearn.kernel_approximation",
    "sklearn.random_projection",
)


class PreparedItems:
    """Items as the classifiers see them: what needs no labels is made once and shared.

    A scale or a kernel map of all items does not know the beliefs of any, so probabilities stay
    out of fold; and every fold, round and candidate can use the same.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> items = PreparedItems([[1.0], [3.0]])
    >>> front, learner, seen = items.split(make_pipeline(StandardScaler(), LogisticRegression()))
    >>> learner, seen.tolist()
    (LogisticRegression(), [[-1.0], [1.0]])
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self._made: dict[str, tuple[Pipeline, Any]] = {}

    def split(self, estimator: Any) -> tuple[Pipeline | None, Any, Any]:
        """Return the fitted front of an estimator or None, the rest, and the items it sees."""
        steps = estimator.steps if isinstance(estimator, Pipeline) else []
        number = 0
        while number < len(steps) - 1 and _label_free(steps[number][1]):
            number += 1
        if not number:
            return None, estimator, self.X
        front = Pipeline(steps[:number])
        rest = steps[number][1] if number == len(steps) - 1 else Pipeline(steps[number:])
        fitted, seen = self.through(front)
        return fitted, rest, seen

    def through(self, front: Pipeline) -> tuple[Pipeline, Any]:
        """Return a front, fitted, and the items after it."""
        # In full: NumPy leaves out the middle of long arrays, and digits.
        with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
            key = repr([step.get_params() | {"": type(step)} for _, step in front.steps])
        if key not in self._made:
            fitted = Pipeline([(name, clone(step)) for name, step in front.steps])
            seen = fitted.fit_transform(self.X)
            self._made[key] = fitted, seen
        return self._made[key]


def joined(front: Pipeline | None, estimator: Any, model: Any) -> Any:
    """Return the whole of a fitted front and the fitted rest of an estimator."""
    if front is None:
        return model
    last = "classes" if estimator is None else estimator.steps[-1][0]
    rest = model.steps if isinstance(model, Pipeline) else [(last, model)]
    return Pipeline([*front.steps, *rest])


def _label_free(step: Any) -> bool:
    if isinstance(step, FiniteNumbers | KernelColumns | QuantileBins | TailScaler):
        return True
    module = type(step).__module__.startswith(LABEL_FREE)
    return module and not get_tags(step).target_tags.required
