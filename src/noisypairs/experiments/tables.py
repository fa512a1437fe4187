"""From records to the rows of Tables 1 and 2; tables as Markdown, LaTeX and CSV."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

from noisypairs.app.files import delimited_text
from noisypairs.experiments.grids import cell
from noisypairs.experiments.paper import ROWS, Row
from noisypairs.experiments.records import Record
from noisypairs.experiments.spec import COLUMNS, Spec

Records = Mapping[Spec, Record]
#: Columns against which the others are measured; they do not compete for bold print.
YARDSTICKS = ("pn", "sd-clean")
#: Bold is within so many points of the best of its row, as in the paper.
NEAR_BEST = 1.0


@dataclass(frozen=True)
class Cell:
    """Mean accuracy over the repeats in percent, beside the published one."""

    mean: float
    error: float  # standard error, NaN for a single repeat
    repeats: int
    refused: int
    published: float | None
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

    def beside(self) -> str:
        """Return the published number and the difference as text, empty where there is none.

        >>> Cell(76.54, 0.52, 3, 0, 75.0).beside()
        '75.0, +1.5'
        """
        if self.published is None or self.difference is None:
            return ""
        return f"{self.published:.1f}, {self.difference:+.1f}"


@dataclass(frozen=True)
class Line:
    """A row of a table: data set, rates, and its cells by method (None: not run)."""

    row: Row
    cells: dict[str, Cell | None]

    @property
    def repeats(self) -> int:
        """Return the largest number of repeats behind a cell."""
        return max((found.repeats for found in self.cells.values() if found), default=0)


def summary(records: Iterable[Record], published: float | None = None) -> Cell | None:
    """Return mean and standard error of some records, None if there are none.

    >>> summary([]) is None
    True
    """
    found = list(records)
    if not found:
        return None
    values = [100.0 * record.accuracy for record in found]
    error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    refused = sum(record.refused is not None for record in found)
    return Cell(fmean(values), error, len(values), refused, published)


def by_setting(records: Records) -> dict[Spec, list[Record]]:
    """Return the records of all repeats by their spec at seed 0."""
    found: dict[Spec, list[Record]] = {}
    for spec, record in records.items():
        found.setdefault(replace(spec, seed=0), []).append(record)
    return found


def columns_of(records: Records) -> dict[str, str]:
    """Return the headings of all methods; those of other processes are called by their names."""
    return COLUMNS | {s.method: s.method for s in records if s.method not in COLUMNS}


def headings(records: Records) -> tuple[str, ...]:
    """Return the headings of a table of `text_rows`."""
    return ("data set", "rates", "repeats", *columns_of(records).values())


def paper_table(records: Records, number: int, density: float) -> list[Line]:
    """Return the rows of Table 1 or 2 at one density that have a record."""
    found, columns = by_setting(records), columns_of(records)
    lines = []
    for row in ROWS:
        if row.table == number:
            specs = {m: cell(row.dataset, row.family, row.rates, m, density, 0) for m in columns}
            cells = {m: summary(found.get(s, ()), row.published.get(m)) for m, s in specs.items()}
            if any(specs[m] in found for m in columns if m != "pn"):
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


def densities(records: Records, number: int) -> list[float]:
    """Return the densities at which there are records of a table, largest first."""
    family = {row.family for row in ROWS if row.table == number}
    found = {s.density for s in records if s.family in family and s.model == "network"}
    return sorted(found, reverse=True)


def text_rows(lines: Sequence[Line], bold: str = "**{}**") -> list[list[str]]:
    """Return cells of text: data set, rates, repeats, then "ours (published, difference)"."""
    rows = []
    for line in lines:
        texts = []
        for found in line.cells.values():
            ours = "–" if found is None else found.ours()
            ours = bold.format(ours) if found is not None and found.bold else ours
            beside = found.beside() if found else ""
            texts.append(f"{ours} ({beside})" if beside else ours)
        rates = f"({line.row.rates[0]:g}, {line.row.rates[1]:g})"
        rows.append([line.row.dataset, rates, str(line.repeats), *texts])
    return rows


def beside_rows(lines: Sequence[Line]) -> list[tuple[str, ...]]:
    """Return, row by row, ours, the published number and the difference of the paper's methods."""
    rows = []
    for line in lines:
        texts = [line.row.dataset, f"({line.row.rates[0]:g}, {line.row.rates[1]:g})"]
        for method in ("pn", "t-loss", "weighted", "joint"):
            found = line.cells.get(method)
            ours = "–" if found is None else f"{found.mean:.1f}"
            beside = found.beside() if found else ""
            texts.append(f"{ours} ({beside})" if beside else ours)
        rows.append(tuple(texts))
    return rows


BESIDE_HEADINGS = ("data set", "rates", "true labels", "T-Loss", "Weighted", "Joint")


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


def as_csv(records: Records) -> str:
    """Return every record as a line of CSV."""
    names = ["dataset", "family", "rate_1", "rate_2", "method", "density", "seed", "model"]
    names += ["rows", "told", "accuracy", "names", "refused", "seconds", "n_pairs", "flat_priors"]
    rows = []
    for spec, record in sorted(records.items()):
        fields = [spec.dataset, spec.family, *spec.rates, spec.method, spec.density, spec.seed]
        fields += [spec.model, spec.rows, spec.told, record.accuracy, record.names]
        n_pairs = record.details.get("n_pairs", "")
        fields += [record.refused or "", record.seconds, n_pairs, spec.flat_priors]
        rows.append(fields)
    return delimited_text(names, rows)
