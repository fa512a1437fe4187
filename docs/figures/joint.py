"""Draw docs/figures/joint.svg: the loop of the joint learner, and what chooses between loops.

python docs/figures/joint.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path

TARGET = Path(__file__).with_suffix(".svg")
WIDTH, HEIGHT = 860, 330
#: Left, top, title, lines below it. Every box is 220 wide and 84 high.
BOXES = (
    (20, 30, "Class model", ("P(class | x) from the features,", "out of fold, calibrated")),
    (320, 30, "Beliefs about items", ("belief propagation over", "the graph of pairs")),
    (620, 30, "Answer model", ("S = P(same | classes),", "people, similar pairs, hard items")),
    (320, 216, "Held-out answers", ("choose start, number of classes,", "noise and estimator")),
)
#: From, to, words and where they stand.
ARROWS = (
    ((240, 58), (320, 58), "potentials", (280, 50)),
    ((320, 92), (240, 92), "fit", (280, 108)),
    ((540, 58), (620, 58), "fit", (580, 50)),
    ((620, 92), (540, 92), "answers", (580, 108)),
    ((430, 114), (430, 216), "repeat until it converges", (438, 170)),
)


def picture() -> str:
    """Return the drawing as SVG."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="14">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for (x1, y1), (x2, y2), words, (x, y) in ARROWS:
        anchor = "start" if x1 == x2 else "middle"
        parts.append(
            f'<path d="M{x1} {y1}L{x2} {y2}" stroke="#555" stroke-width="1.5" '
            'marker-end="url(#tip)"/>'
        )
        parts.append(
            f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="#333" font-size="12">'
            f"{escape(words)}</text>"
        )
    for x, y, title, lines in BOXES:
        parts.append(
            f'<rect x="{x}" y="{y}" width="220" height="84" rx="8" fill="#eaf2f8" '
            'stroke="#0072b2"/>'
        )
        for row, line in enumerate((title, *lines)):
            weight = ' font-weight="bold"' if row == 0 else ""
            parts.append(
                f'<text x="{x + 110}" y="{y + 25 + 21 * row}" text-anchor="middle"{weight}>'
                f"{escape(line)}</text>"
            )
    return "\n".join([*parts, "</svg>\n"])


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
