"""From a folder of records to something worth reading: one HTML file, tables, figures, CSV.

`build` gathers named blocks of text and pictures from the records; `write_report` makes files of
them, `update_docs` puts them between the markers of a Markdown page and leaves its prose alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from noisypairs.app.files.writing import atomic_write
from noisypairs.app.report.page import figure, filled_table, render
from noisypairs.errors import did_you_mean
from noisypairs.experiments import figures, tables
from noisypairs.experiments.records import FolderMismatch, configuration_of, load_records

GENERATOR = "noisypairs report"
DOCS_PAGES, DOCS_FIGURES = ("reproduction.md", "reproduction-tables.md"), "figures"
_MARKED = re.compile(r"(<!-- begin (?P<name>[^>]+?) -->\n).*?(<!-- end (?P=name) -->)", re.DOTALL)
LEGEND = (
    "Accuracy on test items in percent, mean ± s.e. over the splits, class names matched "
    "for every method; in brackets the published number and the difference. Bold or ●: within 1 % "
    "of the best at these rates, best P-N and clean S-D aside. Where a method refused, the larger "
    "class for every item was counted."
)


@dataclass(frozen=True)
class Grid:
    """A table of text under its title, written out once and rendered in every format."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Report:
    """Everything that a folder has to tell: named tables and figures, and where they come from."""

    configuration: Mapping[str, Any]
    runs: pd.DataFrame
    grids: Mapping[str, Grid]
    pictures: Mapping[str, str]


def build(folder: Path) -> Report:
    """Read a folder of ``noisypairs reproduce`` and make its tables and figures."""
    configuration, runs = configuration_of(folder), tables.runs_of(load_records(folder))
    if runs.empty:
        raise FolderMismatch(f"{folder} holds no record yet: run noisypairs reproduce first")
    drawn = {
        "beside": figures.beside(_densest(runs)),
        "figure1": figures.figure1(),
        "figure2": figures.figure2(runs),
        "figure3": figures.figure3(runs),
        "efficiency": figures.efficiency(runs),
    }
    pictures = {name: svg for name, svg in drawn.items() if svg is not None}
    return Report(configuration, runs, dict(_grids(runs)), pictures)


def _densest(runs: pd.DataFrame) -> list[tables.Line]:
    """Return the rows of Tables 1 and 2 at the largest number of pairs per item that was run."""
    return [
        line
        for number in (1, 2)
        for density in tables.densities(runs, number)[:1]
        for line in tables.paper_table(runs, number, density)
    ]


def _grids(runs: pd.DataFrame) -> Iterable[tuple[str, Grid]]:
    if densest := _densest(runs):
        yield "beside-numbers", Grid("Ours beside the published", *tables.beside_rows(densest))
    for number, family in ((1, "pairing"), (2, "labeling")):
        for density in tables.densities(runs, number):
            found = tables.paper_table(runs, number, density)
            title = f"Table {number}: {family} noise, {density:g} pairs per training item"
            rows = tuple(map(tuple, tables.text_rows(found)))
            yield f"table{number}-{density:g}", Grid(title, tables.headings(runs), rows)
    for name, title, (headings, lines) in (
        ("figure2-numbers", "Figure 2: accuracy on 3,000 test items", tables.figure2(runs)),
        ("figure3-numbers", "Figure 3: accuracy on banana", tables.figure3(runs)),
        ("efficiency-needed", "Pairs per item needed", tables.pairs_needed(runs)),
        ("flat-priors", "Tuned with weak priors → with flat ones", tables.flat_priors(runs)),
        ("time", "Seconds per fit", tables.times(runs)),
    ):
        if lines:
            yield name, Grid(title, headings, lines)


def provenance(report: Report) -> Grid:
    """Return what was run and on what: versions, seeds, data source and hash."""
    known = report.configuration
    seeds = report.runs.seed
    rows = [
        ("records", f"{len(report.runs):,}"),
        ("seeds", f"{seeds.min()} to {seeds.max()}"),
        *((name, str(value)) for name, value in known["decides"].items()),
        *((name, str(value)) for name, value in known["environment"].items()),
    ]
    for name, data in known["data"].items():
        digests = ", ".join(f"{path}: {digest}" for path, digest in data["sha256"].items())
        rows.append((f"table {name}", f"from {data.get('source', '?')}; sha256 {digests}"))
    return Grid("What was run", ("what", "value"), tuple(rows))


def page(report: Report) -> str:
    """Return the report as one self-contained HTML file."""
    sections: list[tuple[str, list[str], str]] = []
    for grid in report.grids.values():
        if grid.headings[:3] == ("data set", "rates", "repeats"):
            note = "● within 1 % of the best at these rates."
            sections.append((grid.title, list(_upright(grid)), note))
        else:
            sections.append((grid.title, [filled_table(grid.headings, grid.rows)], ""))
    for name, svg in report.pictures.items():
        sections.append((CAPTIONS[name][0], [figure(svg, CAPTIONS[name][1])], ""))
    origin = provenance(report)
    tuned = "Times are wall-clock; the first tuned method of a problem pays for the tuning of all."
    sections.append((origin.title, [filled_table(origin.headings, origin.rows), tuned], ""))
    title = "Learning from noisy similar and dissimilar data, reproduced"
    lead = f"{len(report.runs):,} results beside the published ones. {LEGEND}"
    return render("sections.html", GENERATOR, title=title, lead=lead, sections=sections)


