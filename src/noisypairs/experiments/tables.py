"""From records to tables of text: Tables 1 and 2, the figures in numbers, the pairs needed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from noisypairs.app.files import delimited_text
from noisypairs.experiments.paper import FIGURE2, FIGURE3_CLEAN, ROWS, Row
from noisypairs.experiments.records import Record
from noisypairs.experiments.spec import (
    COLUMNS,
    EFFICIENCY_RATES,
    EFFICIENCY_ROWS,
    FIGURE3_ROWS,
    TUNED,
    Spec,
    cell,
)

#: Columns against which the others are measured; they do not compete for bold print.
YARDSTICKS = ("pn", "sd-clean")
#: Bold is within so many points of the best of its row, as in the paper.
NEAR_BEST = 1.0
#: How near to the true classes a method must come, in points.
NEAR_CLEAN = 2.0
#: The columns of ``results.csv``.
CSV = ["dataset", "family", "rate_1", "rate_2", "method", "density", "seed", "model", "rows"]
CSV += ["told", "accuracy", "names", "refused", "seconds", "n_pairs", "flat_priors"]
#: What else `runs_of` takes out of the details of a record.
DETAILS = ("alpha", "true_labels", "line")

#: A table as text: its headings, and its rows.
Lines = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]


@dataclass(frozen=True)
class Cell:
    """Mean accuracy over the repeats in percent, beside the published one."""

    mean: float
    error: float  # standard error, NaN for a single repeat
    repeats: int
    refused: int
    published: float | None = None
    bold: bool = False

    @property
    def difference(self) -> float | None:
        """Return ours minus published, in points."""
        return None if self.published is None else self.mean - self.published

    def ours(self) -> str:
        """Return mean and standard error as text, with a count of refusals.

        >>> Cell(76.54, 0.52, 3, 1, 75.0).ours()
        '76.5 ± 0.5 [1 refused]'
        """
        error = "" if math.isnan(self.error) else f" ± {self.error:.1f}"
        refused = f" [{self.refused} refused]" if self.refused else ""
        return f"{self.mean:.1f}{error}{refused}"

    def beside(self, ours: str) -> str:
        """Return a text of ours with the published number and the difference, if there is one.

        >>> Cell(76.54, 0.52, 3, 0, 75.0).beside("76.5")
        '76.5 (75.0, +1.5)'
        """
        if self.published is None:
            return ours
        return f"{ours} ({self.published:.1f}, {self.difference:+.1f})"


@dataclass(frozen=True)
class Line:
    """A row of a table: data set, rates, and its cells by method (None: not run)."""

    row: Row
    cells: dict[str, Cell | None]

    @property
    def repeats(self) -> int:
        """Return the largest number of repeats behind a cell."""
        return max((found.repeats for found in self.cells.values() if found), default=0)


def runs_of(records: Mapping[Spec, Record]) -> pd.DataFrame:
    """Return the records as a data frame: what a `Spec` and its `Record` say, and some details.

    ``setting`` is the spec at seed 0, the same for all repeats; ``alpha`` and ``true_labels`` are
    NaN where a method has none.
    """
    rows = [
        vars(spec)
        | dict(zip(("rate_1", "rate_2"), spec.rates, strict=True))
        | vars(one)
        | {"setting": replace(spec, seed=0), "percent": 100.0 * one.accuracy}
        | {name: one.details.get(name) for name in ("n_pairs", *DETAILS)}
        for spec, one in records.items()
    ]
    columns = [*CSV, "spec", "setting", "percent", "rates", *DETAILS]
    numbers = dict.fromkeys(("alpha", "true_labels"), float)
    return pd.DataFrame(rows, columns=columns).astype({"flat_priors": bool, **numbers})


def summary(runs: pd.DataFrame, published: float | None = None) -> Cell | None:
    """Return mean and standard error of some runs, None if there are none.

    >>> summary(runs_of({})) is None
    True
    """
    if runs.empty:
        return None
    refused = int(runs.refused.notna().sum())
    found = runs.percent
    return Cell(float(found.mean()), float(found.sem()), len(runs), refused, published)


def columns_of(runs: pd.DataFrame) -> dict[str, str]:
    """Return the headings of all methods; those of other processes are called by their names."""
    return COLUMNS | {name: name for name in runs.method if name not in COLUMNS}


def headings(runs: pd.DataFrame) -> tuple[str, ...]:
    """Return the headings of a table of `text_rows`."""
    return ("data set", "rates", "repeats", *columns_of(runs).values())


def paper_table(runs: pd.DataFrame, number: int, density: float) -> list[Line]:
    """Return the rows of Table 1 or 2 at one density that have a record."""
    found, columns = dict(iter(runs.groupby("setting"))), columns_of(runs)
    lines = []
    for row in ROWS:
        if row.table == number:
            specs = {m: cell(row.dataset, row.family, row.rates, m, density, 0) for m in columns}
            cells = {
                m: summary(found[spec], row.published.get(m)) if spec in found else None
                for m, spec in specs.items()
            }
            if any(cells[m] for m in columns if m != "pn"):
                lines.append(Line(row, stressed(cells)))
    return lines


def stressed(cells: Mapping[str, Cell | None]) -> dict[str, Cell | None]:
    """Return the cells with those within a point of the best competing one in bold."""
    competing = [found.mean for m, found in cells.items() if found and m not in YARDSTICKS]
    best = max(competing, default=math.inf)
    return {
        m: found and replace(found, bold=m not in YARDSTICKS and found.mean >= best - NEAR_BEST)
        for m, found in cells.items()
    }


def densities(runs: pd.DataFrame, number: int) -> list[float]:
    """Return the densities at which there are records of a table, largest first."""
    family = {row.family for row in ROWS if row.table == number}
    mine = runs[runs.family.isin(family) & (runs.model == "network")]
    return sorted(mine.density.unique(), reverse=True)


def text_rows(lines: Sequence[Line]) -> list[list[str]]:
    """Return cells of text: data set, rates, repeats, then "ours (published, difference)"."""
    rows = []
    for line in lines:
        texts = [
            "–" if one is None else one.beside(f"**{one.ours()}**" if one.bold else one.ours())
            for one in line.cells.values()
        ]
        rows.append([line.row.dataset, _rates(line.row), str(line.repeats), *texts])
    return rows


def beside_rows(lines: Sequence[Line]) -> Lines:
    """Return headings and rows: ours, the published number and the difference."""
    shown = {"pn": "true labels", "t-loss": "T-Loss", "weighted": "Weighted", "joint": "Joint"}
    rows = []
    for line in lines:
        cells = [line.cells.get(method) for method in shown]
        texts = ["–" if one is None else one.beside(f"{one.mean:.1f}") for one in cells]
        rows.append((line.row.dataset, _rates(line.row), *texts))
    return ("data set", "rates", *shown.values()), tuple(rows)


def _rates(row: Row) -> str:
    return f"({row.rates[0]:g}, {row.rates[1]:g})"


# The figures in numbers, and what the weak priors of the tuning change.


def figure2(runs: pd.DataFrame) -> Lines:
    """Return headings and rows of Figure 2: mean, standard error and range over the draws."""
    rows = []
    mine = runs[runs.dataset == "gaussians"].groupby(["family", "method"])
    for key, published in FIGURE2.items():
        if key in mine.groups:
            accuracy = mine.get_group(key).percent
            error = f" ± {accuracy.sem():.2f}" if len(accuracy) > 1 else ""
            least, most = f"{accuracy.min():.2f}", f"{accuracy.max():.2f}"
            texts = f"{accuracy.mean():.2f}{error}", least, most, str(len(accuracy))
            rows.append((key[0], COLUMNS[key[1]], *texts, f"{published:g}"))
    return ("noise", "method", "mean", "least", "most", "draws", "published"), tuple(rows)


def figure3_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of Figure 3."""
    return runs[(runs.dataset == "banana") & (runs.rows == FIGURE3_ROWS)]


