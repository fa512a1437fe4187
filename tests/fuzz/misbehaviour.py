"""What a command must not do, done on purpose in its place."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.trial import DONE, Outcome


def misbehave(folder: Path, words: Sequence[str]) -> Outcome:
    """Do what the first word says."""
    match words[0]:
        case "hang":
            time.sleep(60)
        case "crash":
            os.abort()
        case "memory":
            try:
                bytearray(2**40)
            except MemoryError:
                return Outcome("memory")
    return Outcome(DONE)
