"""The joint learner: classes, noise and a classifier inferred together.

Rooms in the order in which a fit uses them: `beliefs` and `problem` say what is given, `search`
chooses start, number of classes and noise family, `parts` how much the model of `answers` holds,
and `choice` the classifier; `classifier` runs the last rounds, and `asking` goes on from there.
"""

from noisypairs.estimators.joint.classifier import JointPairClassifier

__all__ = ["JointPairClassifier"]
