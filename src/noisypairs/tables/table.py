"""PairTable: pairs that stay where they are, for learners that need only sums over them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.algebra import Array
from noisypairs.pairs import Batch, ItemCounts, Labels, Pairs
from noisypairs.pairs.audit import Audit
from noisypairs.pairs.columns import ROLES, Role
from noisypairs.pairs.groups import check_groups
from noisypairs.pairs.ids import clean_ids, id_array, labelled_positions
from noisypairs.pairs.levels import PLAIN, Scale
from noisypairs.pairs.pairs import check_index, check_labels, names_in
from noisypairs.pairs.protocol import OneEntryPerItem
from noisypairs.tables import sums
from noisypairs.tables.auditing import audit_table
from noisypairs.tables.batch import AnnotatorCounts, read_batch
from noisypairs.tables.engine import ChangedTable, fetch, stream
from noisypairs.tables.items import ItemTable
from noisypairs.tables.reading import OpenedTable, open_answers
from noisypairs.tables.source import Expression, Files, Kind, TableSource

#: Answers per batch: some tens of megabytes at work, whatever the size of the table.
BATCH = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class PairTable(OneEntryPerItem):
    """Noisy answers in files or in an engine, of any size; use it wherever `Pairs` are taken.

    Build one with `from_parquet`, `from_csv` or `from_ibis`. Learners that weigh items need one
    pass over the pairs, made by the engine; learners that need the pairs themselves load them
    (`to_pairs`), 9 bytes each. Indexing takes items and gives the sub-graph on them, lazily, so
    scikit-learn's splitters work. Nothing is read twice that was counted once.

    >>> import ibis, pyarrow
    >>> table = pyarrow.table({"left": [0, 1, 0], "right": [1, 2, 3], "same": [1, 0, 1]})
    >>> pairs = PairTable.from_ibis(ibis.memtable(table), n_items=4)
    >>> pairs
    PairTable[4 items](n_pairs=3)
    >>> pairs.item_counts().same
    array([2., 1., 0., 1.])
    """

    source: TableSource
    recipe: Mapping[str, Any]
    labels: Labels = field(default_factory=lambda: MappingProxyType({}))
    kept: NDArray[np.int64] | None = None
    self_pairs: bool = True
    groups: NDArray[np.int32] | None = None
    group_names: NDArray[Any] | None = None
    class_names: tuple[Hashable, ...] = ()

    # --- building ---------------------------------------------------------------------------

    @classmethod
    def from_parquet(
        cls,
        path: str | Path,
        *,
        items: ArrayLike | ItemTable | None = None,
        n_items: int | None = None,
        memory_limit: str | None = None,
        threads: int | None = None,
        temp_directory: str | None = None,
        engine: Any = None,
        labels: Labels | None = None,
        kind: Kind = "parquet",
        **columns: Any,
    ) -> PairTable:
        """Read a Parquet file, folder or pattern where it lies; of another ``kind``, CSV.

        ``n_items`` says that the columns hold positions; ``items`` are ids in the order of X, or an
        `ItemTable`, to which the columns are joined in the engine. ``memory_limit`` ("2GB"),
        ``threads`` and ``temp_directory`` are DuckDB's; ``engine`` is another Ibis connection, such
        as `spark_engine()`. ``columns`` are left, right, same, annotator, weight (names, guessed as
        `Pairs.from_frame` does; False leaves one out), unsure ("raise" or "drop"), words (what
        answers mean, see `Pairs.from_frame`) and drop_unknown (False: refuse unknown ids).
        """
        settings = {"memory_limit": memory_limit, "threads": threads}
        settings["temp_directory"] = temp_directory
        engine = items.engine if isinstance(items, ItemTable) and engine is None else engine
        source = Files.find(path, kind, settings, engine)
        return cls._opened(source, items, n_items, labels, columns)

    @classmethod
    def from_csv(cls, path: str | Path, **given: Any) -> PairTable:
        """Read CSV files where they lie, ids as text ("007" is not 7); else as `from_parquet`."""
        return cls.from_parquet(path, kind="csv", **given)

    @classmethod
    def from_ibis(
        cls,
        table: Any,
        *,
        items: ArrayLike | ItemTable | None = None,
        n_items: int | None = None,
        labels: Labels | None = None,
        **columns: Any,
    ) -> PairTable:
        """Take any Ibis table expression: of DuckDB, Spark or a warehouse. See `from_parquet`."""
        return cls._opened(Expression(table), items, n_items, labels, columns)

    @classmethod
    def _opened(
        cls,
        source: TableSource,
        items: ArrayLike | ItemTable | None,
        n_items: int | None,
        labels: Labels | None,
        columns: dict[str, Any],
    ) -> PairTable:
        policies = {
            "unsure": columns.pop("unsure", "raise"),
            "words": columns.pop("words", None),
            "drop_unknown": columns.pop("drop_unknown", False),
        }
        strange = set(columns) - set(ROLES)
        if strange:
            raise TypeError(f"unknown arguments {sorted(strange)}: expected {', '.join(ROLES)}")
        named: dict[str, Role] = {role: columns.get(role) for role in ROLES}
        recipe = {"named": named, "items": items, "n_items": n_items, **policies}
        table = cls(source, MappingProxyType(recipe))
        return table.with_labels(labels) if table._base.n_pairs else table  # opens it

    @cached_property
    def _base(self) -> OpenedTable:
        """The table as first looked at; opened again where this object was unpickled."""
        return open_answers(self.source, **self.recipe)

    @cached_property
    def _answers(self) -> Any:
        """The Ibis expression of exactly the answers this object stands for."""
        found = self._base.answers
        if self.kept is not None:
            found = sums.among_items(found, self.kept)
        return found if self.self_pairs else found.filter(found.left != found.right)

    @property
    def expression(self) -> Any:
        """The answers as an Ibis table: left, right, same, and perhaps annotator and weight."""
        return self._answers

    @property
    def engine(self) -> Any:
        """The Ibis connection that holds the answers."""
        return self._answers.get_backend()

    def _changed(self, **changes: Any) -> PairTable:
        new = replace(self, **changes)
        if "_base" in self.__dict__:  # what was looked at need not be looked at again
            new.__dict__["_base"] = self._base
        return new

    # --- what Pairs have too ----------------------------------------------------------------

    @property
    def n_items(self) -> int:
        """Number of items, in pairs or not."""
        return self._base.n_items if self.kept is None else int(self.kept.size)

    @cached_property
    def n_pairs(self) -> int:
        """Number of answers, repeats and (unless left out) self pairs included."""
        if self.kept is None:
            return self._base.n_pairs - (0 if self.self_pairs else self._base.self_pairs)
        with self.source.unchanged():
            return int(fetch(self._answers.count()).as_py())

    @property
    def item_ids(self) -> NDArray[Any] | None:
        """The ids behind the positions, where the table was joined by ids."""
        ids = self._base.item_ids
        return ids if ids is None or self.kept is None else ids[self.kept]

    @property
    def dropped(self) -> Mapping[str, int]:
        """How many rows were left out, unsure answers and unknown items."""
        return MappingProxyType(self._base.dropped if self.kept is None else {})

    @property
    def columns(self) -> Mapping[str, str]:
        """The names of the columns that were used, by role: left, right, same, …."""
        return MappingProxyType(self._base.names)

    @property
    def mapping(self) -> Mapping[str, str]:
        """How each word was read, for example {"yes": "same", "no": "different"}."""
        return MappingProxyType(self._base.mapping)

    def __repr__(self) -> str:
        return f"PairTable[{self.n_items} items](n_pairs={self.n_pairs})"

    def __getstate__(self) -> dict[str, Any]:
        names = ("source", "kept", "self_pairs", "groups", "group_names", "class_names")
        state = {name: getattr(self, name) for name in names}
        return state | {"labels": dict(self.labels), "recipe": dict(self.recipe)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        frozen = {name: MappingProxyType(state[name]) for name in ("labels", "recipe")}
        self.__dict__.update(state | frozen)

    def __getitem__(self, rows: Any) -> PairTable:
        """Return the sub-graph on the items ``rows``, renumbered in that order; reads nothing."""
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            rows = rows[0]
        chosen = check_index(rows, self.n_items, "items")
        if np.unique(chosen).size < chosen.size:
            raise ValueError("an item can stand in a sub-graph once: rows name some item twice")
        new = {old: at for at, old in enumerate(chosen.tolist())} if self.labels else {}
        labels = {new[k]: name for k, name in self.labels.items() if k in new}
        kept = chosen if self.kept is None else self.kept[chosen]
        groups = None if self.groups is None else self.groups[chosen]
        return self._changed(kept=kept, labels=MappingProxyType(labels), groups=groups)

    def without_self_pairs(self) -> PairTable:
        """Leave out pairs of an item with itself; the same object if there are none."""
        return (
            self._changed(self_pairs=False) if self.self_pairs and self._base.self_pairs else self
        )

    def with_labels(
        self, labels: Mapping[Any, Hashable] | None, by: Literal["position", "id"] | None = None
    ) -> PairTable:
        """Return the same table with these known classes and no others, as `Pairs.with_labels`.

        Beside an `ItemTable` they are by id, unless ``by="position"``.
        """
        items = self.recipe["items"]
        if isinstance(items, ItemTable) and labels and by != "position":
            labels, by = items.positions_of(labels), "position"
        known = check_labels(labelled_positions(labels, lambda: self.item_ids, by), self.n_items)
        return self._changed(labels=MappingProxyType(known), class_names=names_in(known))

    def with_groups(self, groups: ArrayLike | None) -> PairTable:
        """Return the same table with these groups of items, as `Pairs.with_groups`."""
        codes, names = check_groups(groups, self.n_items)
        for array in (codes, names):
            if array is not None:
                array.setflags(write=False)
        return self._changed(groups=codes, group_names=names)

    # --- sums, made by the engine -----------------------------------------------------------

    @cached_property
    def _counted(self) -> tuple[Array, Array, NDArray[np.int64]]:
        with self.source.unchanged():
            found = sums.count_items(self._answers, self.n_items)
        if self.kept is None:
            self._require_rows(int(found[2].sum()) // 2, self._base.n_pairs - self._base.self_pairs)
        return found

    def item_counts(self) -> ItemCounts:
        """Return s_i and d_i as `Pairs.item_counts` does: the point-wise learners' one pass."""
        same, total, _ = self._counted
        return ItemCounts(same, total - same)

    def degrees(self) -> NDArray[np.int64]:
        """Return the number of answers about each item, self pairs aside, shape (n_items,)."""
        return self._counted[2]

    def pooled_answers(self) -> Pairs:
        """Return one weighted answer of each kind: all that the share of "same" depends on.

        Weights are the totals, in float32 as those of all `Pairs` (relative error below 1e-7).
        """
        same, total, _ = self._counted
        weight = np.array([same.sum(), (total - same).sum()]) / 2
        said = weight > 0
        zero, one = np.zeros(2, int), np.ones(2, int)
        return Pairs(
            zero[said], one[said], np.array([True, False])[said], n_items=2, weight=weight[said]
        )

    def neighbour_sums(self, values: ArrayLike) -> tuple[Array, Array]:
        """Return Σ_j w·values[j] over "same" and over "different" answers, (n_items, k) each.

        ``values`` is (n_items, k). With messages as values it is the sum of an E-step; with
        indicators of folds it counts answers by the fold of the other item.
        """
        given = np.asarray(values, dtype=float)
        if given.ndim != 2 or len(given) != self.n_items:
            raise ValueError(f"values has shape {given.shape}, expected ({self.n_items}, k)")
        with self.source.unchanged():
            return sums.sum_neighbours(self._answers, given)

    @cached_property
    def annotator_counts(self) -> AnnotatorCounts | None:
        """Answers by annotator, or None where the table does not say who answered."""
        if "annotator" not in self._base.answers.columns:
            return None
        with self.source.unchanged():
            rows = sums.count_annotators(self._answers)
        names = clean_ids([row[0] for row in rows], "annotator")
        order = sorted(set(names))
        table = np.zeros((3, len(order)))
        np.add.at(table.T, [order.index(n) for n in names], np.array([row[1:] for row in rows]))
        return AnnotatorCounts(id_array(order), table[0], table[1], table[2].astype(np.int64))

    @property
    def scale(self) -> Scale:
        """What may be answered: tables hold "same" and "different"."""
        return PLAIN

    @property
    def annotator_names(self) -> NDArray[Any] | None:
        """Sorted names of the annotators, as in `Pairs`."""
        counts = self.annotator_counts
        return None if counts is None else counts.names

    def audit(self, most_pairs: int = 2_000_000) -> Audit:
        """Report what `Pairs.audit` does; triangles of a sample beyond ``most_pairs`` pairs."""
        return audit_table(self, most_pairs)

    def count_repeats(self) -> dict[str, int]:
        """Return repeated pairs, answers beyond the first, and contradictions."""
        with self.source.unchanged():
            return sums.count_repeats(self._answers)

    def count_copies(self) -> int:
        """Return how many answers copy another; they are counted by the engine, and kept."""
        with self.source.unchanged():
            return sums.count_copies(self._answers)

    # --- the pairs themselves ---------------------------------------------------------------

    def batches(self, size: int = BATCH) -> Iterator[Batch]:
        """Stream all answers in batches of at most ``size``, in no promised order.

        Finish one stream before asking the table for anything else: they share a connection.
        """
        yield from self._stream(self._answers, size, self.n_pairs)

    def _stream(self, expression: Any, size: int, expected: int | None) -> Iterator[Batch]:
        if size < 1:
            raise ValueError(f"size={size!r}: expected a positive number of answers")
        names = self.annotator_names
        codes = None if names is None else {name: k for k, name in enumerate(names.tolist())}
        seen = 0
        with self.source.unchanged():
            for rows in stream(expression, size):
                seen += rows.num_rows
                yield read_batch(rows, codes)
        if expected is not None:
            self._require_rows(seen, expected)

    def to_pairs(self) -> Pairs:
        """Load everything into memory, 9 bytes a pair, 17 with annotator and weight."""
        return self._load(self._answers, self.n_pairs)

    def sample(self, n_pairs: int, random_state: int = 0) -> Pairs:
        """Load about ``n_pairs`` pairs (all if there are no more), the same for any row order."""
        if n_pairs >= self.n_pairs:
            return self.to_pairs()
        share = n_pairs / self.n_pairs
        return self._load(sums.some_pairs(self._answers, share, random_state), None)

    def sample_of_items(self, n_items: int) -> Pairs:
        """Load pairs of at most about ``n_items`` items: drawn at random, or all among some items.

        Pairs drawn at random have two items each, and m of n items hold (m/n)² of the pairs:
        whichever gives more. Positions are those of the table.
        """
        share = min(1.0, n_items / self.n_items)
        if self.n_pairs * share**2 <= n_items / 2:
            return self.sample(max(1, n_items // 2))
        return self._load(sums.pairs_among_some(self._answers, share), None)

    def among_some_items(self, n_pairs: int) -> tuple[Pairs, NDArray[np.int64]]:
        """Load the pairs among items drawn at random, about ``n_pairs`` of them, and those items.

        Unlike a sample of the pairs it keeps triangles: (m/n)³ of them from m of n items, which
        hold about (m/n)² of the pairs.
        """
        share = min(1.0, float(np.sqrt(n_pairs / max(self.n_pairs, 1))))
        m = min(self.n_items, max(3, round(self.n_items * share)))
        chosen = np.random.default_rng(0).choice(self.n_items, size=m, replace=False)
        return self[chosen].to_pairs(), chosen

    def _load(self, expression: Any, expected: int | None) -> Pairs:
        parts = list(self._stream(expression, BATCH, expected))
        columns: list[Any] = [
            None if not parts or parts[0][k] is None else np.concatenate([p[k] for p in parts])
            for k in range(5)
        ]
        if not parts:
            columns[:3] = np.zeros(0, int), np.zeros(0, int), np.zeros(0, bool)
        # Engines return rows in any order: one order for all, so that models repeat.
        keys = [column for column in (columns[4], *columns[2::-1]) if column is not None]
        order = np.lexsort(keys)
        columns = [column if column is None else column[order] for column in columns]
        left, right, same, who, weight = columns
        names = self.annotator_names
        named = None if who is None or names is None else names[who]
        pairs = Pairs(left, right, same, self.n_items, named, weight, self.labels)
        if who is not None:  # by the names of the table: a sample need not have heard of everybody
            pairs = pairs._replace(annotator=who, annotator_names=names)
        return pairs._replace(groups=self.groups, group_names=self.group_names)

    def _require_rows(self, seen: int, expected: int) -> None:
        if seen != expected:
            raise ChangedTable(
                f"{self.source.name} had {expected:,} usable pairs when it was opened and {seen:,} "
                "now: it changed while it was read. Open the table again when nothing writes to it"
            )
