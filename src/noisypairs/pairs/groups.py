"""Groups of items: rows that show one and the same thing several times.

Several visits of one patient, frames of one film, copies of one row: what is learnt from one of
them tells the class of the others. A fold that holds out some rows of a group and learns from the
rest measures memory, not accuracy. So folds, resamples and intervals go by group.

`check_groups` reads the groups that a user gives, `item_groups` falls back on identical rows, and
`near_identical` looks for groups that nobody has named.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.errors import RepeatedItemsWarning
from noisypairs.pairs.ids import MISSING_IDS
from noisypairs.pairs.rows import Array, as_numbers, row_hashes

if TYPE_CHECKING:
    from noisypairs.pairs.protocol import Answers

Codes = NDArray[np.int32]


def check_groups(
    groups: ArrayLike | None, n_items: int
) -> tuple[Codes | None, NDArray[Any] | None]:
    """Return groups as int32 codes, shape (n_items,), and their sorted names, shape (n_groups,).

    Texts match without the blanks around them. An item whose group is missing (None, NaN or an
    empty text) is a group of its own, called None, behind the others.

    >>> codes, names = check_groups(["b", "a", None, "b "], 4)
    >>> codes, names
    (array([1, 0, 2, 1], dtype=int32), array(['a', 'b', None], dtype=object))
    """
    if groups is None:
        return None, None
    distinct, which = _distinct(groups, n_items)
    known = _in_order({name for name in distinct if str(name) not in MISSING_IDS})
    code = {name: k for k, name in enumerate(known)}
    codes = np.array([code.get(name, -1) for name in distinct], dtype=np.int32)[which]
    missing = np.flatnonzero(codes < 0)
    if len(known) == 1 and n_items > 1 and not missing.size:
        raise ValueError(
            f"groups puts all {n_items} items into one group, {known[0]!r}: expected two groups or "
            "more, as folds keep a group together. Leave groups out if no two items belong together"
        )
    codes[missing] = len(known) + np.arange(missing.size)
    names = np.fromiter([*known, *[None] * missing.size], dtype=object)
    return codes, names


def _distinct(groups: ArrayLike, n_items: int) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the different groups, texts without blanks around them, and which one each item has.

    Whatever is not one hashable value per item is refused.
    """
    entries = _entries(groups, n_items)
    if len(entries) != n_items:
        raise ValueError(
            f"groups has {len(entries)} entries but there are {n_items} items: give one per item, "
            "in the order of X"
        )
    strange = next((k for k, one in enumerate(entries) if not isinstance(one, Hashable)), None)
    if strange is not None:
        raise TypeError(
            f"groups has a {type(entries[strange]).__name__} for item {strange}: expected a text "
            "or a number for each item"
        )
    code = {name: k for k, name in enumerate(dict.fromkeys(entries))}
    plain = [name.item() if isinstance(name, np.generic) else name for name in code]
    plain = [name.strip() if isinstance(name, str) else name for name in plain]
    return plain, np.fromiter((code[one] for one in entries), np.intp, len(entries))


def _entries(groups: ArrayLike, n_items: int) -> list[Any]:
    """Return groups as a list, or say what is wrong with their form."""
    if isinstance(groups, str | bytes | Mapping):
        raise TypeError(
            f"groups is a {type(groups).__name__}, {str(groups)[:40]!r}: expected one group for "
            f"each of the {n_items} items, in the order of X, such as a column of its data frame"
        )
    if isinstance(groups, list | tuple):  # an array of tuples would have two dimensions
        return list(groups)
    array = groups if isinstance(groups, np.ma.MaskedArray) else np.asarray(groups)
    if array.ndim != 1:
        raise ValueError(
            f"groups has shape {array.shape}, expected ({n_items},): one group per item. Use "
            ".ravel() if it is a single column"
        )
    entries: list[Any] = (array.astype(np.str_) if array.dtype.kind in "mM" else array).tolist()
    return entries


def _in_order(names: set[Any]) -> list[Any]:
    """Return names sorted, whatever order they came in; those of one type stand together."""
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=lambda name: (type(name).__name__, str(name)))


