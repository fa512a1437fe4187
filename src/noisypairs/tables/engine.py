"""Where pair tables are read: an embedded DuckDB, a local or remote Spark, any Ibis back end.

Nothing here knows what a pair is. Engines are opened, expressions are streamed as Arrow batches,
and an engine's error becomes one sentence: about the file that is broken, or about the engine that
is gone.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from noisypairs.errors import MissingExtra

#: Modules whose deprecation warnings a user can do nothing about.
ENGINES = r"(ibis|duckdb|_duckdb|pyspark|py4j|sqlglot|noisypairs\.tables)(\.|$)"

#: What Spark says where its session was stopped; the last is what pyspark makes of it.
STOPPED = ("stopped SparkContext", "SparkContext was shut down", "has no attribute 'setCallSite'")


#: What DuckDB says, as a RuntimeError, where Ctrl-C or another signal stopped a query.
INTERRUPTED = "Query interrupted"


class UnreadableTable(ValueError):
    """An engine could not read the pair table; the message names the file and the reason."""


class ChangedTable(ValueError):
    """The pair table changed while it was read: what was counted belongs to no one state of it."""


class LostEngine(ValueError):
    """The connection to an engine is gone; the files are as they were."""


def load_ibis() -> Any:
    """Import Ibis, or say which extra brings it."""
    return optional("ibis", "app", "A pair table outside memory")


def load_arrow() -> Any:
    """Import pyarrow, in which tables travel to and from every engine."""
    return optional("pyarrow", "app", "A pair table outside memory")


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
    optional("duckdb", "app", "A pair table outside memory")
    return ibis.duckdb.connect(**given)


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


@contextmanager
def tuned_for_sums(engine: Any, n_sums: int) -> Iterator[None]:
    """Plan the queries of a sweep on DuckDB inside the block, and others as before after it.

    Sums go into plain arrays, not hash tables, where 256 MB hold all groups. Every row finds its
    items, so no filter of theirs need be tried first; and looking for others to push down takes
    DuckDB seconds for expressions of five classes.
    """
    if engine.name != "duckdb":
        yield
        return
    engine.raw_sql(f"SET perfect_ht_threshold = {int(math.log2(2**24 / n_sums))}")
    engine.raw_sql("SET disabled_optimizers = 'join_filter_pushdown,filter_pushdown'")
    try:
        yield
    finally:
        engine.raw_sql("RESET perfect_ht_threshold")
        engine.raw_sql("RESET disabled_optimizers")


@contextmanager
def unfused() -> Iterator[None]:
    """Keep each step of an expression a query of its own inside the block.

    Ibis writes steps into each other: a column that is used twice is then computed twice, and the
    messages of a sweep, each made of those before, would grow exponentially.
    """
    settings = load_ibis().options.sql
    before, settings.fuse_selects = settings.fuse_selects, False
    try:
        yield
    finally:
        settings.fuse_selects = before


def fetch(expression: Any) -> Any:
    """Evaluate an Ibis expression of modest size and return it as an Arrow table."""
    with unfused(), without_engine_warnings():
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
    """Turn an engine's error inside the block into a sentence that names ``what``.

    `LostEngine` where the connection is gone, else `UnreadableTable`.

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
        first = str(error).strip().splitlines()[0].rstrip(".") if str(error) else repr(error)
        if is_lost(error):
            raise LostEngine(
                f"{what}: the connection to the engine is gone ({first}). Spark's Java process may "
                "have died or been stopped. The files are not at fault, and what was counted "
                "before is kept. Open a new engine, such as spark_engine(), and the table on it"
            ) from error
        if type(error).__module__.partition(".")[0] in ("builtins", "noisypairs") and not (
            isinstance(error, OSError | RuntimeError)
        ):
            raise  # ours: already a sentence (or a defect, which must stay visible)
        raise UnreadableTable(
            f"{what} cannot be read: {first}. Check that the file is complete and of the kind "
            "its name says; write it again if it is damaged"
        ) from error


def is_lost(error: BaseException | None) -> bool:
    """Whether an error, or one behind it, says that there is nobody at the other end."""
    while error is not None:
        if isinstance(error, ConnectionError) or any(words in str(error) for words in STOPPED):
            return True
        if type(error).__module__.startswith("py4j.") and not java_answers():
            return True
        error = error.__cause__ or error.__context__
    return False


def java_answers() -> bool:
    """Whether the Java process of this Python process is alive; True where there was none."""
    pyspark = sys.modules.get("pyspark")
    gateway = None if pyspark is None else getattr(pyspark.SparkContext, "_gateway", None)
    if gateway is None:
        return True
    try:
        gateway.jvm.System.currentTimeMillis()
    except Exception:  # of a dozen kinds, by what the connection was doing when it broke
        return False
    return True


def optional(module: str, extra: str, purpose: str) -> Any:
    """Import a package, or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtra(module.partition(".")[0], extra, purpose) from error
