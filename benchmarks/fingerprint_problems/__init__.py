"""The problems of `fingerprint.py`: every module adds its own to PROBLEMS."""

from . import commands, functions, joint, pointwise
from .problem import PROBLEMS

__all__ = ["PROBLEMS", "commands", "functions", "joint", "pointwise"]
