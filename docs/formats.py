"""Write docs/formats.md from what the package itself knows of formats and words.

Run it after any change of an importer: python docs/formats.py
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

from noisypairs.app.files.importers import IMPORTERS, Importer
from noisypairs.pairs.answers import OTHER_LANGUAGES, WORDS

TARGET = Path(__file__).parent / "formats.md"
DOCUMENTATION = "documentation only"

HEAD = """\
# Which files are read

**Tables and exports of many tools are recognised by what they hold.** `--format` names the format
where the guess is wrong. Any other file is read as a plain table; if that fails, the message says
which format it nearly has and what is missing. `noisypairs formats mturk` shows one format. Unless
a section says otherwise, an importer was checked against the documentation of its format only.
`docs/formats.py` writes this page from the importers.

## Formats of answers

"""

ITEMS = """
## Items

One row per item, in CSV, TSV, JSON lines, Parquet, or the first sheet of a workbook that holds a
table (`.xlsx`, `.xls`, `.ods`); or a folder of pictures or sounds.

* **Ids.** The column of ids is the one that holds what the pairs name; `--id` names another.
  Without pairs, as in `predict` and `ask`, it is the one that identifies every row: by its name,
  else by words that are all different, else a running number. Ids match exactly, else without
  leading zeros, `.0`, case and blanks, else by the last part of a path: `/data/upload/3f2-SKU.jpg`
  is `SKU`. An id that could be two items is not matched.
* **A folder of pictures or sounds** is a table of items too. Ids are the names of the files, with
  or without folder and ending.
* **Vectors**, such as embeddings, become numeric features, one for each entry, and a note says so:
  a list column in Parquet, an array in JSON lines, text such as `[0.1, 0.2]` in CSV, an array in a
  `.npz` (with `ids` in it) or `.npy` file (with `ids.npy` or `ids.txt` beside it), and `items.npy`
  beside `items.csv`, row by row.
* **Dates** become days, and the time of year, week and day: `2024-12-31`, `31.12.2024`,
  `12/31/2024`, `Dec 31, 2024`. A column such as `1/2/2024`, where day and month cannot be
  told apart, is left out.
* **Ids, addresses and running numbers are no features.** A table with nothing else is refused.

## Answers

The column that says who answered is found by its name, else by its values: few, in many rows each.
`--annotator` names another, `--annotator none` none. A note lists the columns that are not used.

"""

WORDS_HEAD = """\
Case, blanks, hyphens, apostrophes and accents do not matter. One column may mix words: yes, TRUE, 1
and y are all same, and so are "same kind", "the same object type" and similar phrases. Refused, as
they have two meanings: 1/2, and -1 beside 0 or words.

| meaning | words |
|---|---|
"""

TAIL = """
Empty cells, NA, NaN, None and null are no answer. `--answers` says what other words mean, and wins
over this table. A file of two columns, word and meaning, does the same:

```
noisypairs check items.csv pairs.csv --answers "yup=same,nope=different,can't see it=unsure"
noisypairs check items.csv pairs.csv --answers words.csv
```

Numbers between 0 and 1 are scores, P(same). Columns such as n_same and n_different count votes.
"""


def page() -> str:
    """Return the whole page."""
    rows = [f"| [{one.name}](#{one.name}) | {one.title} |" for one in IMPORTERS.values()]
    table = "\n".join(["| format | what it is |", "|---|---|", *rows])
    sections = "\n".join(map(section, IMPORTERS.values()))
    words = "".join(
        f"| {meaning} | {', '.join((*said, *OTHER_LANGUAGES[meaning]))} |\n"
        for meaning, said in WORDS.items()
    )
    return f"{HEAD}{table}\n\n{sections}{ITEMS}{WORDS_HEAD}{words}{TAIL}"


def section(one: Importer) -> str:
    """Return what the page says of one format."""
    lines = [f"### {one.name}", ""]
    if one.reading:
        lines += [fill(one.reading, 100), ""]
    if one.example is not None:
        how = ", written by" if one.example.code else ""
        fence = "python" if one.example.code else ""
        text = one.example.text.rstrip("\n")
        lines += [f"`{one.example.file}`{how}:", "", f"```{fence}", text, "```", ""]
    if one.described:
        link = f"[Described by its maker]({one.described})"
        seen = "" if one.checked == DOCUMENTATION else f" Checked against: {one.checked}."
        lines += [f"{link}.{seen}", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