def figure3(runs: pd.DataFrame) -> Lines:
    """Return headings and rows of Figure 3: accuracy at every rate and number of pairs."""
    shown = ("pn", "t-loss", "weighted", "joint")
    rows = []
    groups = figure3_runs(runs).groupby(["family", "rate_1", "density"])
    for (family, rate, density), mine in groups:
        cells = [summary(mine[mine.method == method]) for method in shown]
        texts = [one.ours() if one else "–" for one in cells]
        if cells[0]:
            texts[0] += f" (published {FIGURE3_CLEAN:g})"
        rows.append((family, f"{rate:g}", f"{density:g}", *texts))
    return ("noise", "rate", "pairs per item", *(COLUMNS[m] for m in shown)), tuple(rows)


def flat_priors(runs: pd.DataFrame) -> Lines:
    """Return headings and rows: the tuned columns with the weak priors, and with flat ones.

    Both are means over the splits that were run with flat priors; the difference is paired.
    """
    weak = runs[~runs.flat_priors].set_index("spec")
    flat = runs[runs.flat_priors]
    like = [replace(spec, flat_priors=False) for spec in flat.spec]
    before = weak.reindex(like)[["percent", "refused", "alpha"]].add_prefix("weak_")
    both = pd.concat([flat.reset_index(), before.reset_index(drop=True)], axis=1)
    rows = []
    for density in sorted(both.density.unique(), reverse=True):
        for row in ROWS:
            here = (both.density == density) & (both.dataset == row.dataset)
            mine = both[here & (both.rates == row.rates)]
            if not mine.empty:
                cells = [_flat_against_weak(mine[mine.method == method]) for method in TUNED]
                moves = (mine.alpha - mine.weak_alpha)[mine.method == "weighted"].abs()
                moved = f"{moves.max():.1g}" if moves.notna().any() else "–"
                rows.append((f"{density:g}", row.dataset, _rates(row), *cells, moved))
    names = (COLUMNS[m] for m in TUNED)
    return ("pairs per item", "data set", "rates", *names, "α moved by at most"), tuple(rows)


