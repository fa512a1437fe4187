"""The published numbers are those of the paper, read from its source."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from noisypairs.experiments.paper import FIGURE2, ROWS


def paper_text() -> str:
    folder = os.environ.get("NOISYPAIRS_DATA", "")
    path = Path(folder).parent / "paper.tex"
    if not folder or not path.is_file():
        pytest.skip("paper.tex does not lie beside the folder NOISYPAIRS_DATA")
    return path.read_text(encoding="utf-8")


def printed_rows(text: str) -> dict[tuple[str, tuple[float, float]], list[float]]:
    """Read the two tables cell by cell, independently of how `paper` is laid out."""
    found = {}
    for name, block in re.findall(r"\\textsc\{(\w+)\}\s*\\\\\s*\((.*?)\\hline", text, re.DOTALL):
        columns = []
        for column in re.findall(r"\\makecell\{(.*?)\}\s*(?:&|\\\\)\s*\n", block, re.DOTALL):
            column = re.sub(r"\\textbf\{([\d.]+)\}", r"\1", column)
            columns.append([entry.strip(" $\n") for entry in column.split(r"\\")])
        columns = columns[-9:] if len(columns) > 9 else columns
        pn, clean, rates, *rest = columns
        for i, rate in enumerate(rates):
            pair = tuple(float(word) for word in rate.strip("()").split(","))
            values = [pn[0], clean[0], *(c[i if len(c) > 1 else 0] for c in rest)]
            found[name, pair] = [float(value) for value in values]
    return found


def test_published_numbers_are_those_of_the_paper() -> None:
    printed = printed_rows(paper_text())
    order = ("pn", "sd-clean", "t-loss", "sd-loss", "weighted", "unweighted", "km", "km-cop")
    assert len(printed) == len(ROWS) == 18
    for row in ROWS:
        assert [row.published[m] for m in order] == printed[row.dataset, row.rates], row


def test_the_captions_of_figure_2_are_those_of_the_paper() -> None:
    captions = re.findall(r"(Weighted Classification|Loss Correction): \$([\d.]+)", paper_text())
    names = {"Weighted Classification": "weighted", "Loss Correction": "t-loss"}
    printed = [(names[name], float(value)) for name, value in captions]
    assert printed == [(method, value) for (_, method), value in FIGURE2.items()]
