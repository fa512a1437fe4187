"""The estimators used when none is given, chosen by measurement (docs/default-estimator.md)."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline

from noisypairs import reduction
from noisypairs.estimators.inner.average import AveragedClassifier
from noisypairs.estimators.inner.features import kernel_map
from noisypairs.estimators.inner.gaussian import GaussianClasses
from noisypairs.estimators.inner.ridge import RidgeClasses


def default_regressor(X: Any, random_state: int | None = None) -> Pipeline:
    """Return ridge regression on an RBF kernel map of standardised features."""
    return make_pipeline(*kernel_map(X, random_state), Ridge())


def default_classifier(X: Any, random_state: int | None = None) -> Pipeline:
    """Return logistic regression on an RBF kernel map of standardised features."""
    return make_pipeline(*kernel_map(X, random_state), LogisticRegression())


def default_candidates(X: Any, random_state: int | None = None) -> dict[str, Any]:
    """Return what the joint method chooses from: linear, kernel, their mean, ridge, Gaussian."""
    scale, kernel = kernel_map(X, random_state, 300)
    curved = make_pipeline(scale, kernel, LogisticRegression(C=10.0, tol=1e-3, max_iter=200))
    straight = make_pipeline(clone(scale), LogisticRegression(C=0.3, tol=1e-3, max_iter=200))
    candidates = {
        "linear": straight,
        "kernel": curved,
        "linear and kernel": AveragedClassifier([clone(straight), clone(curved)]),
    }
    if not issparse(X):
        candidates["ridge"] = RidgeClasses(random_state=random_state)
        candidates["gaussian"] = GaussianClasses()
    return candidates


def candidates_of(estimator: Any, X: Any, seed: int) -> dict[str, Any]:
    """Return the classifiers to choose from, by name, after checking what they can do.

    ``estimator`` is a probabilistic classifier that takes ``sample_weight``, a list of them, or
    None for `default_candidates`.
    """
    if estimator is None:
        return default_candidates(X, seed)
    chosen = list(estimator) if isinstance(estimator, list | tuple) else [estimator]
    for one in chosen:
        name = type(one).__name__
        if not hasattr(one, "predict_proba"):
            raise TypeError(
                f"{name} has no predict_proba, which the joint method needs. Choose a "
                "probabilistic classifier, or wrap it in CalibratedClassifierCV"
            )
        if not reduction.accepts_weights(one):
            raise TypeError(
                f"{name}.fit takes no sample_weight, which is how item beliefs reach the "
                "classifier. Choose one that does (LogisticRegression, RandomForestClassifier, "
                "HistGradientBoostingClassifier, …)"
            )
    return {f"{i}: {type(one).__name__}": one for i, one in enumerate(chosen)}
