"""How answers go wrong: one class per noise model, each known by its matrix S."""

from noisypairs.noise.model import (
    CleanPairs,
    ComposedNoise,
    LabelingNoise,
    MatrixNoise,
    NoiseModel,
    PairingNoise,
    RandomState,
)

__all__ = [
    "CleanPairs",
    "ComposedNoise",
    "LabelingNoise",
    "MatrixNoise",
    "NoiseModel",
    "PairingNoise",
    "RandomState",
]
