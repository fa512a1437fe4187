"""How answers go wrong: one class per noise model, each known by its matrix S.

A family is a model with a name, by which learners find it: see `families` and `NoiseModel`.
"""

from noisypairs.noise.labeling import LabelingNoise
from noisypairs.noise.model import (
    Fit,
    MatrixNoise,
    NoiseModel,
    RandomState,
    families,
    family,
    fixed,
    models,
)
from noisypairs.noise.pairing import CleanPairs, ComposedNoise, PairingNoise

__all__ = [
    "CleanPairs",
    "ComposedNoise",
    "Fit",
    "LabelingNoise",
    "MatrixNoise",
    "NoiseModel",
    "PairingNoise",
    "RandomState",
    "families",
    "family",
    "fixed",
    "models",
]