def item_groups(X: Any, pairs: Answers) -> NDArray[np.intp]:
    """Return the group of each item as codes 0 … n_groups−1, shape (n_items,).

    The groups of the pairs where they are given. Else identical rows of ``X`` are one group; where
    ``X`` is None, every item is a group of its own. ``X`` is an array, a sparse matrix or a data
    frame of n_items rows.

    >>> from noisypairs import Pairs
    >>> pairs = Pairs([0, 1], [1, 2], [True, False])
    >>> codes = item_groups([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]], pairs)
    >>> codes[0] == codes[2], codes[0] == codes[1]
    (np.True_, np.False_)
    >>> item_groups(None, pairs.with_groups(["ann", "bob", "ann"]))
    array([0, 1, 0])
    """
    n_rows = pairs.n_items if X is None else X.shape[0] if hasattr(X, "shape") else len(X)
    if n_rows != pairs.n_items:
        raise ValueError(
            f"X has {n_rows} rows but the pairs are about {pairs.n_items} items: give one row per "
            "item"
        )
    if pairs.groups is None and X is None:
        return np.arange(n_rows)
    given = row_hashes(X) if pairs.groups is None else pairs.groups
    return np.unique(given, return_inverse=True)[1].astype(np.intp)


def n_sharing(groups: NDArray[np.integer[Any]]) -> int:
    """Return how many items share their group with another item.

    >>> n_sharing(np.array([0, 1, 0, 2]))
    2
    """
    sizes = np.unique(groups, return_counts=True)[1]
    return int(sizes[sizes > 1].sum())


#: Nearly identical rows are looked for in groups of at most this many rows.
MOST_ROWS_OF_ONE = 8
#: Neighbours, by rank, whose distances show how dense the rows lie where nothing is repeated.
FIRST_FAR, LAST_FAR = 16, 31
#: Mean gap of plain rows, at most, and standard errors beside it; see `near_identical`.
CLEAR_GAP, CLEAR_ERRORS = 1.5, 3.0
#: Fewer different rows than this show nothing.
FEWEST_ROWS = 100
#: Rows whose neighbours are looked for, at most, and numbers of the table that are looked at.
MOST_QUERIES, MOST_NUMBERS = 2_000, 20_000_000
#: Values that a column must have, so that rows can be close in it without being equal.
FEWEST_VALUES = 10


@dataclass(frozen=True)
class NearIdentical:
    """About how many rows are nearly identical to another one, and two that are.

    ``n_rows`` is the number of different rows: identical ones count once.
    ``example`` holds the positions of the two rows that stand out most; None where there are none.
    """

    n_near: int
    n_rows: int
    example: tuple[int, int] | None = None

    def text(self, item_ids: NDArray[Any] | None = None) -> str:
        """Return what was found and what to do, "" where nothing was found; rows by their ids.

        >>> NearIdentical(390, 400, (3, 5)).text()
        'some rows are nearly identical (about 390 of 400, such as 3 and 5). If they are the same
        item seen several times, the estimated accuracy is too high: say so with groups=, or --group
        in commands'
        """
        if self.example is None:
            return ""
        names = self.example if item_ids is None else item_ids[list(self.example)].tolist()
        return (
            f"some rows are nearly identical (about {self.n_near:,} of {self.n_rows:,}, such as "
            f"{names[0]!r} and {names[1]!r}). If they are the same item seen several times, the "
            "estimated accuracy is too high: say so with groups=, or --group in commands"
        )


