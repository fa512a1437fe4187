"""Losses by their definition, problems for the theory, and an exact tail probability."""

from __future__ import annotations

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from scipy.stats import binom

from noisypairs import algebra
from noisypairs.noise import LabelingNoise, NoiseModel, PairingNoise

MARGIN_LOSSES = {
    "hinge": lambda t: np.maximum(0.0, 1.0 - t),
    "squared": lambda t: (1.0 - t) ** 2,
    "logistic": lambda t: np.logaddexp(0.0, -t),
}


@st.composite
def problems(draw: st.DrawFn) -> tuple[NoiseModel, float]:
    """Draw a noise model and a prior with a signal that floating point can see."""
    first = draw(st.floats(0.0, 0.9))
    second = draw(st.floats(0.0, 0.95 - first if first < 0.95 else 0.0))
    noise = draw(st.sampled_from([PairingNoise, LabelingNoise]))(first, second)
    prior = draw(st.floats(0.02, 0.98))
    assume(abs(algebra.signal(noise.same_probability(), prior)) > 1e-3)
    return noise, prior


def tail_of_one_classifier(noise: NoiseModel, prior: float, n: int, bound: float) -> float:
    """Return P(|R̂ − R| > bound) exactly for a constant classifier with l(+1) = 1, l(−1) = 0.

    The corrected loss of a pair is C[Q, +], so R̂ depends on the binomial number of "same" only,
    and R is the prior.
    """
    C = noise.corrected_coefficients(prior)
    same = np.arange(n + 1)
    risk = (same * C[0, 0] + (n - same) * C[1, 0]) / n
    chance = binom.pmf(same, n, algebra.same_rate(noise.same_probability(), prior))
    return float(chance[np.abs(risk - prior) > bound].sum())
