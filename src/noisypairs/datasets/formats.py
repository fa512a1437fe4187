"""From the bytes of a file to a table: features, classes and column names.

Two shapes of file are read: delimited text (with a header line, or KEEL's, whose header lines begin
with ``@`` and may be missing) and the two raw census files of *adult*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

ADULT_COLUMNS = (  # noqa: SIM905 -- a line of words reads better
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
).split()
ADULT_NUMERIC = ("age", "capital-gain", "capital-loss", "hours-per-week")
# fnlwgt weighs census strata and says nothing about the person; education-num repeats education.
ADULT_DROPPED = ("fnlwgt", "education-num")


@dataclass(frozen=True, eq=False)
class LabelledItems:
    """Hold n items with d features: ``data`` (n, d), ``target`` (n,) in {0, 1}, d column names."""

    data: npt.NDArray[np.float64]
    target: npt.NDArray[np.int64]
    feature_names: tuple[str, ...]


Reader = Callable[[Sequence[bytes]], LabelledItems]


def split_rows(content: bytes) -> list[list[str]]:
    r"""Return the comma-separated cells of each line, without blank, ``@`` and ``|`` lines.

    ``@`` opens a header line of KEEL, ``|`` a remark in the census files.

    >>> split_rows(b"@relation toy\n@data\n1, 2, yes\n\n3,4,no\n")
    [['1', '2', 'yes'], ['3', '4', 'no']]
    """
    lines = content.decode("utf-8").splitlines()
    return [
        [cell.strip() for cell in line.split(",")]
        for line in lines
        if line.strip() and not line.startswith(("@", "|"))
    ]


def delimited(positive: str, columns: Sequence[str] | None = None) -> Reader:
    r"""Return a reader of one file whose last column is the class; ``positive`` becomes 1.

    With ``columns`` the file has no header line and its features get these names.

    >>> table = delimited("yes")([b"a,b,answer\n1,2,yes\n3,4,no\n"])
    >>> table.feature_names, table.data.tolist(), table.target.tolist()
    (('a', 'b'), [[1.0, 2.0], [3.0, 4.0]], [1, 0])
    """

    def read(contents: Sequence[bytes]) -> LabelledItems:
        (content,) = contents
        rows = split_rows(content)
        names = rows.pop(0)[:-1] if columns is None else columns
        cells = np.array(rows)
        return LabelledItems(
            data=cells[:, :-1].astype(np.float64),
            target=(cells[:, -1] == positive).astype(np.int64),
            feature_names=tuple(names),
        )

    return read


def one_hot(values: npt.NDArray[np.str_]) -> tuple[npt.NDArray[np.float64], list[str]]:
    """Return the (n, c) indicator matrix of n words, and the c distinct words in sorted order.

    >>> matrix, words = one_hot(np.array(["b", "?", "b"]))
    >>> matrix.tolist(), words
    ([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]], ['?', 'b'])
    """
    words, codes = np.unique(values, return_inverse=True)
    matrix = np.zeros((len(values), len(words)))
    matrix[np.arange(len(values)), codes] = 1.0
    return matrix, [str(word) for word in words]


def read_adult(contents: Sequence[bytes]) -> LabelledItems:
    """Read the census files, training rows first, into the 106 columns of the paper.

    Four numbers come first (age, capital-gain, capital-loss, hours-per-week), then the eight
    categorical columns in the order of the file, each one-hot over the sorted words of both files
    together, "?" being a word like any other::

        4 + workclass 9 + education 16 + marital-status 7 + occupation 15 + relationship 6
          + race 5 + sex 2 + native-country 42 = 106

    The positive class is an income above 50K; the second file ends its classes with a full stop.
    """
    cells = np.array([row for content in contents for row in split_rows(content)])
    column = dict(zip(ADULT_COLUMNS, cells.T, strict=True))
    blocks = [np.column_stack([column[name].astype(np.float64) for name in ADULT_NUMERIC])]
    names = list(ADULT_NUMERIC)
    for name in ADULT_COLUMNS[:-1]:
        if name not in ADULT_NUMERIC + ADULT_DROPPED:
            block, words = one_hot(column[name])
            blocks.append(block)
            names.extend(f"{name}={word}" for word in words)
    above = np.char.rstrip(column["income"], ".") == ">50K"
    return LabelledItems(np.hstack(blocks), above.astype(np.int64), tuple(names))
