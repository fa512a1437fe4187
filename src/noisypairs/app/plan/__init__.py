"""How many more pairs to ask, and which: planning from noisy answers alone."""

from noisypairs.app.plan.choice import Worth, old_pairs, worth_of_answers
from noisypairs.app.plan.curve import LearningCurve, learning_curves
from noisypairs.app.plan.forecast import Forecast, Need, forecast
from noisypairs.app.plan.goal import (
    N_STEPS,
    Goal,
    Plan,
    plan,
    plan_dataset,
    require_above_chance,
)
from noisypairs.app.plan.statement import (
    N_AGAIN,
    as_dict,
    outlook,
    pair_rows,
    pairs_csv,
    statement,
)

__all__ = [
    "N_AGAIN",
    "N_STEPS",
    "Forecast",
    "Goal",
    "LearningCurve",
    "Need",
    "Plan",
    "Worth",
    "as_dict",
    "forecast",
    "learning_curves",
    "old_pairs",
    "outlook",
    "pair_rows",
    "pairs_csv",
    "plan",
    "plan_dataset",
    "require_above_chance",
    "statement",
    "worth_of_answers",
]
