"""How many more pairs to ask, and which: planning from noisy answers alone."""

from noisypairs.app.plan.choice import Worth, old_pairs, worth_of_answers
from noisypairs.app.plan.curve import LearningCurve, learning_curves
from noisypairs.app.plan.forecast import Forecast, Need, forecast
from noisypairs.app.plan.goal import Goal, Plan, plan, plan_dataset

__all__ = [
    "Forecast",
    "Goal",
    "LearningCurve",
    "Need",
    "Plan",
    "Worth",
    "forecast",
    "learning_curves",
    "old_pairs",
    "plan",
    "plan_dataset",
    "worth_of_answers",
]
