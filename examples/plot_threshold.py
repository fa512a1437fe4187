r"""
Two Gaussians and the threshold
===============================

Two items are drawn at random and an annotator says whether they are of the same class. What does
one such answer say about the first item alone? With a = P("same" | class 1) and b = P("same" |
class 0),

.. math:: P(\text{same} \mid x) = b + (a - b) \, P(\text{class 1} \mid x),

a straight line in P(class 1 | x). So P("same" | x) orders the items correctly (or the wrong way
round, where a < b), but the place at which to cut is not ½: it is b + (a − b)/2, and noise moves
it. A learner that ignores the noise cuts at ½ and gets the items between the two cuts wrong.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from noisypairs import PairingNoise, algebra, theory

PRIOR = 0.3
NOISE = PairingNoise(similar_flip=0.1, dissimilar_flip=0.3)

# %%
# Two overlapping classes on a line, N(−1, 1) and N(1, 1), 30 % of the items in the second one.
x = np.linspace(-4, 4, 401)
density = np.column_stack([(1 - PRIOR) * norm.pdf(x, -1), PRIOR * norm.pdf(x, 1)])
eta = density[:, 1] / density.sum(axis=1)

# %%
# What the answers show of each item, and where the two rules cut. ``algebra.threshold`` gives the
# value of P(class 1 | x) at which P("same" | x) is ½: the cut of a learner that ignores the noise.
S = NOISE.same_probability()
same = theory.noisy_posterior(NOISE, PRIOR, eta)
b, a = algebra.same_given_class(S, PRIOR)
naive = algebra.threshold(S, PRIOR)
right_cut = np.interp(0.5, eta, x)
naive_cut = np.interp(naive, eta, x) if 0 < naive < 1 else np.nan
print(f"a = {a:.2f}, b = {b:.2f}; cut P(same | x) at {b + (a - b) / 2:.2f}, not at 0.50")
print(f"a cut at 0.50 is a cut of P(class 1 | x) at {naive:.2f}")

# %%
# Here a − b is negative: class 1 is the smaller one, so its items meet another class more often.
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(x, eta, color="#009e73", label="P(class 1 | x), unknown")
axes.plot(x, same, color="#0072b2", label='P("same" | x), seen in the answers')
axes.axhline(0.5, color="0.7", linewidth=0.8)
axes.axvline(right_cut, color="black", linewidth=1, label="right cut")
if np.isfinite(naive_cut):
    axes.axvline(naive_cut, color="#d55e00", linewidth=1, linestyle="--", label="cut at ½")
    axes.axvspan(*sorted((right_cut, naive_cut)), color="#d55e00", alpha=0.12)
axes.set(xlabel="x", ylabel="probability", ylim=(0, 1), title="Noise moves the threshold")
axes.legend(frameon=False, loc="center left")
plt.show()
