"""The estimators used when none is given, chosen by measurement (docs/default-estimator.md)."""

from __future__ import annotations

from typing import Any

from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import _num_samples

from noisypairs import reduction
from noisypairs.estimators.inner.features import KernelColumns, QuantileBins, TailScaler, kernel_map
from noisypairs.estimators.inner.logistic import LogisticClasses
from noisypairs.estimators.inner.staged import EPOCHS, TREES, BoostedTrees, SmallNetwork

#: Up to so many classes trees and a network are among the candidates.
MANY_CLASSES = 10
#: From so many items on a network is among them: with fewer it is a slower kernel map.
NETWORK_ITEMS = 2_000


def default_regressor(X: Any, random_state: int | None = None) -> Pipeline:
    """Return ridge regression on an RBF kernel map of standardised features."""
    return make_pipeline(*kernel_map(X, random_state), Ridge())


def default_classifier(X: Any, random_state: int | None = None) -> Pipeline:
    """Return logistic regression on an RBF kernel map of standardised features."""
    return make_pipeline(*kernel_map(X, random_state), LogisticRegression())


def default_candidates(
    X: Any, random_state: int | None = None, n_classes: int = 2
) -> dict[str, Any]:
    """Return what the joint method chooses from beside the class model of its search.

    Linear, kernel (with a strong and a weak penalty), boosted trees (small and large) and a small
    network, the simplest first; the last three for dense tables of at most `MANY_CLASSES` classes,
    since they learn from one row per item and class.
    """
    columns = KernelColumns(random_state=random_state)
    scale = StandardScaler(with_mean=False) if issparse(X) else TailScaler()
    candidates: dict[str, Any] = {}
    candidates["linear"] = make_pipeline(scale, LogisticClasses(C=0.15))
    candidates["kernel, C=1"] = make_pipeline(columns, LogisticClasses(C=1.0))
    candidates["kernel, C=15"] = make_pipeline(clone(columns), LogisticClasses(C=15.0))
    if issparse(X) or n_classes > MANY_CLASSES:
        return candidates
    fixed = {"early_stopping": False, "max_bins": 128, "random_state": random_state}
    small = BoostedTrees(max_leaf_nodes=6, learning_rate=0.2, max_iter=TREES[-1], **fixed)
    large = BoostedTrees(max_leaf_nodes=31, learning_rate=0.2, max_iter=TREES[-2], **fixed)
    candidates["small trees"] = make_pipeline(QuantileBins(), small)
    candidates["trees"] = make_pipeline(QuantileBins(), large)
    if _num_samples(X) >= NETWORK_ITEMS:
        # With a share per item the steps are half as many, and far less noisy, than with a row
        # for either class: they can be longer.
        rate = 0.004 if n_classes == 2 else 0.001
        network = SmallNetwork(
            max_iter=EPOCHS[-1], alpha=0.01, learning_rate_init=rate, random_state=random_state
        )
        candidates["network"] = make_pipeline(clone(scale), network)
    return candidates


def candidates_of(estimator: Any, X: Any, seed: int, n_classes: int = 2) -> dict[str, Any]:
    """Return the classifiers to choose from, by name, after checking what they can do.

    ``estimator`` is a probabilistic classifier that takes ``sample_weight``, a list of them, or
    None for `default_candidates`.
    """
    if estimator is None:
        return default_candidates(X, seed, n_classes)
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
