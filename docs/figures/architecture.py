"""Draw docs/figures/architecture.svg: the rooms of the package and how data flow through them.

    python docs/figures/architecture.py

Plain SVG text, nothing to install. The picture has its own background and follows the reader's
colour scheme, so that it can be read in light and in dark. A test compares the file with this
script and the names in it with the folders of the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

TARGET = Path(__file__).with_suffix(".svg")
WIDTH, HEIGHT = 1000, 748
BOX_HEIGHT = 48

STYLE = """
text { font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.page { fill: #ffffff } .band { fill: #f3f5f7 }
.room { fill: #ffffff; stroke: #57606a } .data { fill: #ddf4ff; stroke: #0969da }
.name { font-size: 13px; font-weight: 600 } .says { font-size: 10.5px; fill: #57606a }
.title { font-size: 13px; font-weight: 600; fill: #57606a }
.arrow { stroke: #0969da; stroke-width: 1.8; fill: none } .head { fill: #0969da }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .page { fill: #0d1117 } .band { fill: #161b22 }
  .room { fill: #0d1117; stroke: #8b949e } .data { fill: #0c2d4d; stroke: #58a6ff }
  .says, .title { fill: #9da7b1 } .arrow { stroke: #58a6ff } .head { fill: #58a6ff }
}
"""


@dataclass(frozen=True)
class Box:
    """A room of the package, or data on their way: its name, what it does, and where it stands."""

    name: str
    says: str
    x: int
    y: int
    width: int = 140
    kind: str = "room"

    @property
    def middle(self) -> float:
        """The vertical middle of the box."""
        return self.y + BOX_HEIGHT / 2

    @property
    def centre(self) -> float:
        """The horizontal middle of the box."""
        return self.x + self.width / 2


#: Bands from the top of the import contract to its bottom: title, top, bottom.
BANDS = (
    ("the command line", 14, 84),
    ("app: for people with files", 94, 366),
    ("learning", 376, 588),
    ("what answers are, and how they go wrong", 598, 738),
)

BOXES = (
    Box("cli/", "commands: options and printing only", 385, 25, 300),
    Box("items.csv, pairs.csv", "features, answers", 22, 126, 154, "data"),
    Box("app/files/", "read, recognise, write", 200, 126, 150),
    Box("app/encoding.py", "columns to numbers", 379, 126, 139),
    Box("app/fit/", "one fit, and what it says", 546, 126, 140),
    Box("app/report/", "pages for people", 714, 126, 141),
    Box("report.html", "for people", 877, 126, 102, "data"),
    Box("app/drift.py", "are new items alike?", 22, 190, 154),
    Box("app/check.py", "what can work?", 240, 190, 130),
    Box("app/plan.py", "how many more pairs?", 385, 190, 150),
    Box("app/model_file.py", "save, inspect, load", 706, 190, 149),
    Box("model.skops", "for predict", 877, 190, 102, "data"),
    Box("app/sample.py", "files to try", 22, 248, 116),
    Box("app/demo.py", "methods at work", 240, 248, 130),
    Box("app/engine.py", "tables out of memory", 385, 248, 150),
    Box("experiments/", "methods compared", 545, 248, 151),
    Box("model_file.py", "load in Python", 877, 306, 102),
    Box("app/model_card.py", "facts for people", 706, 248, 149),
    Box("app/sentences/", "what is said", 870, 248, 109),
    Box("app/model_archive.py", "whole or refused", 704, 306, 164),
    Box("app/learning_curve.py", "answers still needed", 22, 306, 168),
    Box("app/ask/", "asks people", 196, 306, 76),
    Box("app/judge/", "asks models", 146, 248, 90),
    Box("app/annotators.py", "who errs?", 278, 306, 132),
    Box("app/prediction.py", "new items", 416, 306, 130),
    Box("app/suspects.py", "what is wrong, and why", 552, 306, 146),
    Box("encoders/", "content to numbers", 22, 406, 208),
    Box("datasets/", "tables to try", 240, 406, 130),
    Box("annotators/", "who answers well", 385, 406, 150),
    Box("assess/", "how sure?", 543, 406, 80),
    Box("theory.py", "bounds and Bayes rules", 630, 406, 150),
    Box("torch/", "networks as estimators", 795, 406, 184),
    Box("Pairs and X", "answers, and features of items", 22, 468, 208, "data"),
    Box("classifier.py", "fit, then predict", 240, 468, 130),
    Box("joint/", "the joint learner", 385, 468, 180),
    Box("estimators/", "corrections, k-means", 575, 468, 150),
    Box("predict(X)", "classes of new items", 795, 468, 184, "data"),
    Box("metrics.py", "accuracy, likelihood", 22, 530, 208),
    Box("graph/", "pair graph, belief propagation, streams", 385, 530, 300),
    Box("model_selection.py", "rates and weights by folds", 795, 530, 184),
    Box("pairs/", "Pairs, words, columns, audit", 22, 624, 208),
    Box("tables/", "PairTable: out of memory", 22, 682, 208),
    Box("noise/", "noise models, and the answer model", 385, 624, 300),
    Box("algebra.py", "what follows from S and the prior", 385, 682, 300),
    Box("reduction.py", "pairs to weighted items", 700, 624, 150),
    Box("estimation/", "prior and rates from data", 700, 682, 150),
    Box("sampling.py", "draw noisy pairs", 865, 624, 114),
    Box("errors.py", "with what to do", 865, 682, 114),
)

#: The ways of the data, as (from, to): from files to pages, and from pairs to predictions.
ARROWS = (
    ("items.csv, pairs.csv", "app/files/"),
    ("app/files/", "app/encoding.py"),
    ("app/encoding.py", "app/fit/"),
    ("app/fit/", "app/report/"),
    ("app/report/", "report.html"),
    ("app/fit/", "app/model_file.py"),
    ("app/model_file.py", "model.skops"),
    ("app/files/", "Pairs and X"),
    ("app/fit/", "classifier.py"),
    ("Pairs and X", "classifier.py"),
    ("classifier.py", "joint/"),
    ("joint/", "estimators/"),
    ("estimators/", "predict(X)"),
    ("joint/", "graph/"),
    ("graph/", "noise/"),
)


def _box(box: Box) -> str:
    lines = [
        f'<rect class="{box.kind}" x="{box.x}" y="{box.y}" width="{box.width}" '
        f'height="{BOX_HEIGHT}" rx="6"/>'
    ]
    name_at = box.y + (20 if box.says else 29)
    middle = f'x="{box.centre:g}" text-anchor="middle"'
    lines.append(f'<text class="name" {middle} y="{name_at}">{escape(box.name)}</text>')
    if box.says:
        lines.append(f'<text class="says" {middle} y="{box.y + 37}">{escape(box.says)}</text>')
    return "\n".join(lines)


def _arrow(start: Box, end: Box) -> str:
    """Draw along a row, straight down where one box stands above the other, else down and right."""
    if start.y == end.y:
        line = f"M{start.x + start.width} {start.middle:g}H{end.x - 2}"
    elif end.x >= start.x + start.width:
        line = f"M{start.x + start.width - 20} {start.y + BOX_HEIGHT}V{end.middle:g}H{end.x - 2}"
    else:
        left, right = max(start.x, end.x), min(start.x + start.width, end.x + end.width)
        line = f"M{(left + right) / 2:g} {start.y + BOX_HEIGHT}V{end.y - 2}"
    return f'<path class="arrow" marker-end="url(#head)" d="{line}"/>'


def picture() -> str:
    """Return the text of the SVG."""
    by_name = {box.name: box for box in BOXES}
    bands = [
        f'<rect class="band" x="10" y="{top}" width="{WIDTH - 20}" height="{bottom - top}" rx="8"/>'
        f'\n<text class="title" x="22" y="{top + 18}">{escape(title)}</text>'
        for title, top, bottom in BANDS
    ]
    head = (
        '<marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker>'
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
            "<title>The rooms of noisypairs and the way of the data through them</title>",
            f"<style>{STYLE}</style>",
            f"<defs>{head}</defs>",
            f'<rect class="page" width="{WIDTH}" height="{HEIGHT}"/>',
            *bands,
            *(_arrow(by_name[start], by_name[end]) for start, end in ARROWS),
            *map(_box, BOXES),
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    TARGET.write_text(picture(), encoding="utf-8")
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1000:.0f} kB")
