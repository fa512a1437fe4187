"""How many pairs a method needs to come near to what the true classes give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from noisypairs.experiments.grids import EFFICIENCY_RATES, EFFICIENCY_ROWS
from noisypairs.experiments.records import Record
from noisypairs.experiments.spec import COLUMNS
from noisypairs.experiments.tables import Cell, Records, by_setting, summary

#: How near to the true classes a method must come, in points.
NEAR_CLEAN = 2.0


def efficiency_curves(records: Records) -> dict[str, dict[str, list[tuple[float, Cell]]]]:
    """Return {data set: {method: [(pairs per item, accuracy), …]}} of ``efficiency``.

    best P-N has one point, at density 0; methods that no noise can change stand there too.
    """
    curves: dict[str, dict[str, list[tuple[float, Cell]]]] = {}
    for spec, found in sorted(by_setting(_efficiency(records)).items()):
        if (mean := summary(found)) is not None:
            points = curves.setdefault(spec.dataset, {}).setdefault(spec.method, [])
            points.append((spec.density, mean))
    return curves


def pairs_needed(records: Records) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headings and rows: pairs per item from which a method stays near the true labels.

    Joint is held against the estimator that it chose, trained on the true classes of the same
    split, and every other method against best P-N. The last column is the accuracy of Joint's
    estimator on the true classes at the largest density.
    """
    gaps: dict[str, dict[str, list[tuple[float, float]]]] = {}
    own: dict[str, Cell | None] = {}
    for spec, found in sorted(by_setting(_efficiency(records)).items()):
        pairs = [(r, _reference(r, records)) for r in found]
        known = [100.0 * (ideal - r.accuracy) for r, ideal in pairs if ideal is not None]
        if known:
            methods = gaps.setdefault(spec.dataset, {})
            methods.setdefault(spec.method, []).append((spec.density, fmean(known)))
        if spec.method == "joint":
            ideals = [replace(r, accuracy=r.details.get("true_labels", math.nan)) for r in found]
            own[spec.dataset] = summary(r for r in ideals if not math.isnan(r.accuracy))
    curves, shown = efficiency_curves(records), [m for m in COLUMNS if m != "pn"]
    rows = []
    for dataset, methods in gaps.items():
        ideal = own.get(dataset)
        texts = [_first_near(methods.get(method, [])) for method in shown]
        clean = curves[dataset]["pn"][0][1].ours() if "pn" in curves[dataset] else "–"
        rows.append((dataset, clean, *texts, ideal.ours() if ideal else "–"))
    names = [COLUMNS[method] for method in shown]
    headings = ("data set", COLUMNS["pn"], *names, "Joint's estimator, true classes")
    return headings, tuple(rows)


def _efficiency(records: Records) -> Records:
    """Return the records of ``efficiency``."""
    return {
        spec: record
        for spec, record in records.items()
        if (spec.model, spec.rows) == ("kernel", EFFICIENCY_ROWS)
        and spec.rates in (EFFICIENCY_RATES, (0.0, 0.0))
    }


def _reference(record: Record, records: Records) -> float | None:
    """Return the accuracy on the true classes that a record is held against, None if unknown."""
    own = record.details.get("true_labels")
    if own is not None:
        return float(own)
    spec = replace(record.spec, method="pn", density=0.0, family="clean", rates=(0.0, 0.0))
    return records[spec].accuracy if spec in records else None


def _first_near(gaps: Sequence[tuple[float, float]]) -> str:
    """Return the density from which on no gap is above the limit; "> 50" if the last one is."""
    if not gaps:
        return "–"
    needed = None
    for density, gap in sorted(gaps, reverse=True):
        if gap > NEAR_CLEAN:
            break
        needed = density
    return f"> {max(gaps)[0]:g}" if needed is None else f"{needed:g}"
