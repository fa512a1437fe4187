"""Models that ``noisypairs fit`` wrote, in Python: `load` runs no code of the file."""

from noisypairs.app.model_file import Model, inspect, load

__all__ = ["Model", "inspect", "load"]
