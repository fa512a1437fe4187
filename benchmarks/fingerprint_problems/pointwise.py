"""The other learners: loss correction, weighted pairs, networks inside them, k-means."""

from __future__ import annotations

import importlib.util
from typing import Any

from sklearn.linear_model import LogisticRegression, Ridge

from noisypairs import (
    CleanPairs,
    COPKMeans,
    LossCorrectionClassifier,
    PairKMeans,
    WeightedPairClassifier,
)

from .problem import (
    LABELING,
    NOISE,
    answers,
    crowd,
    fitted,
    items,
    many,
    problem,
    table_of,
    with_some_labels,
)


def correction(**settings: Any) -> LossCorrectionClassifier:
    """Return a loss correction learner whose class 1 is the smaller one."""
    return LossCorrectionClassifier(**{"class_order": "falling", "random_state": 0} | settings)


def weighted(**settings: Any) -> WeightedPairClassifier:
    """Return a weighted learner whose class 1 is the smaller one."""
    return WeightedPairClassifier(**{"class_order": "falling", "random_state": 0} | settings)


@problem
def correction_given() -> Any:
    given = {"noise": NOISE, "prior": 0.25}
    losses = ("squared", "logistic", "brier", "sigmoid")
    each = {loss: fitted(correction(loss=loss, **given), many()) for loss in losses}
    kept = {"non_negative": True} | given
    others = {
        "squared_hinge": correction(loss="squared_hinge", **kept),
        "ridge": correction(estimator=Ridge(), **kept),
        "printed": correction(formula="printed", loss="logistic", **given),
    }
    return each | {name: fitted(model, many()) for name, model in others.items()}


@problem
def correction_estimated() -> Any:
    return {
        "prior": fitted(correction(noise=NOISE), many()),
        "pairing": fitted(correction(), many()),
        "labeling": fitted(correction(noise_model="labeling"), many(LABELING)),
        "given labeling": fitted(correction(noise=LABELING, prior=0.25), many(LABELING)),
    }


@problem
def weighted_given() -> Any:
    given = {"noise": NOISE, "prior": 0.25}
    return {
        "default": fitted(weighted(**given), many()),
        "logistic": fitted(weighted(estimator=LogisticRegression(), **given), many()),
        "number": fitted(weighted(alpha=0.55, **given), many()),
        "unweighted": fitted(weighted(alpha=0.5, **given), many()),
        "weights": fitted(weighted(**given), crowd(weights=True, n_pairs=4000)),
    }


@problem
def weighted_estimated() -> Any:
    return {
        "prior": fitted(weighted(noise=NOISE), many()),
        "all": fitted(weighted(), many()),
        "labeling": fitted(weighted(noise_model="labeling"), many(LABELING)),
        "alpha": fitted(weighted(alpha="cv"), many()),
    }


@problem
def pointwise_labels() -> Any:
    pairs = with_some_labels(many(), items()[1])
    given = {"noise": NOISE, "class_order": None}
    return [fitted(correction(**given), pairs), fitted(weighted(**given), pairs)]


@problem
def pointwise_tables() -> Any:
    models = [correction(noise=NOISE), correction(), weighted(noise=NOISE), weighted(alpha="cv")]
    with table_of(crowd(weights=True, n_pairs=4000)) as table:
        return [fitted(model, table) for model in models]


@problem
def kmeans() -> Any:
    return {
        "two": fitted(PairKMeans(class_order="falling", random_state=0), answers()),
        "equal": fitted(
            PairKMeans(3, random_state=0, item_weight="equal"), answers(n_classes=3), 3
        ),
    }


@problem
def constrained_kmeans() -> Any:
    clean = answers(CleanPairs(), n_pairs=150)
    three = answers(CleanPairs(), n_classes=3, n_pairs=200)
    return {
        "clean": fitted(COPKMeans(class_order="falling", random_state=0), clean),
        "noisy": fitted(COPKMeans(class_order="falling", random_state=0), crowd(weights=True)),
        "three": fitted(COPKMeans(3, random_state=0), three, 3),
        "noisy three": fitted(COPKMeans(3, random_state=0), answers(n_classes=3), 3),
    }


def networks() -> Any:
    from noisypairs import nn

    settings: dict[str, Any] = {"max_epochs": 5, "learning_rate": 0.05, "random_state": 0}
    adam = nn.TorchClassifier(loss="logistic", optimizer="adam", **settings)
    given: dict[str, Any] = {"noise": NOISE, "prior": 0.25}
    X, y = items()
    regressor = nn.TorchRegressor(**settings)
    return {
        "regressor": fitted(correction(estimator=regressor, **given), answers()),
        "risk": fitted(correction(estimator=adam, loss="logistic", **given), answers()),
        "weighted": fitted(weighted(estimator=nn.TorchClassifier(**settings), **given), answers()),
        "alone": nn.TorchClassifier(early_stopping=True, **settings).fit(X, y).predict_proba(X),
    }


if importlib.util.find_spec("torch"):
    problem(networks)
