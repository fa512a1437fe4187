"""How many more answers a target takes: the asking is gone through with answers from the model.

Classes are drawn from the beliefs, the next pairs are chosen as they will be, answers to them drawn
from the noise, and belief propagation says what would then be believed; and so on, until so few
items are expected to be wrong as the target allows. P(class | x) stays what it is.
"""

from __future__ import annotations

import numpy as np

from noisypairs.algebra import Array
from noisypairs.inference.graph import PairGraph
from noisypairs.inference.propagation import propagate
from noisypairs.joint.choices import SWEEPS
from noisypairs.joint.em import Fit
from noisypairs.joint.intervals import draw_classes
from noisypairs.joint.next_pairs import choose_pairs
from noisypairs.joint.problem import Problem
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Pairs

#: Answers of a batch, per item and at most; batches that are gone through. What is left then is
#: taken to go on as in the second half of these.
BATCH_PER_ITEM, LARGEST_BATCH, N_BATCHES = 0.25, 2_500, 16
#: The mean over so many runs, or over one of more than so many items.
N_RUNS, FEW_ITEMS = 3, 1_000


def answers_left(problem: Problem, found: Fit, noise: NoiseModel, share_left: float) -> int | None:
    """Return after how many answers only a share of today's errors is left, None if never.

    ``found`` is what is believed of the items; errors are counted as it expects them, Σ 1 − max b,
    and ``share_left`` is in (0, 1).
    """
    n_runs = N_RUNS if problem.pairs.n_items <= FEW_ITEMS else 1
    rng = np.random.default_rng(problem.seed)
    runs = [_one_run(problem, found, noise, share_left, rng) for _ in range(n_runs)]
    return None if np.inf in runs else int(np.ceil(np.mean(runs)))


def _one_run(
    problem: Problem,
    found: Fit,
    noise: NoiseModel,
    share_left: float,
    rng: np.random.Generator,
) -> float:
    """Return the number of answers in one run through the asking, infinite if never enough."""
    belief, log_phi = found.item_proba, np.log(found.phi)
    S = noise.same_probability(belief.shape[1])
    truth, old = draw_classes(belief, rng), problem.pairs
    pairs = Pairs(old.left, old.right, old.same, old.n_items, weight=old.weights)
    size = int(np.clip(BATCH_PER_ITEM * len(belief), 10, LARGEST_BATCH))
    asked, wrong = [0], [_wrong(belief)]
    for _ in range(N_BATCHES):
        ask = choose_pairs(belief, S, size, asked=(pairs.left, pairs.right), random_state=rng)
        if not len(ask):
            return np.inf  # every pair was asked
        same = rng.random(len(ask)) < S[truth[ask.left], truth[ask.right]]
        pairs = pairs.with_answers(ask.left, ask.right, same, weight=np.ones(len(ask)))
        graph = PairGraph.from_pairs(pairs)
        belief = propagate(graph, log_phi, S, tol=1e-3, max_iter=SWEEPS, clamp=problem.clamp).item
        asked.append(asked[-1] + len(ask))
        wrong.append(_wrong(belief))
        if wrong[-1] <= share_left * wrong[0]:
            return float(np.interp(-share_left * wrong[0], -np.array(wrong[-2:]), asked[-2:]))
    half = len(asked) // 2
    rate = np.log(wrong[half] / wrong[-1]) / (asked[-1] - asked[half])
    more = np.log(wrong[-1] / (share_left * wrong[0])) / rate if rate > 0 else np.inf
    return float(asked[-1] + more)


def _wrong(belief: Array) -> float:
    """Return the share of the items that are expected not to have their likeliest class."""
    return float(1.0 - belief.max(axis=1).mean())
