"""Where pair tables are read: an embedded DuckDB, a local or remote Spark, any Ibis back end.

Nothing here knows what a pair is. Engines are opened, expressions are streamed as Arrow batches,
and an engine's error about a broken file becomes one sentence that names the file.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from uuid import uuid4

from noisypairs.errors import MissingExtra

#: The address Spark listens on: this machine alone.
LOOPBACK = "127.0.0.1"
#: Modules whose deprecation warnings a user can do nothing about.
ENGINES = r"(ibis|duckdb|_duckdb|pyspark|py4j|sqlglot|noisypairs\.tables)(\.|$)"


#: What DuckDB says, as a RuntimeError, where Ctrl-C or another signal stopped a query.
INTERRUPTED = "Query interrupted"


class UnreadableTable(ValueError):
    """An engine could not read the pair table; the message names the file and the reason."""


class ChangedTable(ValueError):
    """The pair table changed while it was read: what was counted belongs to no one state of it."""


def load_ibis() -> Any:
    """Import Ibis, or say which extra brings it."""
    return _optional("ibis", "app", "A pair table outside memory")


def load_arrow() -> Any:
    """Import pyarrow, in which tables travel to and from every engine."""
    return _optional("pyarrow", "app", "A pair table outside memory")


def duckdb_engine(
    memory_limit: str | None = None, threads: int | None = None, temp_directory: str | None = None
) -> Any:
    """Open an embedded DuckDB that stays below ``memory_limit`` and spills to ``temp_directory``.

    >>> duckdb_engine(memory_limit="200MB", threads=1).name
    'duckdb'
    """
    settings = {
        "memory_limit": memory_limit,
        "threads": threads,
        "temp_directory": temp_directory,
        # Rows have no order here, and keeping one would cost memory.
        "preserve_insertion_order": False,
    }
    given = {name: value for name, value in settings.items() if value is not None}
    ibis = load_ibis()
    _optional("duckdb", "app", "A pair table outside memory")
    return ibis.duckdb.connect(**given)


def spark_engine(session: Any = None, cores: int = 2) -> Any:
    """Open Ibis on a Spark session: the one given (a cluster's), or a local one bound to loopback.

    The local session listens on 127.0.0.1 only, shows no web page and keeps few partitions: use it
    to try on a laptop what will run on a cluster.
    """
    sql = _optional("pyspark.sql", "spark", "Reading pairs with Spark")
    ibis = load_ibis()
    if session is None:
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
        settings = {
            "spark.driver.bindAddress": LOOPBACK,
            "spark.driver.host": LOOPBACK,
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": str(2 * cores),
            "spark.sql.session.timeZone": "UTC",
            "spark.ui.showConsoleProgress": "false",
        }
        builder = sql.SparkSession.builder.master(f"local[{cores}]").appName("noisypairs")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    return ibis.pyspark.connect(session)


def read_with_spark(engine: Any, kind: str, paths: tuple[str, ...]) -> Any:
    """Return many files as one Ibis table: Spark's own reader takes them all, Ibis's only one."""
    reader = engine._session.read
    if kind == "parquet":
        frame = reader.parquet(*paths)
    else:
        frame = reader.csv(list(paths), header=True, inferSchema=False)
    name = f"pairs_{uuid4().hex}"
    frame.createOrReplaceTempView(name)
    return engine.table(name)


@contextmanager
def without_engine_warnings() -> Iterator[None]:
    """Ignore deprecation warnings of Ibis and its back ends about each other inside the block.

    Only of these modules, and of ours that call them: warnings about any other code stay.
    """
    with warnings.catch_warnings():
        for kind in (DeprecationWarning, FutureWarning):
            warnings.filterwarnings("ignore", category=kind, module=ENGINES)
        warnings.simplefilter("ignore", ResourceWarning)  # Spark closes its sockets late
        yield


def fetch(expression: Any) -> Any:
    """Evaluate an Ibis expression of modest size and return it as an Arrow table."""
    with without_engine_warnings():
        return expression.to_pyarrow()


def stream(expression: Any, size: int) -> Iterator[Any]:
    """Yield the rows of an Ibis table as Arrow record batches of at most ``size`` rows."""
    with without_engine_warnings():
        back_end = expression.get_backend()
        if back_end.name == "duckdb" and hasattr(back_end, "_to_duckdb_relation"):
            # A relation streams; Ibis's own batches go through a cursor, which copies (and from
            # which DuckDB 2 took the method away). Private, so only where it is there.
            reader = back_end._to_duckdb_relation(expression).to_arrow_reader(size)
        else:
            reader = expression.to_pyarrow_batches(chunk_size=size)
    for batch in reader:
        if batch.num_rows:
            yield batch


@contextmanager
def errors_naming(what: str) -> Iterator[None]:
    """Turn an engine's error inside the block into `UnreadableTable` that names ``what``.

    >>> with errors_naming("answers.parquet"):
    ...     raise RuntimeError("no magic bytes")
    Traceback (most recent call last):
    noisypairs.tables.engine.UnreadableTable: answers.parquet cannot be read: no magic bytes. ...
    """
    try:
        yield
    except Exception as error:
        if str(error) == INTERRUPTED:
            raise KeyboardInterrupt from error
        if type(error).__module__.partition(".")[0] in ("builtins", "noisypairs") and not (
            isinstance(error, OSError | RuntimeError)
        ):
            raise  # ours: already a sentence (or a defect, which must stay visible)
        first = str(error).strip().splitlines()[0].rstrip(".") if str(error) else repr(error)
        raise UnreadableTable(
            f"{what} cannot be read: {first}. Check that the file is complete and of the kind "
            "its name says; write it again if it is damaged"
        ) from error


def _optional(module: str, extra: str, purpose: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(module.partition(".")[0], extra, purpose) from error
