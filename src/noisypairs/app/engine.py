"""Fit and predict where the tables are: what ``--engine`` of the commands does.

The model is chosen and judged on a sample of the items, as `noisypairs fit` does with any two
files. The encoder of the sample then goes to where the items are, and the last rounds take all.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from noisypairs.app import model_file
from noisypairs.app.files import Columns, Dataset, read_dataset
from noisypairs.app.fit.fitting import Fitted, Progress, fit_dataset
from noisypairs.app.fit.request import Request, pair_classifier
from noisypairs.assess.words import class_title
from noisypairs.errors import collected_warnings, did_you_mean
from noisypairs.pairs import Pairs
from noisypairs.tables import ItemTable, PairTable, duckdb_engine, spark_engine
from noisypairs.tables.engine import fetch, load_arrow, load_ibis, optional
from noisypairs.tables.source import Files

#: What ``--engine`` may be.
ENGINES = ("duckdb", "spark")


def check_engine(name: str, master: str | None = None) -> None:
    """Refuse what is no engine, and an address of a cluster that is not Spark's.

    >>> check_engine("dukdb")
    Traceback (most recent call last):
    ValueError: unknown engine 'dukdb': did you mean 'duckdb'? Known: duckdb, spark
    """
    if name not in ENGINES:
        raise ValueError(f"unknown engine {name!r}: {did_you_mean(name, ENGINES)}")
    if master is not None and name != "spark":
        raise ValueError(f"--master {master} is the address of a cluster: give --engine spark")


def open_engine(name: str, master: str | None = None) -> Any:
    """Open an engine by its name; ``master`` is the address of Spark's cluster."""
    return spark_engine(master=master) if name == "spark" else duckdb_engine()


class Tables(NamedTuple):
    """Items and pairs where they are, and a sample of both in memory."""

    items: ItemTable
    pairs: PairTable
    sample: Dataset


def open_tables(
    items: Path | None, pairs: Path, columns: Columns, sample: int, engine: Any
) -> Tables:
    """Open Parquet files or folders (pairs may be CSV), and load about ``sample`` of the items."""
    if items is None:
        raise ValueError("--engine needs a table of items: give it before the table of the pairs")
    table = item_table(items, columns.id, columns.group, sample, engine)
    named = {role: getattr(columns, role) for role in ("left", "right", "same", "annotator")}
    text = pairs.name.endswith((".csv", ".csv.gz"))
    opened = (PairTable.from_csv if text else PairTable.from_parquet)(
        pairs, items=table, drop_unknown=True, unsure="drop", **named
    )
    some = opened.sample_of_items(sample)
    chosen = np.unique(np.concatenate([some.left, some.right])).astype(np.int64)
    with tempfile.TemporaryDirectory() as name:
        rows = Path(name) / items.with_suffix(".parquet").name
        said = Path(name) / "answers.parquet"
        write, ids = optional("pyarrow.parquet", "app", "Parquet").write_table, sorted_ids(table)
        write(_rows(table, chosen), rows)
        write(_answers(some, ids), said)
        data = read_dataset(rows, said, Columns(id=table.id, group=table.group)).in_order()
    note = (
        f"of {table.n_items:,} items and {opened.n_pairs:,} pairs, {len(chosen):,} items with "
        f"{some.n_pairs:,} pairs were loaded: the report on the model is about these"
    )
    return Tables(table, opened, replace(data, notes=[note, *data.notes]))


def item_table(
    path: Path, id: str | None, group: str | None, sample: int, engine: Any, features: Any = None
) -> ItemTable:
    """Open items with all their columns, of whatever kind: an encoder makes numbers of them."""
    source = Files.find(path, "parquet", {}, engine)
    names = list(source.table.columns)
    id = id or "id"
    for one in (id, *([group] if group else ()), *(features or ())):
        if one not in names:
            raise ValueError(f"{path} has no column {one!r}: {did_you_mean(one, names)}")
    features = features or [name for name in names if name not in (id, group)]
    return ItemTable(source, id, tuple(features), group, sample)


def sorted_ids(items: ItemTable) -> NDArray[Any]:
    """Load the ids of all items, by position."""
    return np.asarray(fetch(items.keys.order_by("item").select("key"))["key"].to_pylist())


def _rows(items: ItemTable, positions: NDArray[np.int64]) -> Any:
    """Load some items, all columns."""
    wanted = load_ibis().memtable(load_arrow().table({"item": positions}))
    keys = items.keys.mutate(item=items.keys.item.cast("int64")).inner_join(wanted, "item")
    with items.source.unchanged():
        return fetch(items.source.table.inner_join(keys.select(**{items.id: keys.key}), items.id))


def _answers(pairs: Pairs, ids: NDArray[Any]) -> Any:
    """Return a sample of the pairs as a table of ids."""
    columns: dict[str, Any] = {"left": ids[pairs.left], "right": ids[pairs.right]}
    columns["same"] = pairs.same
    if pairs.annotator is not None and pairs.annotator_names is not None:
        columns["annotator"] = pairs.annotator_names[pairs.annotator]
    if pairs.weight is not None:
        columns["weight"] = pairs.weight
    return load_arrow().table(columns)


def fit_tables(tables: Tables, request: Request, folder: Path, step: Progress) -> Fitted:
    """Fit a model to tables, and let the engine write what was found of all items to ``folder``.

    Rounds are kept in it: the same call goes on where another was stopped.
    """
    if request.settled(tables.sample.pairs).method != "joint":
        raise ValueError(f"method {request.method!r}: with --engine only the joint method learns")
    fitted = fit_dataset(tables.sample, request, step)
    assert fitted.model is not None  # items have columns
    encoder, chosen = fitted.model[0], request.settled(tables.sample.pairs)
    learner: Any = pair_classifier(replace(chosen, n_classes=fitted.model[-1].n_classes_))
    items = replace(tables.items, encoder=encoder)
    with collected_warnings():  # the sample has had them
        learner.fit(items, tables.pairs, folder=folder / "rounds")
    replace(learner.tables_, classes=_titles(learner)).to_parquet(folder)
    return replace(fitted, model=Pipeline([("encoder", encoder), ("classifier", learner)]))


def predict_tables(model: Path, items: Path, id: str | None, output: Path, engine: Any) -> int:
    """Classify the items of Parquet files where they are, and write the classes; return how many.

    Spark writes a folder of files.
    """
    loaded = model_file.load(model)
    trained = id or loaded.facts["columns"].get("id")
    table = item_table(items, trained, None, 1, engine, loaded.columns)
    table = replace(table, encoder=loaded.pipeline[0])
    found = loaded.pipeline[-1].predict_table(table, _titles(loaded.pipeline))
    table.store.write(found, output)
    return table.n_items


def _titles(model: Any) -> tuple[str, ...]:
    return tuple(class_title(name) for name in model.classes_)