def _flat_against_weak(both: pd.DataFrame) -> str:
    """Return "weak → flat (difference ± s.e.)" of one column over the splits that both have."""
    both = both[both.weak_percent.notna()]
    if both.empty:
        return "–"
    gains = both.percent - both.weak_percent
    error = f" ± {gains.sem():.1f}" if len(gains) > 1 else ""
    before, after = (
        f"{both[f'{prior}percent'].mean():.1f}"
        + (f" [{refused} refused]" if (refused := both[f"{prior}refused"].notna().sum()) else "")
        for prior in ("weak_", "")
    )
    return f"{before} → {after} ({gains.mean():+.1f}{error})"


# How many pairs a method needs to come near to what the true classes give.


def efficiency_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of ``efficiency``.

    best P-N stands at density 0, and methods that no noise can change at rates 0.
    """
    mine = runs[(runs.model == "kernel") & (runs.rows == EFFICIENCY_ROWS)]
    return mine[mine.rates.isin([EFFICIENCY_RATES, (0.0, 0.0)])]


def pairs_needed(runs: pd.DataFrame) -> Lines:
    """Return headings and rows: pairs per item from which a method stays near the true labels.

    Joint is held against the estimator that it chose, trained on the true classes of the same
    split, and every other method against best P-N. The last column is the accuracy of Joint's
    estimator on the true classes at the largest density.
    """
    runs = efficiency_runs(runs)
    true = runs[runs.method == "pn"].set_index(["dataset", "seed"]).percent.rename("true")
    own = 100.0 * runs.true_labels
    reference = own.fillna(runs.join(true, on=["dataset", "seed"]).true)
    gaps = runs.assign(own=own, gap=reference - runs.percent)
    shown = [method for method in COLUMNS if method != "pn"]
    rows = []
    for dataset, mine in gaps.dropna(subset="gap").groupby("dataset"):
        gap = {method: one.groupby("density").gap.mean() for method, one in mine.groupby("method")}
        texts = [_first_near(gap[method]) if method in gap else "–" for method in shown]
        joint = mine[mine.own.notna() & (mine.density == mine.density[mine.own.notna()].max())]
        cells = summary(mine[mine.method == "pn"]), summary(joint.assign(percent=joint.own))
        clean, ideal = (one.ours() if one else "–" for one in cells)
        rows.append((dataset, clean, *texts, ideal))
    names = [COLUMNS[method] for method in shown]
    return ("data set", COLUMNS["pn"], *names, "Joint's estimator, true classes"), tuple(rows)


def _first_near(gap: pd.Series) -> str:
    """Return the density from which on no gap is above the limit; "> 50" if the last one is."""
    far = gap.index[gap > NEAR_CLEAN].max()  # NaN where none is
    near = gap.index[~(gap.index <= far)]
    return f"{near[0]:g}" if len(near) else f"> {far:g}"


def times(runs: pd.DataFrame) -> Lines:
    """Return mean seconds by data set and method; the first that needs the tuning pays for it."""
    mine = runs[~runs.flat_priors]  # another tuning: not shared with the others
    rows = []
    for key, spent in mine.groupby(["dataset", "model"], sort=False):
        mean = spent.groupby("method").seconds.mean()
        rows.append((*key, *(f"{mean[m]:.1f}" if m in mean else "–" for m in COLUMNS)))
    return ("data set", "model", *COLUMNS.values()), tuple(rows)


def markdown(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table.

    >>> print(markdown(["a", "b"], [["1", "2"]]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = [headings, *rows]
    text = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([text[0], "|" + "---|" * len(headings), *text[1:]])


def latex(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""Return a LaTeX tabular; \textbf is passed through, all else is plain text.

    >>> print(latex(["a"], [["1 ± 2"]]))
    \begin{tabular}{l}
    a \\
    \hline
    1 $\pm$ 2 \\
    \end{tabular}
    """
    first, *rest = (" & ".join(words) + r" \\" for words in (headings, *rows))
    begin = rf"\begin{{tabular}}{{{'l' * len(headings)}}}"
    text = "\n".join([begin, first, r"\hline", *rest, r"\end{tabular}"])
    for old, new in (("±", r"$\pm$"), ("–", "--"), ("−", "$-$"), ("%", r"\%")):
        text = text.replace(old, new)
    return text


def as_csv(runs: pd.DataFrame) -> str:
    """Return every run as a line of CSV."""
    return delimited_text(CSV, runs.sort_values("spec")[CSV].itertuples(index=False))
