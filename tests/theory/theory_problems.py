"""Losses by their definition, and problems for the theory to judge."""

from __future__ import annotations

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

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
