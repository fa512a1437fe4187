"""k-means baselines: answers ignored, or obeyed."""

from noisypairs.estimators.kmeans.cop import COPKMeans
from noisypairs.estimators.kmeans.pair import PairKMeans

__all__ = ["COPKMeans", "PairKMeans"]
