"""Java that is missing, and a Java process that dies under a pair table."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from noisypairs.tables import LostEngine, MissingJava, PairTable, spark_engine
from noisypairs.tables import spark as spark_module
from noisypairs.tables.spark import find_java


def test_missing_java_is_told_with_the_version_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(
        MissingJava, match=r"none on the PATH. Install Java 17 or later .*openjdk-17"
    ):
        find_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MissingJava, match=f"JAVA_HOME is {tmp_path}, where there is none"):
        find_java()


@pytest.mark.parametrize(
    ("said", "number"),
    [("1.8.0_392", 8), ("11.0.2", 11), ("17.0.15", None), ("21", None), ("25-ea", None)],
)
def test_java_that_is_too_old_is_told(monkeypatch, tmp_path, said, number):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{said}\" 2024-01-16' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    if number is None:
        assert find_java() == str(java)
    else:
        with pytest.raises(MissingJava, match=rf"later Java than .*, which is {number}\. Install"):
            find_java()


def test_where_no_other_process_can_be_started_python_is_to_be_restarted(monkeypatch):
    class DeadGateway:
        @property
        def jvm(self):
            raise ConnectionRefusedError(111, "Connection refused")

    context = SimpleNamespace(_gateway=DeadGateway())  # of a pyspark that keeps nothing else
    monkeypatch.setitem(sys.modules, "pyspark", SimpleNamespace(SparkContext=context))
    monkeypatch.setitem(sys.modules, "pyspark.sql", SimpleNamespace(SparkSession=None))
    monkeypatch.setattr(spark_module, "find_java", lambda: "java")
    with pytest.raises(LostEngine, match="restart Python"):
        spark_engine()


def kill_java(engine) -> None:
    """Kill the Java process of an engine, and wait until it is gone."""
    query = "SELECT reflect('java.lang.ProcessHandle', 'current')"
    process = int(engine.raw_sql(query).collect()[0][0])
    os.kill(process, signal.SIGKILL)
    status = Path(f"/proc/{process}/stat")
    while status.exists() and status.read_text().split()[2] != "Z":
        time.sleep(0.01)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_dead_java_process_is_called_that_and_loses_nothing(spark, written):
    folder, pairs = written
    table = PairTable.from_parquet(folder, n_items=30, engine=spark)
    counts = table.item_counts()
    session = pytest.importorskip("pyspark.sql").SparkSession.getActiveSession()
    kill_java(spark)
    with pytest.raises(LostEngine, match="Java process may have died"):
        table.to_pairs()
    np.testing.assert_array_equal(table.item_counts().same, counts.same)  # counted before
    with pytest.raises(LostEngine, match="Open a new engine"):
        spark_engine(session)
    again = PairTable.from_parquet(folder, n_items=30, engine=spark_engine(cores=1))
    assert again.n_pairs == pairs.n_pairs
    np.testing.assert_allclose(again.item_counts().same, counts.same)
    np.testing.assert_allclose(again.to_pairs().item_counts().same, pairs.item_counts().same)
