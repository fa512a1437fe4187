"""Figures 2 and 3 in numbers, and what the weak priors of the tuning change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, stdev

from noisypairs.experiments.grids import FIGURE3_ROWS, TUNED
from noisypairs.experiments.paper import FIGURE2, FIGURE3_CLEAN, ROWS
from noisypairs.experiments.records import Record
from noisypairs.experiments.spec import COLUMNS, Spec
from noisypairs.experiments.tables import Records, by_setting, summary

#: A table as text: its headings, and its rows.
Lines = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]


def figure2(records: Records) -> Lines:
    """Return headings and rows of Figure 2: mean, standard error and range over the draws."""
    rows = []
    for (family, method), published in FIGURE2.items():
        mine = [
            record
            for spec, record in records.items()
            if (spec.dataset, spec.family, spec.method) == ("gaussians", family, method)
        ]
        found = summary(mine)
        if found is not None:
            error = f" ± {found.error:.2f}" if found.repeats > 1 else ""
            accuracy = [100.0 * record.accuracy for record in mine]
            least, most = f"{min(accuracy):.2f}", f"{max(accuracy):.2f}"
            texts = (f"{found.mean:.2f}{error}", least, most, str(found.repeats), f"{published:g}")
            rows.append((family, COLUMNS[method], *texts))
    return ("noise", "method", "mean", "least", "most", "draws", "published"), tuple(rows)


def figure3(records: Records) -> Lines:
    """Return headings and rows of Figure 3: accuracy at every rate and number of pairs."""
    found = {
        spec: summary(mine)
        for spec, mine in by_setting(records).items()
        if (spec.dataset, spec.rows) == ("banana", FIGURE3_ROWS)
    }
    shown = ("pn", "t-loss", "weighted", "joint")
    rows = []
    for setting in sorted({_figure3_setting(spec) for spec in found}):
        cells = {s.method: c for s, c in found.items() if _figure3_setting(s) == setting}
        texts = [c.ours() if (c := cells.get(m)) is not None else "–" for m in shown]
        if "pn" in cells:
            texts[0] += f" (published {FIGURE3_CLEAN:g})"
        rows.append((setting[0], f"{setting[1]:g}", f"{setting[2]:g}", *texts))
    return ("noise", "rate", "pairs per item", *(COLUMNS[m] for m in shown)), tuple(rows)


def _figure3_setting(spec: Spec) -> tuple[str, float, float]:
    return spec.family, spec.rates[0], spec.density


def flat_priors(records: Records) -> Lines:
    """Return headings and rows: the tuned columns with the weak priors, and with flat ones.

    Both are means over the splits that were run with flat priors; the difference is paired.
    """
    found = by_setting({s: r for s, r in records.items() if s.flat_priors})
    densities = sorted({spec.density for spec in found}, reverse=True)
    rows = []
    for density in densities:
        for row in ROWS:
            setting = (density, row.dataset, row.rates)
            mine = {
                s.method: r for s, r in found.items() if (s.density, s.dataset, s.rates) == setting
            }
            if mine:
                cells = [_flat_against_weak(mine.get(m, ()), records) for m in TUNED]
                moved = _largest_move(mine.get("weighted", ()), records)
                rates = f"({row.rates[0]:g}, {row.rates[1]:g})"
                rows.append((f"{density:g}", row.dataset, rates, *cells, moved))
    names = (COLUMNS[m] for m in TUNED)
    return ("pairs per item", "data set", "rates", *names, "α moved by at most"), tuple(rows)


def _flat_against_weak(flat: Sequence[Record], records: Records) -> str:
    """Return "weak → flat (difference ± s.e.)" of one column over the splits that both have."""
    pairs = _pairs(flat, records)
    if not pairs:
        return "–"
    gains = [100.0 * (after.accuracy - before.accuracy) for before, after in pairs]
    error = f" ± {stdev(gains) / math.sqrt(len(gains)):.1f}" if len(gains) > 1 else ""
    before, after = (_short(side) for side in zip(*pairs, strict=True))
    return f"{before} → {after} ({fmean(gains):+.1f}{error})"


def _largest_move(flat: Sequence[Record], records: Records) -> str:
    """Return by how much α of any split moved when the priors became flat."""
    moves = [
        abs(after.details["alpha"] - before.details["alpha"])
        for before, after in _pairs(flat, records)
        if "alpha" in after.details and "alpha" in before.details
    ]
    return f"{max(moves):.1g}" if moves else "–"


def _pairs(flat: Sequence[Record], records: Records) -> list[tuple[Record, Record]]:
    """Return (with weak priors, with flat priors) of the splits that have both."""
    weak = [(records.get(replace(record.spec, flat_priors=False)), record) for record in flat]
    return [(before, after) for before, after in weak if before is not None]


def _short(found: Sequence[Record]) -> str:
    refused = sum(record.refused is not None for record in found)
    mean = 100.0 * fmean(record.accuracy for record in found)
    return f"{mean:.1f}" + (f" [{refused} refused]" if refused else "")
