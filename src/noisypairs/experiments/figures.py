"""The figures, drawn from records: Figure 2, Figure 3, and accuracy against pairs per item."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from noisypairs.app.report.picture import INK, SERIES, SOFT, drawn
from noisypairs.experiments.efficiency import efficiency_curves
from noisypairs.experiments.grids import (
    EFFICIENCY_DENSITIES,
    FIGURE3_CURVES,
    FIGURE3_DENSITIES,
    FIGURE3_DENSITY,
    FIGURE3_ROWS,
)
from noisypairs.experiments.paper import FIGURE3_CLEAN
from noisypairs.experiments.problem import Problem, make_problem
from noisypairs.experiments.records import Record
from noisypairs.experiments.spec import COLUMNS, Spec
from noisypairs.experiments.tables import Cell, Line, Records, by_setting, summary

#: Points of a cloud that are drawn; all of them would make a file of megabytes.
SHOWN = 150
MARKERS = "osD^vPX*"


def panels(
    rows: int, columns: int, draw: Callable[[Any], None], height: float = 2.4, width: float = 2.5
) -> str:
    """Return the SVG of a grid of panels; ``draw`` gets their axes, shape (rows, columns)."""

    def replace_axes(axes: Any) -> None:
        figure = axes.figure
        axes.remove()
        draw(figure.subplots(rows, columns, squeeze=False))

    return drawn(replace_axes, width * columns, height * rows)


def figure2(records: Records) -> str | None:
    """Return the two Gaussians: items, test items and answers above, noise below, with the rules.

    The clouds are drawn again from the first seed; rules and accuracies come from its records.
    """
    mine = {spec: r for spec, r in records.items() if spec.dataset == "gaussians"}
    if not mine:
        return None
    seed = min(spec.seed for spec in mine)
    found = {(str(s.family), s.method): r for s, r in mine.items() if s.seed == seed}
    problems = {family: make_problem(r.spec) for (family, _), r in found.items()}

    def draw(axes: Any) -> None:
        first = next(iter(problems.values()))
        _classes(axes[0, 0], first.X, first.y, "items")
        _classes(axes[0, 1], first.X_test, first.y_test, "3,000 test items")
        row = [(0, 2, "clean"), (1, 0, "pairing"), (1, 3, "labeling")]
        for i, start, family in row:
            if family in problems:
                _answers(axes[i, start], problems[family], f"answers, {_title(family)}")
            for k, method in enumerate(("weighted", "t-loss"), start=1):
                _rule(axes[i, start + k], first, found.get((family, method)), COLUMNS[method])
        axes[0, 5].set_axis_off()
        for panel in axes.flat:
            panel.set(xticks=[], yticks=[], xlim=(-6, 6), ylim=(-6, 6))
            panel.grid(False)

    return panels(2, 6, draw)


def _title(family: str) -> str:
    return "no noise" if family == "clean" else f"{family} noise .4"


def _classes(axes: Any, X: Any, y: Any, title: str) -> None:
    for value, color in ((0, SERIES[0]), (1, SERIES[1])):
        cloud = X[:SHOWN][y[:SHOWN] == value]
        axes.plot(*cloud.T, ".", color=color, markersize=2.5)
    axes.set_title(title, fontsize=9)


def _answers(axes: Any, problem: Problem, title: str) -> None:
    """Draw items in the colour of the answer they were given: an S or a D point."""
    for same, color in ((True, SERIES[2]), (False, SERIES[3])):
        items = problem.pairs.left[:SHOWN][problem.pairs.same[:SHOWN] == same]
        axes.plot(*problem.X[items].T, ".", color=color, markersize=2.5)
    axes.set_title(title, fontsize=9)


def _rule(axes: Any, problem: Problem, record: Record | None, method: str) -> None:
    if record is None:
        axes.set_axis_off()
        return
    _classes(axes, problem.X_test, problem.y_test, f"{method}: {record.accuracy:.2%}")
    if "line" in record.details:
        slope_x, slope_y, intercept = record.details["line"]
        grid = np.linspace(-6, 6, 2)
        if abs(slope_y) > abs(slope_x) * 1e-9:
            axes.plot(grid, -(slope_x * grid + intercept) / slope_y, color=INK)


def figure3(records: Records) -> str | None:
    """Return banana: accuracy against the rate and against the number of pairs, both models."""
    found = by_setting(records)
    mine = {s: found[s] for s in found if (s.dataset, s.rows) == ("banana", FIGURE3_ROWS)}
    if not mine:
        return None
    clean = summary(r for s, found in mine.items() if s.method == "pn" for r in found)

    def draw(axes: Any) -> None:
        for panel, family in zip(axes[0], ("pairing", "labeling"), strict=True):
            for k, method in enumerate(("t-loss", "weighted", "joint")):
                points = _points(
                    mine, family, method, lambda s: s.rates[0], density=FIGURE3_DENSITY
                )
                _curve(panel, points, k, COLUMNS[method])
            panel.set(title=f"{family} noise", xlabel="noise rate")
        for panel, family in zip(axes[1], ("pairing", "labeling"), strict=True):
            for k, rate in enumerate(FIGURE3_CURVES):
                for method, style in (("weighted", "-"), ("joint", ":")):
                    points = _points(mine, family, method, lambda s: s.density, rate=rate)
                    _curve(panel, points, k, f"{COLUMNS[method]} {rate:g}", style)
            panel.set(title=f"{family} noise", xlabel="pairs per item")
            _logarithmic(panel, FIGURE3_DENSITIES)
        for panel in axes.flat:
            if clean is not None:
                panel.axhline(clean.mean, color=SOFT, linestyle="--", linewidth=1, label="clean")
            panel.axhline(
                FIGURE3_CLEAN, color=SOFT, linestyle="-.", linewidth=1, label="clean, published"
            )
            panel.set_ylim(50, 95)
        for row in axes:
            row[0].set_ylabel("test accuracy, %")
            if row[0].get_legend_handles_labels()[1]:  # a run may be half done
                row[1].legend(
                    *row[0].get_legend_handles_labels(),
                    fontsize=7,
                    loc="center left",
                    bbox_to_anchor=(1.0, 0.5),
                )

    return panels(2, 2, draw, 2.2)


def beside(lines: Sequence[Line]) -> str | None:
    """Return ours and the published number, row by row of Tables 1 and 2."""
    if not lines:
        return None
    names = [f"{line.row.dataset} ({line.row.rates[0]:g}, {line.row.rates[1]:g})" for line in lines]
    height = np.arange(len(lines))[::-1]
    shown = (("t-loss", "s", SERIES[0]), ("weighted", "o", SERIES[1]), ("joint", "D", SERIES[2]))

    def draw(axes: Any) -> None:
        panel = axes[0, 0]
        for place, line in zip(height, lines, strict=True):
            if (best := line.cells.get("pn")) is not None:
                panel.plot([best.mean] * 2, place + np.array([-0.4, 0.4]), color=SOFT)
        for k, (method, marker, color) in enumerate(shown):
            cells = [line.cells.get(method) for line in lines]
            at = height + 0.2 * (1 - k)
            ours = [np.nan if one is None else one.mean for one in cells]
            printed = [np.nan if one is None else one.published or np.nan for one in cells]
            panel.hlines(at, ours, printed, color=color, linewidth=0.8)
            panel.plot(
                ours, at, marker, color=color, markersize=4, label=f"{COLUMNS[method]}, ours"
            )
            if not np.isnan(printed).all():
                kind = {"markerfacecolor": "none", "label": f"{COLUMNS[method]}, paper"}
                panel.plot(printed, at, marker, color=color, markersize=4, **kind)
        panel.set_yticks(height, labels=names, fontsize=8)
        panel.set(xlabel="test accuracy, %")
        panel.figure.legend(loc="outside lower center", ncols=3, fontsize=8)

    return panels(1, 1, draw, 1.2 + 0.3 * len(lines), 6.5)


def _logarithmic(axes: Any, ticks: Sequence[float]) -> None:
    """Give the axes a logarithmic scale with plain numbers at these places."""
    axes.set_xscale("log")
    axes.set_xticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def _points(
    mine: Mapping[Spec, Sequence[Record]],
    family: str,
    method: str,
    x: Callable[[Spec], float],
    *,
    rate: float | None = None,
    density: float | None = None,
) -> list[tuple[float, Cell]]:
    points = []
    for spec, found in mine.items():
        here = spec.family == family and spec.method == method
        if here and rate in (None, spec.rates[0]) and density in (None, spec.density):
            points.append((x(spec), summary(found)))
    return sorted(((place, mean) for place, mean in points if mean), key=lambda point: point[0])


def _curve(
    axes: Any, points: Sequence[tuple[float, Cell]], k: int, label: str, style: str = "-"
) -> None:
    """Draw means with their standard errors; nothing where there are no points."""
    if not points:
        return
    x = [place for place, _ in points]
    mean = np.array([found.mean for _, found in points])
    error = np.nan_to_num([found.error for _, found in points])
    color = SERIES[k % len(SERIES)]
    axes.vlines(x, mean - error, mean + error, color=color, linewidth=1)
    axes.plot(
        x, mean, style, marker=MARKERS[k % len(MARKERS)], color=color, label=label, markersize=3
    )


def efficiency(records: Records) -> str | None:
    """Return accuracy against pairs per item, one panel per data set."""
    curves = efficiency_curves(records)
    if not curves:
        return None

    def draw(axes: Any) -> None:
        for panel in axes.flat:
            panel.set_axis_off()
        for panel, (dataset, lines) in zip(axes.flat, curves.items(), strict=False):
            panel.set_axis_on()
            shown = [m for m in COLUMNS if m in lines and m not in ("pn", "t-loss-printed")]
            for k, method in enumerate(shown):
                _curve(panel, lines[method], k, COLUMNS[method], "-" if k < len(SERIES) else ":")
            if "pn" in lines:
                level = lines["pn"][0][1].mean
                panel.axhline(level, color=SOFT, linestyle="--", linewidth=1, label=COLUMNS["pn"])
            panel.set(title=dataset, xlabel="pairs per item")
            _logarithmic(panel, EFFICIENCY_DENSITIES)
        handles, labels = axes.flat[0].get_legend_handles_labels()
        axes.flat[0].figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8)

    rows = -(-len(curves) // 4)
    return panels(rows, min(4, len(curves)), draw, 2.8)
