"""Classifiers of items that learn from pairs."""

from noisypairs.estimators.base import PairClassifier
from noisypairs.estimators.inner.average import AveragedClassifier
from noisypairs.estimators.inner.gaussian import GaussianClasses
from noisypairs.estimators.joint import JointPairClassifier
from noisypairs.estimators.joint.asking.enough import Enough, enough
from noisypairs.estimators.joint.asking.next_pairs import NextPairs, choose_pairs, first_pairs
from noisypairs.estimators.kmeans import COPKMeans, PairKMeans
from noisypairs.estimators.linear import LinearRiskClassifier
from noisypairs.estimators.loss_correction import LossCorrectionClassifier
from noisypairs.estimators.weighted import WeightedPairClassifier

__all__ = [
    "AveragedClassifier",
    "COPKMeans",
    "Enough",
    "GaussianClasses",
    "JointPairClassifier",
    "LinearRiskClassifier",
    "LossCorrectionClassifier",
    "NextPairs",
    "PairClassifier",
    "PairKMeans",
    "WeightedPairClassifier",
    "choose_pairs",
    "enough",
    "first_pairs",
]
