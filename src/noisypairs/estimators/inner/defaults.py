"""The estimators used when none is given, chosen by measurement (docs/default-estimator.md)."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import _num_samples

from noisypairs.estimators.inner.average import AveragedClassifier
from noisypairs.estimators.inner.gaussian import GaussianClasses
from noisypairs.estimators.inner.ridge import N_COMPONENTS, RidgeClasses, kernel_columns


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


def kernel_map(
    X: Any, random_state: int | None = None, n_components: int = N_COMPONENTS
) -> tuple[StandardScaler, Nystroem]:
    """Return the steps in front: scale each column, then Nyström features of the RBF kernel.

    The kernel's width is 1/n_features, as suits columns of variance one; more columns than 200 cost
    time and did not gain accuracy (`kernel_columns` says when there are fewer).
    """
    components = kernel_columns(_num_samples(X), n_components)
    return (
        StandardScaler(with_mean=not issparse(X)),
        Nystroem(n_components=components, random_state=random_state),
    )
