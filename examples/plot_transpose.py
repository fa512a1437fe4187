r"""
The transpose that makes the correction unbiased
================================================

The paper corrects a loss by the inverse of the matrix T that turns clean into noisy class
probabilities. T has columns that sum to one, P(answer | x) = T P(class | x), and then only the
inverse of its *transpose* is unbiased:

.. math:: \tilde{l} = T^{-\top} l.

The paper prints :math:`T^{-1}`. The two agree only where T is symmetric. Here both are used to
estimate the error of every possible cut on a line, from noisy pairs alone, and compared with the
true error of that cut.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from noisypairs import PairingNoise, reduction, sample_pairs

PRIOR = 0.3
NOISE = PairingNoise(similar_flip=0.1, dissimilar_flip=0.3)
rng = np.random.default_rng(0)

# %%
# 3,000 items of two classes on a line, and 60,000 answers, about a fifth of them wrong.
y = (rng.random(3_000) < PRIOR).astype(int)
x = np.where(y == 1, 1.0, -1.0) + rng.standard_normal(len(y))
pairs = sample_pairs(y, 60_000, NOISE, random_state=0)
counts = pairs.item_counts()

# %%
# The risk of a rule is a sum over items with weights u (for calling it class 1) and v (class 0);
# the weights come from how often the item was called "same" and "different", and the formula.
cuts = np.linspace(-3, 3, 121)


def estimated_error(formula):
    """Return the estimated share of wrong items for every cut: class 1 is right of it."""
    u, v = reduction.risk_weights(counts, NOISE.corrected_coefficients(PRIOR, formula))
    right = x[:, None] > cuts
    return (v[:, None] * right + u[:, None] * ~right).sum(axis=0) / counts.total.sum()


true = (1 - PRIOR) * norm.sf(cuts, -1) + PRIOR * norm.cdf(cuts, 1)
unbiased, printed = estimated_error("unbiased"), estimated_error("printed")
best = {
    name: cuts[np.argmin(risk)]
    for name, risk in (("true error", true), ("transposed", unbiased), ("printed", printed))
}
print({name: f"{cut:.2f}" for name, cut in best.items()})

# %%
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(cuts, true, color="black", label="true error")
axes.plot(cuts, unbiased, color="#0072b2", linestyle="--", label=r"estimated with $T^{-\top}$")
axes.plot(cuts, printed, color="#d55e00", linestyle="--", label=r"estimated with $T^{-1}$, printed")
for name, colour in (("true error", "black"), ("transposed", "#0072b2"), ("printed", "#d55e00")):
    axes.axvline(best[name], color=colour, linewidth=0.8, alpha=0.6)
axes.axhline(0, color="0.8", linewidth=0.8)
axes.set(
    xlabel="cut: items to its right are called class 1",
    ylabel="share of wrong items",
    title="Only the transpose estimates the error; thin lines mark each minimum",
)
axes.legend(frameon=False)
plt.show()
