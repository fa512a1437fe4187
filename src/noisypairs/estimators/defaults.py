"""The estimators used when none is given, chosen by measurement (docs/default-estimator.md)."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def default_regressor(X: Any, random_state: int | None = None) -> Any:
    """Return a new regressor for the squared loss."""
    return make_pipeline(StandardScaler(with_mean=not issparse(X)), Ridge())


def default_classifier(X: Any, random_state: int | None = None) -> Any:
    """Return a new classifier for weighted items."""
    return make_pipeline(StandardScaler(with_mean=not issparse(X)), LogisticRegression())
