"""What can be promised before any data are seen: bounds, convexity, Bayes rules. Numbers only.

`complexity` measures a class of models and its loss. `bounds` says what n noisy pairs promise for
it. `rules` compares the Bayes rules of noisy answers and of true classes. `risks` holds the
weighted risk and its parts. `outcomes` lists how an answer comes about. All public names are here.
"""

from noisypairs.theory.bounds import (
    calibrated_regret,
    clean_bound,
    corrected_lipschitz,
    corrected_range,
    excess_risk,
    excess_risk_bound,
    noise_inflation,
    printed_deviation,
    sample_size,
    uniform_deviation,
    uniform_deviation_bound,
    weighted_bound,
)
from noisypairs.theory.complexity import (
    LOSSES,
    UNIT,
    Estimate,
    MarginLoss,
    ModelClass,
    empirical_rademacher,
    linear_rademacher,
    network_rademacher,
)
from noisypairs.theory.outcomes import Outcome, outcomes
from noisypairs.theory.risks import (
    labeling_gain_slopes,
    pairing_gain_slope,
    risk_offset,
    weighted_loss,
    weighted_risk,
)
from noisypairs.theory.rules import (
    bayes_rule,
    compare_bayes_rules,
    is_convex,
    noisy_bayes_rule,
    noisy_posterior,
    weighted_bayes_rule,
)

__all__ = [
    "LOSSES",
    "UNIT",
    "Estimate",
    "MarginLoss",
    "ModelClass",
    "Outcome",
    "bayes_rule",
    "calibrated_regret",
    "clean_bound",
    "compare_bayes_rules",
    "corrected_lipschitz",
    "corrected_range",
    "empirical_rademacher",
    "excess_risk",
    "excess_risk_bound",
    "is_convex",
    "labeling_gain_slopes",
    "linear_rademacher",
    "network_rademacher",
    "noise_inflation",
    "noisy_bayes_rule",
    "noisy_posterior",
    "outcomes",
    "pairing_gain_slope",
    "printed_deviation",
    "risk_offset",
    "sample_size",
    "uniform_deviation",
    "uniform_deviation_bound",
    "weighted_bayes_rule",
    "weighted_bound",
    "weighted_loss",
    "weighted_risk",
]