def standing_alone(svg: str) -> str:
    """Return a picture as a file of its own: outside the page it has no font to inherit."""
    return svg.replace("<svg ", '<svg font-family="sans-serif" ', 1) + "\n"


def _upright(grid: Grid) -> Iterator[str]:
    """Yield one table per data set, methods below each other: a page is not as wide as the row."""
    for dataset in dict.fromkeys(row[0] for row in grid.rows):
        mine = [row for row in grid.rows if row[0] == dataset]
        headings = ["method", *(f"rates {row[1]}" for row in mine)]
        rows = [
            [name, *(_marked(row[column]) for row in mine)]
            for column, name in enumerate(grid.headings[3:], start=3)
        ]
        yield filled_table(headings, rows, caption=f"{dataset}, {mine[0][2]} splits", numeric=())


def _marked(word: str) -> str:
    return ("● " if word.startswith("**") else "") + word.replace("**", "")


CAPTIONS = {
    "beside": (
        "Ours and the published numbers",
        "Test accuracy in every row of Tables 1 and 2, ours filled, the paper's open. Joint is "
        "given the pairs and nothing else. The grey bar is the same network on true labels.",
    ),
    "figure1": (
        "Figure 1: the two noise models",
        "Every way from the true classes of a pair to the answer, "
        f"P(+) = {figures.PRIOR:g}. The width of a line is its probability; "
        "orange leads to a wrong answer. Under labeling noise two wrong reports can give the right "
        "answer.",
    ),
    "figure2": (
        "Figure 2: the two Gaussians",
        "Prior .2, 10,000 pairs of 20,000 items; a logistic linear model, rates and prior given. "
        "Top: no noise. Bottom: pairing and labeling noise of .4. Lines are the learnt rules, "
        "with their accuracy on 3,000 test items.",
    ),
    "figure3": (
        "Figure 3: banana",
        "Top: accuracy against the symmetric noise rate at 20 pairs per item. Bottom: against the "
        "number of pairs, for three rates (dotted: joint). Dashed: trained on the true classes, "
        "ours; dash-dotted: published.",
    ),
    "efficiency": (
        "How many pairs does each method need",
        "Accuracy in percent against pairs per training item, both rates .2, default estimators, "
        "at most 1,500 training items. Dashed: trained on the true classes.",
    ),
}


def write_report(report: Report, out: Path, *, force: bool = False) -> list[Path]:
    """Write report.html, results.csv, tables (.md, .tex) and figures (.svg); return their paths."""
    files = {"report.html": page(report), "results.csv": tables.as_csv(report.runs)}
    for name, grid in report.grids.items():
        files[f"{name}.md"] = tables.markdown(grid.headings, grid.rows) + "\n"
        bold = [[re.sub(r"\*\*(.*?)\*\*", r"\\textbf{\1}", w) for w in row] for row in grid.rows]
        files[f"{name}.tex"] = tables.latex(grid.headings, bold) + "\n"
    files |= {f"{name}.svg": standing_alone(svg) for name, svg in report.pictures.items()}
    taken = [name for name in files if (out / name).exists()]
    if taken and not force:
        raise FolderMismatch(
            f"{out} already holds {', '.join(taken[:3])}{' …' * (len(taken) > 3)}: add --force to "
            "overwrite them, or give another folder with --out"
        )
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        atomic_write(out / name, text, force)
    return [out / name for name in files]


def update_docs(report: Report, docs: Path) -> list[Path]:
    """Renew the text between ``<!-- begin NAME -->`` and ``<!-- end NAME -->`` of both pages.

    Names are those of `build`'s tables and figures, and "what". Everything else stays as it is; a
    table or figure without records is left as it was.
    """
    paths = [docs / name for name in DOCS_PAGES]
    if missing := [path for path in paths if not path.is_file()]:
        raise FolderMismatch(f"{missing[0]} does not exist: --docs takes the folder that holds it")
    blocks = {name: tables.markdown(g.headings, g.rows) for name, g in report.grids.items()}
    origin = provenance(report)
    blocks["what"] = tables.markdown(origin.headings, origin.rows)
    for name in report.pictures:
        blocks[name] = f"![{CAPTIONS[name][1]}]({DOCS_FIGURES}/reproduction-{name}.svg)"
    texts = [_renewed(path, blocks) for path in paths]
    (docs / DOCS_FIGURES).mkdir(exist_ok=True)
    for name, svg in report.pictures.items():
        picture = docs / DOCS_FIGURES / f"reproduction-{name}.svg"
        atomic_write(picture, standing_alone(svg), force=True)
    for path, text in zip(paths, texts, strict=True):
        atomic_write(path, text, force=True)
    return paths


def _renewed(path: Path, blocks: Mapping[str, str]) -> str:
    def renewed(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in blocks:
            if name not in KNOWN_BLOCKS:
                raise FolderMismatch(
                    f"{path} has a marker {name!r}: {did_you_mean(name, KNOWN_BLOCKS)}"
                )
            return match[0]
        return f"{match[1]}{blocks[name]}\n{match[3]}"

    return _MARKED.sub(renewed, path.read_text(encoding="utf-8"))


KNOWN_BLOCKS = (
    *(f"table{number}-{density}" for number in (1, 2) for density in (20, 2)),
    *CAPTIONS,
    *("beside-numbers", "figure2-numbers", "figure3-numbers", "efficiency-needed"),
    *("flat-priors", "time", "what"),
)
