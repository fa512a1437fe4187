"""Engines, and pair tables on disk."""

from __future__ import annotations

import os
import shutil
import warnings

import pyarrow.parquet as pq
import pytest

from noisypairs.tables import spark_engine
from tests.tables.written_pairs import ENGINES, arrow_table, random_pairs


@pytest.fixture(scope="module")
def spark():
    pytest.importorskip("pyspark", reason="needs the spark extra")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java")
    with warnings.catch_warnings():  # Spark's own imports, not ours
        warnings.simplefilter("ignore")
        return spark_engine(cores=1)


@pytest.fixture(params=ENGINES)
def engine(request):
    """None for the embedded default, or a local Spark."""
    return request.getfixturevalue("spark") if request.param == "spark" else None


@pytest.fixture(autouse=True)
def quiet_spark(request):
    if "engine" not in request.fixturenames or "spark" not in request.node.name:
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        yield


@pytest.fixture
def written(tmp_path):
    """A folder of two Parquet files, and the pairs in them."""
    pairs = random_pairs()
    table = arrow_table(pairs)
    for name, part in (("a", table.slice(0, 150)), ("b", table.slice(150))):
        pq.write_table(part, tmp_path / f"{name}.parquet")
    return tmp_path, pairs
