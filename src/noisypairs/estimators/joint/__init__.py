"""The joint learner: classes, noise and a classifier inferred together."""

from noisypairs.estimators.joint.classifier import JointPairClassifier

__all__ = ["JointPairClassifier"]
