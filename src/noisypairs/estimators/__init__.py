"""Classifiers of items that learn from pairs."""

from noisypairs.estimators.base import PairClassifier
from noisypairs.estimators.inner.average import AveragedClassifier
from noisypairs.estimators.inner.gaussian import GaussianClasses
from noisypairs.estimators.kmeans import COPKMeans, PairKMeans
from noisypairs.estimators.linear import LinearRiskClassifier
from noisypairs.estimators.loss_correction import LossCorrectionClassifier
from noisypairs.estimators.weighted import WeightedPairClassifier

__all__ = [
    "AveragedClassifier",
    "COPKMeans",
    "GaussianClasses",
    "LinearRiskClassifier",
    "LossCorrectionClassifier",
    "PairClassifier",
    "PairKMeans",
    "WeightedPairClassifier",
]
