"""How many more pairs to ask, and which: planning from noisy answers alone."""

from noisypairs.app.plan.choice import Worth, old_pairs, worth_of_answers
from noisypairs.app.plan.curve import LearningCurve, learning_curves
from noisypairs.app.plan.forecast import Forecast, Need, forecast
from noisypairs.app.plan.goal import Goal, Plan, plan, plan_dataset
from noisypairs.app.plan.score import score_predictions

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
    "score_predictions",
    "worth_of_answers",
]
