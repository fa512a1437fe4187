"""Figure 1: the two noise models, from the true classes of a pair to the answer."""

from __future__ import annotations

from typing import Any

from noisypairs import theory
from noisypairs.app.report.picture import INK, SERIES, SOFT, drawn

#: P(class 1), and both rates of both models: (ρ_S, ρ_D) and (ρ₊, ρ₋).
PRIOR, RATES = 0.35, (0.1, 0.2)
#: Width in points of a line that carries all pairs.
WIDEST = 26.0
_PAIRS = ((1, 1), (0, 0), (1, 0), (0, 1))
_ANSWERS = {True: ("same", 2.5), False: ("different", 0.5)}
_COLUMNS = ("true classes", "reported classes", "answer")


def figure1() -> str:
    """Return the picture: line widths are probabilities, orange leads to a wrong answer."""

    def draw(axes: Any) -> None:
        figure = axes.figure
        axes.remove()
        left, right = figure.subplots(1, 2)
        first, second = (f"{rate:g}" for rate in RATES)
        _panel(
            left,
            list(theory.outcomes(PRIOR, pairing=RATES)),
            "pairing noise: the comparison goes wrong",
            f"same is called different with ρ_S = {first},\n"
            f"different is called same with ρ_D = {second}",
        )
        _panel(
            right,
            list(theory.outcomes(PRIOR, labeling=RATES)),
            "labeling noise: the reports are wrong",
            f"+ reports − with ρ₊ = {first}, − reports + with ρ₋ = {second},\n"
            "each item for itself; the comparison is right",
        )

    return drawn(draw, 9.6, 3.9)


def _panel(axes: Any, found: list[theory.Outcome], title: str, note: str) -> None:
    reports: dict[Any, float] = {}
    answers: dict[Any, float] = {}
    for outcome in found:
        for lines, ends in (
            (reports, (outcome.classes, outcome.reports)),
            (answers, (outcome.reports, outcome.same)),
        ):
            key = (*ends, outcome.wrong)
            lines[key] = lines.get(key, 0.0) + outcome.probability
    for (start, end, wrong), chance in _right_first(reports):
        _line(axes, 0, _height(start), _height(end), chance, wrong)
    for (start, end, wrong), chance in _right_first(answers):
        _line(axes, 1, _height(start), _ANSWERS[end][1], chance, wrong)
    for pair in _PAIRS:
        share = sum(o.probability for o in found if o.classes == pair)
        _node(axes, 0, _height(pair), f"{_signs(pair)}  {share:.3f}", "right")
        share = sum(o.probability for o in found if o.reports == pair)
        _node(axes, 1, _height(pair), f"{_signs(pair)}\n{share:.3f}", "center")
    for same, (word, height) in _ANSWERS.items():
        mine = [o for o in found if o.same == same]
        share = sum(o.probability for o in mine)
        bad = sum(o.probability for o in mine if o.wrong)
        _node(axes, 2, height, f"{word}  {share:.3f}\n({bad:.3f} wrong)", "left")
    for x, word in enumerate(_COLUMNS):
        axes.text(x, 3.75, word, ha="center", va="bottom", fontsize=8, color=SOFT)
    axes.text(1, -0.7, note, ha="center", va="top", fontsize=8, color=INK)
    axes.set_title(title, fontsize=10, pad=14)
    axes.set(xlim=(-0.75, 2.95), ylim=(-1.5, 4.0))
    axes.set_axis_off()


def _right_first(lines: dict[Any, float]) -> list[tuple[Any, float]]:
    """Return the lines with those to a wrong answer last, on top of the others."""
    return sorted(lines.items(), key=lambda line: (line[0][2], -line[1]))


def _line(axes: Any, x: float, start: float, end: float, chance: float, wrong: bool) -> None:
    """Draw a line of the width of its probability between two columns, clear of their words."""
    color = SERIES[1] if wrong else SERIES[0]
    wide = max(0.6, WIDEST * chance)
    x0, x1 = x + (0.19 if x else 0.04), x + (0.96 if x else 0.81)
    axes.plot(
        [x0, x1], [start, end], color=color, linewidth=wide, alpha=0.75, solid_capstyle="butt"
    )


def _node(axes: Any, x: float, y: float, words: str, align: str) -> None:
    axes.text(x, y, words, ha=align, va="center", fontsize=8.5, color=INK)


def _height(pair: tuple[int, int]) -> float:
    return 3.0 - _PAIRS.index(pair)


def _signs(pair: tuple[int, int]) -> str:
    return "(" + ", ".join("+" if value else "−" for value in pair) + ")"
