"""Where tables that a fit makes on the way are kept: Parquet files in a folder, or the engine."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

from noisypairs.tables.engine import errors_naming, optional, unfused, without_engine_warnings
from noisypairs.tables.spark import read_with_spark


class Store:
    """Tables by name, written by the engine as Parquet into ``folder``.

    Without a folder, DuckDB writes into a temporary one, and Spark keeps its tables on its
    executors (a local checkpoint), where no shared folder is needed.
    """

    def __init__(self, engine: Any, folder: str | Path | None = None) -> None:
        self.engine = engine
        self.on_spark = engine.name == "pyspark"
        if folder is None and not self.on_spark:
            folder = tempfile.mkdtemp(prefix="noisypairs-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.folder = None if folder is None else Path(folder)

    def keep(self, name: str, expression: Any) -> Any:
        """Evaluate an expression once and return it as a table; ``name`` is replaced."""
        with errors_naming(f"the table {name} of this fit"), without_engine_warnings(), unfused():
            if self.folder is None:
                return self._checkpoint(expression)
            self.write(expression, self.folder / f"{name}.parquet")
            return self.open(name)

    def keep_batches(self, name: str, schema: Any, batches: Iterable[Any]) -> Any:
        """Write Arrow batches of this schema into the folder and return them as a table."""
        assert self.folder is not None
        self.folder.mkdir(parents=True, exist_ok=True)
        parquet = optional("pyarrow.parquet", "app", "A table of items outside memory")
        with parquet.ParquetWriter(self.folder / f"{name}.parquet", schema) as file:
            for batch in batches:
                file.write_batch(batch.cast(schema))
        return self.open(name)

    def write(self, expression: Any, path: Path) -> None:
        """Let the engine write a table as Parquet: one file, or on Spark a folder of them."""
        remove(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfused(), without_engine_warnings():
            self.engine.to_parquet(expression, str(path))

    def open(self, name: str) -> Any:
        """Return a table that was kept in the folder."""
        assert self.folder is not None
        path = str(self.folder / f"{name}.parquet")
        with errors_naming(path), without_engine_warnings():
            if self.on_spark:
                return read_with_spark(self.engine, "parquet", (path,))
            return self.engine.read_parquet(path)

    def _checkpoint(self, expression: Any) -> Any:
        """Return a Spark table cut off from the queries that made it."""
        view = f"kept_{uuid4().hex}"
        self.engine.create_view(view, expression)
        frame = self.engine._session.table(view).localCheckpoint()
        frame.createOrReplaceTempView(view)
        return self.engine.table(view)


def remove(path: Path) -> None:
    """Delete a file, or the folder of files that Spark writes in its place."""
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
