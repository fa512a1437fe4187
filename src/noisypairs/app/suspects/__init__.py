"""Answers that are probably wrong: which, how surely, about what, by whom, and why."""

from noisypairs.app.suspects.finding import (
    model_suspects,
    of_files,
    training_suspects,
    wrong_probability,
)
from noisypairs.app.suspects.reasons import REASONS, Clue, Reason
from noisypairs.app.suspects.suspect import MOST_SHOWN, SuspectPair, Suspects, cells_of, items_of

__all__ = [
    "MOST_SHOWN",
    "REASONS",
    "Clue",
    "Reason",
    "SuspectPair",
    "Suspects",
    "cells_of",
    "items_of",
    "model_suspects",
    "of_files",
    "training_suspects",
    "wrong_probability",
]
