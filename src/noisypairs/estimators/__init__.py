"""Classifiers of items that learn from pairs."""

from noisypairs.estimators.base import PairClassifier
from noisypairs.estimators.inner.classifiers import GaussianClasses
from noisypairs.estimators.kmeans import COPKMeans, PairKMeans
from noisypairs.estimators.linear import LinearRiskClassifier
from noisypairs.estimators.pointwise import LossCorrectionClassifier, WeightedPairClassifier

__all__ = [
    "COPKMeans",
    "GaussianClasses",
    "LinearRiskClassifier",
    "LossCorrectionClassifier",
    "PairClassifier",
    "PairKMeans",
    "WeightedPairClassifier",
]
