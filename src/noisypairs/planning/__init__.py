"""How many more pairs to ask, and which: planning from noisy answers alone."""

from noisypairs.planning.choice import Candidates, Worth, candidates, worth_of_answers
from noisypairs.planning.curve import LearningCurve, learning_curves
from noisypairs.planning.forecast import Forecast, Need, forecast
from noisypairs.planning.goal import Goal, Plan, plan
from noisypairs.planning.information import pair_information
from noisypairs.planning.score import score_predictions

__all__ = [
    "Candidates",
    "Forecast",
    "Goal",
    "LearningCurve",
    "Need",
    "Plan",
    "Worth",
    "candidates",
    "forecast",
    "learning_curves",
    "pair_information",
    "plan",
    "score_predictions",
    "worth_of_answers",
]
