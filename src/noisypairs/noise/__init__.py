"""How answers go wrong: one class per noise model, each known by its matrix S.

A family is a model with a name, by which learners find it: see `families` and `NoiseModel`.
"""

from noisypairs.noise.answers import PARTS, AnswerModel, Part
from noisypairs.noise.clarity import Clarity
from noisypairs.noise.labeling import LabelingNoise
from noisypairs.noise.model import (
    CleanPairs,
    ComposedNoise,
    LevelNoise,
    MatrixNoise,
    NoiseModel,
    PairingNoise,
    RandomState,
    families,
    family,
)
from noisypairs.noise.pair_error import PairError
from noisypairs.noise.people import People
from noisypairs.noise.similarity import Similarity

__all__ = [
    "PARTS",
    "AnswerModel",
    "Clarity",
    "CleanPairs",
    "ComposedNoise",
    "LabelingNoise",
    "LevelNoise",
    "MatrixNoise",
    "NoiseModel",
    "PairError",
    "PairingNoise",
    "Part",
    "People",
    "RandomState",
    "Similarity",
    "families",
    "family",
]
