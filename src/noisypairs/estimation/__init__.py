"""The prior and the noise rates from data: estimates, intervals, or the reason why there are none.

What can be learnt from what:

* the prior, from the share of "same" among pairs drawn at random, when the noise is known;
* the rates, from gold pairs (both classes known) or from pairs that were asked several times.
"""

from noisypairs.estimation.interval import Interval, dyadic_mean, wilson
from noisypairs.estimation.prior import (
    PriorEstimate,
    estimate_prior,
    random_answers,
    same_share,
)
from noisypairs.estimation.rates import RateEstimate, rates_from_gold, rates_from_repeats

__all__ = [
    "Interval",
    "PriorEstimate",
    "RateEstimate",
    "dyadic_mean",
    "estimate_prior",
    "random_answers",
    "rates_from_gold",
    "rates_from_repeats",
    "same_share",
    "wilson",
]
