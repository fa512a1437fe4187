"""What occurs several times: items that show one thing, equal rows, answers that were copied.

Several visits of one patient, frames of one film, copies of one row: what is learnt from one of
them tells the class of the others. A fold that holds out some rows of a group and learns from the
rest measures memory, not accuracy. So folds, resamples and intervals go by group.

`check_groups` reads the groups that a user gives, `item_groups` falls back on identical rows by
their `row_hashes`, and `near_identical` looks for groups that nobody has named.

A copied answer has the same unordered pair, the same answer, the same annotator and the same weight
as another one. It is no new evidence, so counting it makes noise look smaller and every interval
too short. The same annotator with the other answer is a contradiction, not a copy. Where nothing
says who answered, a repeat may be a copy or another person. `look_copied` is the judgement then:
people who err contradict each other now and then, copies never do.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.errors import RepeatedItemsWarning
from noisypairs.pairs.counts import Array, IntArray, pair_keys
from noisypairs.pairs.ids import MISSING_IDS

if TYPE_CHECKING:
    from noisypairs.pairs.pairs import Pairs
    from noisypairs.pairs.protocol import Answers

Codes = NDArray[np.int32]


def group_number(groups: Codes | None) -> int | None:
    """Return how many groups these codes of items show; None where there are no codes."""
    return None if groups is None else int(np.unique(groups).size)


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
    plain = {one: one.strip() if isinstance(one, str) else one for one in dict.fromkeys(entries)}
    known = {name for name in plain.values() if str(name) not in MISSING_IDS}
    try:
        names = sorted(known)
    except TypeError:  # those of one type stand together, whatever order they came in
        names = sorted(known, key=lambda name: (type(name).__name__, str(name)))
    code = {name: k for k, name in enumerate(names)}
    codes = np.array([code.get(plain[one], -1) for one in entries], dtype=np.int32)
    missing = np.flatnonzero(codes < 0)
    if len(names) == 1 and n_items > 1 and not missing.size:
        raise ValueError(
            f"groups puts all {n_items} items into one group, {names[0]!r}: expected two groups or "
            "more, as folds keep a group together. Leave groups out if no two items belong together"
        )
    codes[missing] = len(names) + np.arange(missing.size)
    return codes, np.fromiter([*names, *[None] * missing.size], dtype=object)


def _entries(groups: ArrayLike, n_items: int) -> list[Any]:
    """Return groups as a list, or say what is wrong with their form."""
    if isinstance(groups, str | bytes | Mapping):
        raise TypeError(
            f"groups is a {type(groups).__name__}, {str(groups)[:40]!r}: expected one group for "
            f"each of the {n_items} items, in the order of X, such as a column of its data frame"
        )
    if isinstance(groups, list | tuple):  # an array of tuples would have two dimensions
        return [one.item() if isinstance(one, np.generic) else one for one in groups]
    array = groups if isinstance(groups, np.ma.MaskedArray) else np.asarray(groups)
    if array.ndim != 1:
        raise ValueError(
            f"groups has shape {array.shape}, expected ({n_items},): one group per item. Use "
            ".ravel() if it is a single column"
        )
    entries: list[Any] = (array.astype(np.str_) if array.dtype.kind in "mM" else array).tolist()
    return entries


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


Hashes = NDArray[np.uint64]

#: Numbers of a table that are worked on at once.
BLOCK = 1 << 18
#: Bits of a double that may differ in equal numbers, of 52: the last half of 16 digits.
ROUNDED = 25


def row_hashes(X: Any) -> Hashes:
    """Return a hash per row, shape (n_items,): equal for equal rows, and hardly ever for others.

    ``X`` is an array, a sparse matrix or a data frame. Numbers are compared to about eight digits:
    a matrix product, such as that of a PCA, rounds equal rows differently. Missing values equal
    each other. A sparse matrix has the hashes of the same matrix in full. Two of n different rows
    share a hash with probability n²/2⁶⁵: one in 37 million for a million rows.

    >>> hashes = row_hashes([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
    >>> hashes[0] == hashes[2], hashes[0] == hashes[1]
    (np.True_, np.False_)
    """
    if hasattr(X, "tocsr"):
        return _sparse_hashes(X.tocsr())
    table = as_numbers(X)
    salt = _salts(table.shape[1])
    zero = mixed(salt)
    sums = [(mixed(_bits(block) + salt) - zero).sum(axis=1) for block in blocks(table)]
    return mixed(np.concatenate(sums)) if sums else np.zeros(0, dtype=np.uint64)


def _sparse_hashes(X: Any) -> Hashes:
    """Return the same for a CSR matrix; zeros add nothing, stored or not."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    salt = _salts(X.shape[1])[X.indices]
    terms = mixed(_bits(X.data.astype(np.float64)) + salt) - mixed(salt)
    sums = np.zeros(X.shape[0], dtype=np.uint64)
    filled = np.flatnonzero(np.diff(X.indptr))  # reduceat cannot take empty rows
    if filled.size:
        sums[filled] = np.add.reduceat(terms, X.indptr[filled])
    return mixed(sums)


def _salts(n_columns: int) -> Hashes:
    """Return a number per column: the same values in other columns are another row."""
    return mixed(np.arange(n_columns, dtype=np.uint64))


def _bits(values: Array) -> Hashes:
    """Return the bits of numbers without the last `ROUNDED`; missing values have one form.

    −0.0 becomes 0.0, too.
    """
    bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)
    last = np.uint64(1 << ROUNDED)
    return (bits + last // np.uint64(2)) & ~(last - np.uint64(1))


def mixed(values: Hashes) -> Hashes:
    """Return the numbers with their bits mixed (SplitMix64).

    >>> mixed(np.arange(2, dtype=np.uint64))
    array([16294208416658607535, 10451216379200822465], dtype=uint64)
    """
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def blocks(table: NDArray[Any]) -> Iterator[Array]:
    """Cut a table into blocks of rows, as C-ordered doubles."""
    step = max(1, BLOCK // max(table.shape[1], 1))
    for start in range(0, len(table), step):
        yield np.ascontiguousarray(table[start : start + step], dtype=np.float64)


def as_numbers(X: Any) -> NDArray[Any]:
    """Return a table of numbers, shape (n_items, d): texts become their place in the alphabet.

    >>> as_numbers([["b", 2], ["a", 1]]).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    if hasattr(X, "columns"):
        frame = nw.from_native(X, eager_only=True)
        columns, n_rows = [one.to_numpy() for one in frame.iter_columns()], len(frame)
    else:
        table = np.asarray(X)
        table = table.reshape(len(table), math.prod(table.shape[1:]))
        if table.dtype.kind in "biuf":
            return table
        columns, n_rows = list(table.T), len(table)
    return np.column_stack([np.empty((n_rows, 0)), *map(_column_numbers, columns)])


def _column_numbers(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind in "biuf":
        return values
    if values.dtype.kind in "mM":
        return values.astype(np.int64)
    return np.unique([str(value) for value in values.tolist()], return_inverse=True)[1]


Mask = NDArray[np.bool_]

#: Fewer repeated pairs than this say nothing about whether answers were copied.
FEWEST_PAIRS = 20
#: Votes are looked at one by one up to this number.
MOST_VOTES = 2_000_000
#: Share of all pairs that must be repeated, and share of those that may be answered both ways.
MOSTLY_REPEATED, HARDLY_CONTRADICTED = 0.9, 0.01


def copied(
    left: IntArray,
    right: IntArray,
    same: NDArray[Any],
    n_items: int,
    annotator: IntArray | None = None,
    weight: NDArray[np.floating[Any]] | None = None,
) -> Mask:
    """Return which answers are copies of an earlier one, shape (n_pairs,).

    ``same`` are the answers, or their levels. Without annotators every repetition of an answer on a
    pair counts as a copy.

    >>> copied(np.array([0, 1, 0]), np.array([1, 0, 1]), np.array([True, True, False]), 2)
    array([False,  True, False])
    """
    columns: list[NDArray[Any]] = [same, pair_keys(left, right, n_items)]
    columns += [column for column in (annotator, weight) if column is not None]
    order = np.lexsort(columns)  # stable: of equal answers the first comes first
    again = np.ones(max(order.size - 1, 0), dtype=bool)
    for column in columns:
        again &= column[order][1:] == column[order][:-1]
    found = np.zeros(order.size, dtype=bool)
    found[order[1:][again]] = True
    return found


def look_copied(key: NDArray[np.int64], same: Mask) -> bool:
    """Return whether answers without annotators were probably copied; ``key`` names the pair.

    Either every answer on a pair is there a multiple of m ≥ 2 times ("same" three times and
    "different" six times, say), or nearly all pairs are repeated and hardly any of them is answered
    both ways (`MOSTLY_REPEATED`, `HARDLY_CONTRADICTED`). Below `FEWEST_PAIRS` repeated pairs: no.

    >>> key, same = np.arange(50), np.arange(50) % 3 == 0
    >>> look_copied(np.tile(key, 3), np.tile(same, 3)), look_copied(key, same)
    (True, False)
    """
    asked, contradicted, n_pairs = repeats(key, same)
    if asked < FEWEST_PAIRS:
        return False
    _, times = np.unique(2 * key + same, return_counts=True)
    if np.gcd.reduce(times) > 1:
        return True
    return asked >= MOSTLY_REPEATED * n_pairs and contradicted <= HARDLY_CONTRADICTED * asked


def repeats(key: NDArray[np.int64], same: Mask) -> tuple[int, int, int]:
    """Return how many pairs were asked again, how many of those answered both ways, and all."""
    _, pair = np.unique(key, return_inverse=True)
    asked, yes = np.bincount(pair), np.bincount(pair, same)
    both_ways = (yes > 0) & (yes < asked)
    return int(np.count_nonzero(asked > 1)), int(np.count_nonzero(both_ways)), asked.size


def single_answers(pairs: Pairs) -> Pairs:
    """Return votes as one answer each; pairs that do not hold votes as they are.

    Weights are votes where they are whole numbers, nobody is named, and pairs hold both answers far
    more often than one answer twice: votes that agree stand in one row.

    >>> from noisypairs.pairs import Pairs
    >>> single_answers(Pairs.from_votes([0, 1], [1, 2], [2, 0], [1, 2])).same.tolist()
    [True, True, False, False, False]
    """
    weight = pairs.weight
    if weight is None or pairs.annotator is not None or weight.sum() > MOST_VOTES:
        return pairs
    _, both_ways, _ = repeats(pair_keys(pairs.left, pairs.right, pairs.n_items), pairs.same)
    plain = pairs.reweighted(None)
    alike = plain.n_pairs - plain.without_copies().n_pairs
    if not ((weight % 1 == 0).all() and both_ways > 5 * alike):
        return pairs
    return pairs.select(np.repeat(np.arange(pairs.n_pairs), weight.astype(int))).reweighted(None)
