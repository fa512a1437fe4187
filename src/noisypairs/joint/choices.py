"""Every number that decides something statistical on the way of a joint fit, in one place.

docs/choices.md has a row for each: what it is, and what half and twice its value change on the
traps and on the paper's tables (printed by benchmarks/ablation.py).
"""

from __future__ import annotations

from typing import Literal

#: No P(class | x) is more certain than this: a classifier alone never outweighs all answers.
CERTAIN = 1e-3
#: Rounds of EM from one start; mean change of a belief, and gain of a new table as a share of
#: the sampling error of the likelihood, at which it has converged.
ROUNDS, TOLERANCE, NEGLIGIBLE = 30, 1e-3, 1e-2
#: Sweeps of belief propagation in one round.
SWEEPS = 3
#: Rounds after which the worse half of the starts is dropped.
HALVING_ROUNDS = 2
#: Share of the answers that is held out, as one fold of this number.
N_FOLDS = 5
#: More folds are held out until this many answers, or items, were predicted.
ENOUGH_HELD_OUT = 2_000
#: A simpler model is kept unless another one predicts better by more standard errors than this.
ONE_ERROR = 1.0
#: Standard errors by which a simpler model must be worse to be given up before all is compared.
SURE = 3.0
#: Gain over blind guessing, in standard errors of a difference, from which simpler class models are
#: in question: where evidence is weak they win by predicting nothing.
PLAIN = 10.0
#: Share of what known classes would gain that may be missing where answers alone tell two classes.
UNEXPLAINED = 0.1
#: A fit is crossed with other starts until this many in a row did not explain the answers better.
ENOUGH_CROSSED = 2
#: Part of an average class that a crossing must move, so that it may lead elsewhere.
PART_OF_CLASS = 0.25
#: Precision of the ridge regression's coefficients.
RIDGE_PENALTY = 1.0
#: Added to each variance within classes, as a share of their mean.
WITHIN_SMOOTHING = 0.01
#: Variance of the normal prior on slope and class weights of a calibration.
CALIBRATION_VARIANCE = 0.5
#: Candidates are compared on fold after fold until this many items were tested.
ENOUGH_TESTED = 1_000
#: Rounds with the estimator that was chosen, and their tolerance, also of passes over a table.
LAST_ROUNDS, LAST_TOLERANCE = 10, 5e-3
#: Standard deviations beyond permuted answers from which features or graph show classes at all,
#: and below which little is to be expected.
DETECTED, CLEARLY_DETECTED = 2.5, 6.0
#: Answers by which a warm fit may grow, as a multiple, before everything is searched again.
SEARCH_AGAIN = 1.5
#: Penalty of the directions along which answers follow features: the number of items over this.
ALIGNMENT = 30.0
#: How certain a guess is of the class that it names.
CERTAINTY = 0.8

# Limits of time and memory: more data would cost more, and decide the same.

#: Items on which a calibration is fitted, and from which candidate estimators learn, at most.
CALIBRATION_ITEMS, RACE_ITEMS = 5_000, 4_000
#: Pairs on which the model is chosen, at most; the last rounds see all of them.
SEARCH_PAIRS = 2_000_000


#: Parts of the answer model.
PartName = Literal["people", "clarity", "similarity", "pair error"]
