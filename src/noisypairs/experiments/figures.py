"""The figures: the two noise models, and from records Figures 2 and 3, the pairs needed, ours.

Figure 1 shows every way from the true classes of a pair to the answer; nothing is run for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from noisypairs import theory
from noisypairs.app.report.picture import INK, SERIES, SOFT, drawn
from noisypairs.experiments.paper import FIGURE3_CLEAN
from noisypairs.experiments.problem import Problem, make_problem
from noisypairs.experiments.spec import (
    COLUMNS,
    EFFICIENCY_DENSITIES,
    FIGURE3_CURVES,
    FIGURE3_DENSITIES,
    FIGURE3_DENSITY,
)
from noisypairs.experiments.tables import Line, efficiency_runs, figure3_runs

#: Figure 1: P(class 1), and both rates of both models, (ρ_S, ρ_D) and (ρ₊, ρ₋).
PRIOR, RATES = 0.35, (0.1, 0.2)
#: … and the width in points of a line that carries all pairs.
WIDEST = 26.0
_PAIRS = ((1, 1), (0, 0), (1, 0), (0, 1))
_ANSWERS = {True: ("same", 2.5), False: ("different", 0.5)}
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


def figure1() -> str:
    """Return the two noise models: widths are probabilities, orange leads to a wrong answer."""
    first, second = (f"{rate:g}" for rate in RATES)

    def draw(axes: Any) -> None:
        _draw_outcomes(
            axes[0, 0],
            list(theory.outcomes(PRIOR, pairing=RATES)),
            "pairing noise: the comparison goes wrong",
            f"same is called different with ρ_S = {first},\n"
            f"different is called same with ρ_D = {second}",
        )
        _draw_outcomes(
            axes[0, 1],
            list(theory.outcomes(PRIOR, labeling=RATES)),
            "labeling noise: the reports are wrong",
            f"+ reports − with ρ₊ = {first}, − reports + with ρ₋ = {second},\n"
            "each item for itself; the comparison is right",
        )

    return panels(1, 2, draw, 3.9, 4.8)


def _draw_outcomes(axes: Any, found: list[theory.Outcome], title: str, note: str) -> None:
    """Draw all outcomes in three columns: true classes, reported classes, answers."""
    height = {pair: 3.0 - k for k, pair in enumerate(_PAIRS)}
    height |= {same: place for same, (_, place) in _ANSWERS.items()}  # type: ignore[misc]
    for x, ends in enumerate((("classes", "reports"), ("reports", "same"))):
        chances: dict[Any, float] = {}
        for outcome in found:
            key = (*(getattr(outcome, end) for end in ends), outcome.wrong)
            chances[key] = chances.get(key, 0.0) + outcome.probability
        # Lines to a wrong answer last, on top of the others; all clear of the words.
        x0, x1 = x + (0.19 if x else 0.04), x + (0.96 if x else 0.81)
        for (start, end, wrong), chance in sorted(chances.items(), key=lambda o: (o[0][2], -o[1])):
            axes.plot(
                [x0, x1],
                [height[start], height[end]],
                color=SERIES[1] if wrong else SERIES[0],
                linewidth=max(0.6, WIDEST * chance),
                alpha=0.75,
                solid_capstyle="butt",
            )

    def write(x: float, y: float, words: str, align: str) -> None:
        axes.text(x, y, words, ha=align, va="center", fontsize=8.5, color=INK)

    for pair in _PAIRS:
        signs = "(" + ", ".join("+" if value else "−" for value in pair) + ")"
        share = sum(o.probability for o in found if o.classes == pair)
        write(0, height[pair], f"{signs}  {share:.3f}", "right")
        share = sum(o.probability for o in found if o.reports == pair)
        write(1, height[pair], f"{signs}\n{share:.3f}", "center")
    for same, (word, place) in _ANSWERS.items():
        mine = [o for o in found if o.same == same]
        share = sum(o.probability for o in mine)
        bad = sum(o.probability for o in mine if o.wrong)
        write(2, place, f"{word}  {share:.3f}\n({bad:.3f} wrong)", "left")
    for x, word in enumerate(("true classes", "reported classes", "answer")):
        axes.text(x, 3.75, word, ha="center", va="bottom", fontsize=8, color=SOFT)
    axes.text(1, -0.7, note, ha="center", va="top", fontsize=8, color=INK)
    axes.set_title(title, fontsize=10, pad=14)
    axes.set(xlim=(-0.75, 2.95), ylim=(-1.5, 4.0))
    axes.set_axis_off()


def figure2(runs: pd.DataFrame) -> str | None:
    """Return the two Gaussians: items, test items and answers above, noise below, with the rules.

    The clouds are drawn again from the first seed; rules and accuracies come from its records.
    """
    mine = runs[runs.dataset == "gaussians"]
    if mine.empty:
        return None
    mine = mine[mine.seed == mine.seed.min()]
    found = {(run.family, run.method): run for run in mine.itertuples()}
    problems = {family: make_problem(run.spec) for (family, _), run in found.items()}

    def draw(axes: Any) -> None:
        first = next(iter(problems.values()))
        _classes(axes[0, 0], first.X, first.y, "items")
        _classes(axes[0, 1], first.X_test, first.y_test, "3,000 test items")
        for i, start, family in ((0, 2, "clean"), (1, 0, "pairing"), (1, 3, "labeling")):
            if family in problems:
                title = "no noise" if family == "clean" else f"{family} noise .4"
                _answers(axes[i, start], problems[family], f"answers, {title}")
            for k, method in enumerate(("weighted", "t-loss"), start=1):
                _rule(axes[i, start + k], first, found.get((family, method)), COLUMNS[method])
        axes[0, 5].set_axis_off()
        for panel in axes.flat:
            panel.set(xticks=[], yticks=[], xlim=(-6, 6), ylim=(-6, 6))
            panel.grid(False)

    return panels(2, 6, draw)


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


def _rule(axes: Any, problem: Problem, run: Any, method: str) -> None:
    if run is None:
        axes.set_axis_off()
        return
    _classes(axes, problem.X_test, problem.y_test, f"{method}: {run.accuracy:.2%}")
    if run.line is not None:
        slope_x, slope_y, intercept = run.line
        grid = np.linspace(-6, 6, 2)
        if abs(slope_y) > abs(slope_x) * 1e-9:
            axes.plot(grid, -(slope_x * grid + intercept) / slope_y, color=INK)


def figure3(runs: pd.DataFrame) -> str | None:
    """Return banana: accuracy against the rate and against the number of pairs, both models."""
    runs = figure3_runs(runs)
    if runs.empty:
        return None
    clean = runs[runs.method == "pn"].percent

    def draw(axes: Any) -> None:
        for column, family in enumerate(("pairing", "labeling")):
            mine, (above, below) = runs[runs.family == family], axes[:, column]
            for k, method in enumerate(("t-loss", "weighted", "joint")):
                some = mine[(mine.method == method) & (mine.density == FIGURE3_DENSITY)]
                _curve(above, some.groupby("rate_1"), k, COLUMNS[method])
            above.set(title=f"{family} noise", xlabel="noise rate")
            for k, rate in enumerate(FIGURE3_CURVES):
                for method, style in (("weighted", "-"), ("joint", ":")):
                    some = mine[(mine.method == method) & (mine.rate_1 == rate)]
                    label = f"{COLUMNS[method]} {rate:g}"
                    _curve(below, some.groupby("density"), k, label, style)
            below.set(title=f"{family} noise", xlabel="pairs per item")
            _logarithmic(below, FIGURE3_DENSITIES)
        for panel in axes.flat:
            if len(clean):
                level = clean.mean()
                panel.axhline(level, color=SOFT, linestyle="--", linewidth=1, label="clean")
            panel.axhline(
                FIGURE3_CLEAN, color=SOFT, linestyle="-.", linewidth=1, label="clean, published"
            )
            panel.set_ylim(50, 95)
        for row in axes:
            row[0].set_ylabel("test accuracy, %")
            if row[0].get_legend_handles_labels()[1]:  # a run may be half done
                handles = row[0].get_legend_handles_labels()
                row[1].legend(*handles, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))

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
            settings: Mapping[str, Any] = {"color": color, "markersize": 4}
            panel.plot(ours, at, marker, **settings, label=f"{COLUMNS[method]}, ours")
            if not np.isnan(printed).all():
                open_ = {"markerfacecolor": "none", "label": f"{COLUMNS[method]}, paper"}
                panel.plot(printed, at, marker, **settings, **open_)
        panel.set_yticks(height, labels=names, fontsize=8)
        panel.set(xlabel="test accuracy, %")
        panel.figure.legend(loc="outside lower center", ncols=3, fontsize=8)

    return panels(1, 1, draw, 1.2 + 0.3 * len(lines), 6.5)


def _logarithmic(axes: Any, ticks: Sequence[float]) -> None:
    """Give the axes a logarithmic scale with plain numbers at these places."""
    axes.set_xscale("log")
    axes.set_xticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def _curve(axes: Any, groups: Any, k: int, label: str, style: str = "-") -> None:
    """Draw means with their standard errors over the group's key; nothing where there are none."""
    mean, error = groups.percent.mean(), groups.percent.sem().fillna(0.0)
    if mean.empty:
        return
    color = SERIES[k % len(SERIES)]
    axes.vlines(mean.index, mean - error, mean + error, color=color, linewidth=1)
    marker = MARKERS[k % len(MARKERS)]
    axes.plot(mean.index, mean, style, marker=marker, color=color, label=label, markersize=3)


