"""The order of the gallery's examples, and which of them are quick."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

#: Every example by its name after ``plot_``: from one item to a million answers.
EXAMPLES = (
    "threshold",
    "transpose",
    "prior_half",
    "density",
    "noise_curve",
    "estimators",
    "network",
    "digits",
    "classes",
    "annotators",
    "people",
    "suspects",
    "calibration",
    "planning",
    "active",
    "judges",
    "tickets",
    "photos",
    "sounds",
    "million",
    "figure2",
)
#: Run in CI, too.
QUICK = ("threshold", "transpose", "digits")
_FILTERS = list(warnings.filters)


def order(file_name: str) -> int:
    """Return where an example stands; one that is not listed is an error.

    >>> order("plot_transpose.py")
    1
    """
    return EXAMPLES.index(Path(file_name).stem.removeprefix("plot_"))


def reset_warnings(_gallery_conf: dict[str, Any], _file_name: str) -> None:
    """Let an example change the warning filters for itself alone."""
    warnings.filters[:] = _FILTERS
