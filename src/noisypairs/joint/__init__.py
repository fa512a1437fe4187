"""The joint learner: classes, noise and a classifier inferred together.

It reads in the order of a fit: `problem` says what is given, `starts` where EM begins,
`class_model` what features say, `em` the loop, `heldout` how models are compared, `search` which
model is kept, `race` which estimator, and `classifier` puts them together. `choices` has every
number that decides.
"""

from noisypairs.joint.classifier import JointPairClassifier
from noisypairs.joint.enough import Enough, enough
from noisypairs.joint.next_pairs import NextPairs, choose_pairs, first_pairs

__all__ = ["Enough", "JointPairClassifier", "NextPairs", "choose_pairs", "enough", "first_pairs"]
