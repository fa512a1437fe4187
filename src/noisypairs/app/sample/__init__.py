"""``noisypairs sample``: a small invented shop of pottery, and what twenty people said about it."""

from noisypairs.app.sample.files import FILES, PICTURES, sample_files

__all__ = ["FILES", "PICTURES", "sample_files"]