def efficiency(runs: pd.DataFrame) -> str | None:
    """Return accuracy against pairs per item, one panel per data set."""
    curves = list(efficiency_runs(runs).groupby("dataset"))
    if not curves:
        return None

    def draw(axes: Any) -> None:
        for panel in axes.flat:
            panel.set_axis_off()
        for panel, (dataset, mine) in zip(axes.flat, curves, strict=False):
            panel.set_axis_on()
            shown = [m for m in COLUMNS if (mine.method == m).any()]
            level = mine[mine.method == "pn"].percent
            for k, method in enumerate(m for m in shown if m not in ("pn", "t-loss-printed")):
                some = mine[mine.method == method].groupby("density")
                _curve(panel, some, k, COLUMNS[method], "-" if k < len(SERIES) else ":")
            if len(level):
                settings: Any = {"color": SOFT, "linestyle": "--", "linewidth": 1}
                panel.axhline(level.mean(), **settings, label=COLUMNS["pn"])
            panel.set(title=dataset, xlabel="pairs per item")
            _logarithmic(panel, EFFICIENCY_DENSITIES)
        handles, labels = axes.flat[0].get_legend_handles_labels()
        axes.flat[0].figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8)

    rows = -(-len(curves) // 4)
    return panels(rows, min(4, len(curves)), draw, 2.8)
