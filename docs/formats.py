"""Write docs/formats.md from what the package itself knows of formats and words.

Run it after any change of an importer: python docs/formats.py
"""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

from noisypairs.app.files.importers import IMPORTERS, Importer
from noisypairs.pairs.answers import OTHER_LANGUAGES, WORDS

TARGET = Path(__file__).parent / "formats.md"

HEAD = """\
# Which files are read

Answers come from many tools, and items come in many tables. This page is written by
`docs/formats.py` from the importers themselves. `noisypairs formats` lists them, `noisypairs
formats mturk` shows one.

A file is recognised by what it holds, not by its name. `--format` names the format where the guess
is wrong. A file that no importer recognises is read as a plain table; if that fails, the message
says which formats it is almost in and what is missing. Most importers were checked against the
documentation of the format only; each section says so.

## Formats of answers

"""

ITEMS = """
## Items

One row per item, in CSV, TSV, JSON lines, Parquet, or the first sheet of a workbook that holds a
table (`.xlsx`, `.xls`, `.ods`); or a folder of pictures or sounds.

* **Ids.** The column of ids is the one that holds what the pairs name. Names of columns only break
  ties. `--id` names another. Without pairs, as in `predict` and `ask`, it is the one that
  identifies every row: by its name, else by words that are all different, else a running number.
  Ids match exactly, else without leading zeros, `.0`, case and blanks, else by the last part of a
  path: `/data/upload/3f2-SKU.jpg` is `SKU`. What could be two items is not matched.
* **A folder of pictures or sounds** is a table of items, too, also with folders in it. The ids are
  the names of the files; answers may name them with or without folder and ending.
* **Vectors**, such as embeddings, become numeric features, one for each entry, and a note says so:
  a list column in Parquet, an array in JSON lines, text such as `[0.1, 0.2]` in CSV, an array in a
  `.npz` (with `ids` in it) or `.npy` file (with `ids.npy` or `ids.txt` beside it), and `items.npy`
  beside `items.csv`, row by row.
* **Dates** become days, and the time of year, week and day: `2024-12-31`, `31.12.2024`,
  `12/31/2024`, `Dec 31, 2024`. A column such as `1/2/2024`, in which no date tells day from month,
  is left out.
* **Ids, addresses and running numbers are no features.** A table with nothing else is refused.

## Answers

The column that says who answered is found by its name, else by what it holds: few values, in many
rows each, that follow no item. A note says so; `--annotator` names another, `--annotator none`
none. Columns that are not used are listed.

"""

WORDS_HEAD = """\
Words are read whatever their case, blanks, hyphens, apostrophes and accents. One column may mix
them: yes, TRUE, 1 and y are all same, and so are "same kind", "the same object type" and the like.
Two things are refused, because they can be read two ways: 1/2, and -1 beside 0 or words.

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
    lines = [f"### {one.name}", "", f"{one.title[0].upper()}{one.title[1:]}.", ""]
    if one.reading:
        lines += [fill(one.reading, 100), ""]
    if one.example is not None:
        how = ", written by" if one.example.code else ""
        fence = "python" if one.example.code else ""
        text = one.example.text.rstrip("\n")
        lines += [f"`{one.example.file}`{how}:", "", f"```{fence}", text, "```", ""]
    if one.described:
        link = f"[Described by its maker]({one.described})"
        lines += [f"{link}. Checked against: {one.checked}.", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