def near_identical(X: Any) -> NearIdentical:
    """Look for rows that are probably the same item seen several times, with small differences.

    Let d₁ ≤ d₂ ≤ … be the distances of a row to its neighbours. Where rows lie as dense as their
    neighbours, in m dimensions,

        g_j = m j log(d_{j+1} / d_j)

    follows an exponential distribution of mean 1, for every j and every density. Where each item
    has r rows, d_r is far larger than d_{r−1} and the mean of g_{r−1} exceeds 1. Dimension m is
    that of the neighbours `FIRST_FAR` to `LAST_FAR`, beyond any group. Rows are called nearly
    identical where the mean of some g_j, j < `MOST_ROWS_OF_ONE`, exceeds `CLEAR_GAP` clearly.

    This finds repeated items where the noise is small beside the distance of items. Of 20 tables of
    100 items, each in 4 rows, with noise of .3 standard deviations: 20 with 10 columns, 16 with 5,
    none with 3. Of 2,000 plain tables of 20 kinds it calls none repeated, nor any of 13 real ones.
    Well separated clusters of at most 8 rows look the same, and so do some of 12: only the user can
    tell. (``benchmarks/near_identical.py``)

    Columns are standardised. Left out are columns with fewer than `FEWEST_VALUES` values, and those
    in which one value fills more than half of the rows: equal cells are natural there. Any order of
    the rows gives the same result.

    >>> rng = np.random.default_rng(0)
    >>> patients = rng.normal(size=(100, 10))
    >>> near_identical(patients).n_near
    0
    >>> visits = patients.repeat(4, axis=0) + 0.3 * rng.normal(size=(400, 10))
    >>> near_identical(visits).n_near > 300
    True
    """
    table = _measurements(X)
    rows = np.unique(row_hashes(table), return_index=True)[1]  # by their hashes: in random order
    if rows.size < FEWEST_ROWS:
        return NearIdentical(0, rows.size)
    table = table[rows]
    distance, neighbour = _neighbours(table)
    growth: Array = np.log(distance[:, 1:]) - np.log(distance[:, :-1])
    gap = growth * np.arange(1.0, LAST_FAR - 1)
    near = gap[:, : MOST_ROWS_OF_ONE - 1] / max(gap[:, FIRST_FAR - 1 :].mean(), 1e-12)
    if near.mean(axis=0).max() <= CLEAR_GAP + CLEAR_ERRORS / np.sqrt(len(near)):
        return NearIdentical(0, rows.size)
    largest = near.max(axis=1)
    best = int(largest.argmax())
    example = sorted((int(rows[best]), int(rows[neighbour[best, 0]])))
    return NearIdentical(
        max(2, round(_share_beyond_chance(largest) * rows.size)),
        rows.size,
        (example[0], example[1]),
    )


def warn_of_repeated_items(X: Any, pairs: Answers, stacklevel: int = 2) -> None:
    """Warn where rows are nearly identical and the pairs have no groups that say why."""
    if pairs.groups is None and (said := near_identical(X).text(pairs.item_ids)):
        warnings.warn(said, RepeatedItemsWarning, stacklevel=stacklevel + 1)


def _share_beyond_chance(largest: Array) -> float:
    """Return about which share of rows have a larger gap than chance gives; ``largest`` is (n,).

    By chance half of the largest gaps are below their median, so twice the share below it is
    chance. Where few rows are repeated, the share beyond the 99th percentile says more.
    """
    n_gaps = MOST_ROWS_OF_ONE - 1
    median = -np.log1p(-(0.5 ** (1 / n_gaps)))
    beyond_median = 1.0 - 2.0 * float(np.mean(largest < median))
    return max(beyond_median, float(np.mean(largest > np.log(n_gaps / 0.01))))


def _neighbours(table: Array) -> tuple[Array, NDArray[np.intp]]:
    """Return distances and positions of the nearest other rows, for the first rows of a table."""
    from sklearn.neighbors import NearestNeighbors

    n_queries = max(100, min(MOST_QUERIES, 4_000_000_000 // table.size))
    search = NearestNeighbors(n_neighbors=LAST_FAR).fit(table)
    distance, neighbour = search.kneighbors(table[:n_queries])
    return np.maximum(distance[:, 1:], 1e-300), neighbour[:, 1:]


def _measurements(X: Any) -> Array:
    """Return the columns in which rows can be close without being equal, standardised; (n, d).

    Of a very large table some of them are taken: rows that are near are so in any columns.
    """
    if hasattr(X, "tocsr"):
        often = np.bincount(X.tocoo().col, minlength=X.shape[1]) * 2 > X.shape[0]
        table = X.tocsr()[:, np.flatnonzero(often)].toarray()  # in the others zero fills half
    else:
        table = as_numbers(X)
    n_rows, n_columns = table.shape
    columns = np.random.default_rng(0).permutation(n_columns)[: MOST_NUMBERS // max(n_rows, 1) + 1]
    found = [_measured(table[:, j].astype(np.float64)) for j in np.sort(columns)]
    return np.column_stack([np.zeros((n_rows, 0)), *[one for one in found if one is not None]])


def _measured(values: Array) -> Array | None:
    """Return a column standardised, None if it is too coarse. What is missing counts as the middle.

    Half of the cells at least must be there.
    """
    finite = np.isfinite(values)
    if 2 * np.count_nonzero(finite) <= values.size:
        return None
    values = np.where(finite, values, np.median(values[finite]))
    times = np.unique(values, return_counts=True)[1]
    if times.size < FEWEST_VALUES or 2 * times.max() > values.size:
        return None
    values = values / np.abs(values).max()  # squares of any number are finite then
    standardised: Array = (values - values.mean()) / values.std()
    return standardised
