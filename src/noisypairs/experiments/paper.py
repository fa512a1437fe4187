"""The numbers the paper prints in Tables 1 and 2, and in the captions of its figures.

Accuracies in percent, as printed. best P-N, clean S-D and KM are one number per data set.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

Family = Literal["clean", "pairing", "labeling"]


@dataclass(frozen=True)
class Row:
    """One row of Table 1 or 2: a data set at two rates, and the published accuracy by method."""

    dataset: str
    family: Family
    rates: tuple[float, float]
    published: dict[str, float]

    @property
    def table(self) -> int:
        """The number of its table."""
        return 1 if self.family == "pairing" else 2


def _rows() -> tuple[Row, ...]:
    text = (files("noisypairs.experiments") / "paper.csv").read_text(encoding="utf-8")
    rows: list[Any] = list(csv.DictReader(text.splitlines()))
    return tuple(
        Row(
            row.pop("dataset"),
            row.pop("family"),
            (float(row.pop("rate_1")), float(row.pop("rate_2"))),
            {method: float(value) for method, value in row.items()},
        )
        for row in rows
    )


ROWS = _rows()

#: Figure 2: accuracy by noise family and method, one run on 3,000 test points.
FIGURE2 = {
    ("clean", "weighted"): 99.8,
    ("clean", "t-loss"): 99.8,
    ("pairing", "weighted"): 99.73,
    ("pairing", "t-loss"): 99.73,
    ("labeling", "weighted"): 99.67,
    ("labeling", "t-loss"): 99.67,
}
#: Figure 3: banana, trained on the true classes. Its curves are not given in numbers.
FIGURE3_CLEAN = 90.8
