"""k-means baselines: answers ignored, or obeyed."""

from noisypairs.estimators.kmeans.cop import COPKMeans, PairKMeans

__all__ = ["COPKMeans", "PairKMeans"]
