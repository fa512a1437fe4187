"""What engines say: remarks are hidden, errors become a sentence about the file or the engine."""

from __future__ import annotations

import warnings

import pytest

from noisypairs.tables import LostEngine, UnreadableTable
from noisypairs.tables.engine import errors_naming, without_engine_warnings


def test_a_query_that_a_signal_stopped_is_no_damaged_file():
    with pytest.raises(KeyboardInterrupt), errors_naming("answers.parquet"):
        raise RuntimeError("Query interrupted")  # as DuckDB ends it


def test_only_remarks_of_the_engines_are_hushed():
    with without_engine_warnings():
        warnings.warn_explicit("old name", FutureWarning, "x.py", 1, module="ibis.expr.types")
        with pytest.raises(FutureWarning, match="ours"):
            warnings.warn_explicit("ours", FutureWarning, "x.py", 1, module="mine")


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError(111, "Connection refused"),
        RuntimeError("Cannot call methods on a stopped SparkContext"),
        AttributeError("'NoneType' object has no attribute 'setCallSite'"),
    ],
)
def test_an_engine_that_is_gone_is_not_a_damaged_file(error):
    gone = r"p\.parquet: the connection to the engine is gone .* files are not at fault"
    with pytest.raises(LostEngine, match=gone), errors_naming("p.parquet"):
        raise error
    with pytest.raises(LostEngine, match=gone), errors_naming("p.parquet"):
        raise RuntimeError("collecting failed") from error
    with pytest.raises(UnreadableTable, match="damaged"), errors_naming("p.parquet"):
        raise OSError("no magic bytes")
