"""ItemTable: items whose features stay where they are, classified where they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.errors import did_you_mean
from noisypairs.tables.engine import (
    errors_naming,
    fetch,
    load_arrow,
    load_ibis,
    stream,
    unfused,
    without_engine_warnings,
)
from noisypairs.tables.source import Expression, Files, TableSource
from noisypairs.tables.store import Store
from noisypairs.tables.sweep import item_type

#: Items per batch when they are classified, and folds of the items.
BATCH, N_FOLDS = 100_000, 2

#: From features of a batch, and the fold of every item, to columns of numbers by name.
Scorer = Callable[[Any, NDArray[np.intp]], dict[str, Array]]


@dataclass(frozen=True, eq=False, repr=False)
class ItemTable:
    """Items in files or in an engine, of any number; `JointPairClassifier.fit` takes them as ``X``.

    Build one with `from_parquet` or `from_ibis`. ``id`` is the column with the ids of the items,
    each once; ``features`` are columns of numbers, or one column of vectors, and by default all
    columns but ``id`` and ``group``. A learner chooses its model on about ``sample`` items. Where
    there is a fitted ``encoder``, it makes numbers of the columns where the items are.

    >>> import ibis, pyarrow
    >>> rows = pyarrow.table({"id": ["a", "b", "c"], "size": [1.0, 2.5, 4.0]})
    >>> items = ItemTable.from_ibis(ibis.memtable(rows), id="id")
    >>> items
    ItemTable(n_items=3, features=('size',))
    >>> items.features_of(np.array([2, 0])).ravel().tolist()
    [4.0, 1.0]
    """

    source: TableSource
    id: str
    features: tuple[str, ...]
    group: str | None = None
    sample: int = 100_000
    encoder: Any = None

    @classmethod
    def from_parquet(
        cls,
        path: str | Path,
        *,
        id: str,
        features: Sequence[str] | None = None,
        group: str | None = None,
        sample: int = 100_000,
        engine: Any = None,
        **settings: Any,
    ) -> ItemTable:
        """Read a Parquet file, folder or pattern where it lies.

        ``engine`` and ``settings`` (memory_limit, threads, temp_directory) are as in
        `PairTable.from_parquet`.
        """
        source = Files.find(path, "parquet", settings, engine)
        return cls._opened(source, id, features, group, sample)

    @classmethod
    def from_ibis(
        cls,
        table: Any,
        *,
        id: str,
        features: Sequence[str] | None = None,
        group: str | None = None,
        sample: int = 100_000,
    ) -> ItemTable:
        """Take any Ibis table expression, of DuckDB or Spark. See `from_parquet`."""
        return cls._opened(Expression(table), id, features, group, sample)

    @classmethod
    def _opened(
        cls,
        source: TableSource,
        id: str,
        features: Sequence[str] | None,
        group: str | None,
        sample: int,
    ) -> ItemTable:
        if sample < 1:
            raise ValueError(f"sample={sample}: expected a positive number of items")
        columns = list(source.table.columns)
        for name in (id, *(features or ()), *((group,) if group else ())):
            if name not in columns:
                raise ValueError(
                    f"{source.name} has no column {name!r}: {did_you_mean(name, columns)}"
                )
        if features is None:
            features = [name for name in columns if name not in (id, group)]
        kinds = source.table.schema()
        numbers = all(kinds[name].is_numeric() or kinds[name].is_boolean() for name in features)
        vector = len(features) == 1 and kinds[features[0]].is_array()
        if not features or not (numbers or vector):
            strange = [n for n in features if not (kinds[n].is_numeric() or kinds[n].is_boolean())]
            raise ValueError(
                f"{source.name}: the features of items must be columns of numbers or one column "
                f"of vectors; {strange or 'none'} found. Name them, features=[...], or encode them"
            )
        return cls(source, id, tuple(features), group, sample)

    def __repr__(self) -> str:
        return f"ItemTable(n_items={self.n_items}, features={self.features})"

    @property
    def engine(self) -> Any:
        """The Ibis connection that holds the items."""
        return self.source.table.get_backend()

    @cached_property
    def store(self) -> Store:
        """Where the positions of the items are kept."""
        return Store(self.engine)

    @cached_property
    def n_items(self) -> int:
        """Number of items; ids that are missing or stand twice are refused."""
        table = self.source.table
        with self.source.unchanged():
            column = table[self.id]
            facts = table.agg(n=table.count(), known=column.count(), ids=column.nunique())
            (row,) = fetch(facts).to_pylist()
        if not row["n"] == row["known"] == row["ids"] or not row["n"]:
            raise ValueError(
                f"{self.source.name}: column {self.id!r} has {row['ids']:,} different ids in "
                f"{row['n']:,} rows. Every item needs an id of its own, and there must be items"
            )
        return int(row["n"])

    @cached_property
    def keys(self) -> Any:
        """A table of ``key``, the ids, and ``item``, their positions in sorted order."""
        ibis, table = load_ibis(), self.source.table
        ids = table.select(key=table[self.id])
        ids = ids.mutate(item=ibis.row_number().over(order_by=ids.key))
        kind = item_type(self.n_items)  # which checks the ids
        with self.source.unchanged():
            return self.store.keep("positions", ids.mutate(item=ids.item.cast(kind)))

    @property
    def rows(self) -> Any:
        """The items as a table: item, fold (by a hash of the group, or the id), the features."""
        table = self.source.table
        hashed = table[self.group or self.id].cast("string").hexdigest("md5").substr(0, 1)
        more = {} if self.group is None else {"group": table[self.group]}
        table = table.select(
            *self.features, key=table[self.id], fold=(hashed >= "8").cast("int32"), **more
        )
        return table.inner_join(self.keys, "key").drop("key")

    def positions_of(self, labels: Mapping[Any, Any]) -> dict[int, Any]:
        """Return what is said of items by their ids, by their positions; unknown ids are refused.

        >>> import ibis, pyarrow
        >>> rows = ibis.memtable(pyarrow.table({"id": ["b", "a"], "size": [1.0, 2.5]}))
        >>> ItemTable.from_ibis(rows, id="id").positions_of({"b": "cup"})
        {1: 'cup'}
        """
        ids = list(labels)
        wanted = load_arrow().table({"key": ids})
        found = fetch(self.keys.inner_join(load_ibis().memtable(wanted), "key")).to_pylist()
        place = {row["key"]: row["item"] for row in found}
        if unknown := [one for one in ids if one not in place]:
            raise ValueError(
                f"{len(unknown)} labels name items that are not in {self.source.name}, such as "
                f"{unknown[0]!r}: correct their ids"
            )
        return {place[one]: labels[one] for one in ids}

    def features_of(self, positions: NDArray[np.int64]) -> Array:
        """Load the features of some items, (n, d), in the order of their positions given."""
        return self.some(positions)[0]

    def some(
        self, positions: NDArray[np.int64]
    ) -> tuple[Array, NDArray[np.intp], list[Any] | None]:
        """Load the features (n, d), the folds (n,) and perhaps the groups of some items."""
        pa, rows = load_arrow(), self.rows
        wanted = pa.table({"item": positions, "place": np.arange(len(positions))})
        with self.source.unchanged():
            chosen = rows.inner_join(load_ibis().memtable(wanted), "item")
            found = fetch(chosen.order_by("place"))
        groups = None if self.group is None else found["group"].to_pylist()
        return (
            matrix(found, self.features, self.encoder),
            found["fold"].to_numpy().astype(np.intp),
            groups,
        )

    def scored(self, store: Store, name: str, scorer: Scorer, columns: Sequence[str]) -> Any:
        """Return the table of item and ``columns`` that a scorer makes of every batch of items.

        On DuckDB batches pass through this process into a file. On Spark the scorer is sent to the
        executors once.
        """
        pa = load_arrow()
        kind = item_type(self.n_items)
        schema = pa.schema(
            [("item", pa.type_for_alias(kind)), *((one, pa.float64()) for one in columns)]
        )
        score = BatchScorer(scorer, self.features, tuple(columns), kind, self.encoder)
        rows = self.rows
        with self.source.unchanged():
            if store.on_spark:
                return store.keep(name, spark_scored(store.engine, rows, score))
            assert store.folder is not None
            batches = (score(batch) for batch in stream(rows, BATCH))
            return store.keep_batches(name, schema, batches)

    def __getstate__(self) -> dict[str, Any]:
        cached = ("store", "keys", "n_items")
        return {name: value for name, value in vars(self).items() if name not in cached}


@dataclass(frozen=True)
class BatchScorer:
    """A scorer of Arrow batches with the columns item, fold and features."""

    scorer: Scorer
    features: tuple[str, ...]
    columns: tuple[str, ...]
    kind: str
    encoder: Any = None

    def __call__(self, batch: Any) -> Any:
        """Return a batch of item and the scorer's columns."""
        pa = load_arrow()
        fold = batch.column("fold").to_numpy().astype(np.intp)
        found = self.scorer(matrix(batch, self.features, self.encoder), fold)
        return pa.record_batch(
            {
                "item": batch.column("item").cast(self.kind),
                **{name: np.asarray(found[name], dtype=float) for name in self.columns},
            }
        )


