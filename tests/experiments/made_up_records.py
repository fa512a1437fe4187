"""A small spec and made-up records of it."""

from __future__ import annotations

from noisypairs.experiments import Spec
from noisypairs.experiments.records import Record

CANCER = Spec("cancer", "pairing", (0.1, 0.2), "km", 2.0, 0, "kernel")
SETUP = {"decides": {"seed": 0}, "data": {"cancer": {"sha256": {"file": "abc"}}}}


def record(spec: Spec, accuracy: float, refused: str | None = None) -> Record:
    return Record(spec, accuracy, "matched", refused, 0.5, {"n_pairs": 7})
