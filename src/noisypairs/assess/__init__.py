"""What is stated about a fit: intervals, judged answers, enough, next pairs, kinds.

Everything here takes a fit and says something about it. The learner is `noisypairs.joint`.
"""

from noisypairs.assess.next_pairs import NextPairs, choose_pairs, first_pairs
from noisypairs.assess.stopping import Enough, enough

__all__ = ["Enough", "NextPairs", "choose_pairs", "enough", "first_pairs"]