def spark_scored(engine: Any, rows: Any, score: BatchScorer) -> Any:
    """Return the scored items as a table of Spark, computed on its executors."""
    session = engine._session
    shared = session.sparkContext.broadcast(score)
    with unfused(), without_engine_warnings(), errors_naming("the items"):
        view = f"items_{id(shared)}"
        engine.create_view(view, rows, overwrite=True)

        def scored(batches: Iterator[Any]) -> Iterator[Any]:
            for batch in batches:
                yield shared.value(batch)

        item = "int" if score.kind == "int32" else "bigint"
        schema = ", ".join([f"item {item}", *(f"{name} double" for name in score.columns)])
        frame = session.table(view).mapInArrow(scored, schema)
        frame.createOrReplaceTempView(f"{view}_scored")
        return engine.table(f"{view}_scored")


def matrix(rows: Any, features: Sequence[str], encoder: Any = None) -> Array:
    """Return the features of Arrow rows as numbers, (n, d), NaN where they are missing."""
    if encoder is not None:
        return np.asarray(encoder.transform(rows.select(list(features)).to_pandas()), dtype=float)
    if len(features) == 1 and load_arrow().types.is_nested(rows.schema.field(features[0]).type):
        vectors = rows.column(features[0]).to_pylist()
        sizes = {None if one is None else len(one) for one in vectors}
        if len(sizes) > 1 or None in sizes:
            raise ValueError(
                f"column {features[0]!r} has vectors of {sorted(map(str, sizes))} numbers: every "
                "item needs a vector of the same length"
            )
        return np.asarray(vectors, dtype=float)
    columns = []
    for name in features:
        column = rows.column(name).cast("float64")
        columns.append(np.asarray(column.fill_null(np.nan), dtype=float))
    return np.column_stack(columns)
