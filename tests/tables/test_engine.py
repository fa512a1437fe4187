"""Remarks of the engines are hidden, and nothing else."""

from __future__ import annotations

import warnings

import pytest

from noisypairs.tables.engine import errors_naming, without_engine_warnings


def test_a_query_that_a_signal_stopped_is_no_damaged_file():
    with pytest.raises(KeyboardInterrupt), errors_naming("answers.parquet"):
        raise RuntimeError("Query interrupted")  # as DuckDB ends it


def test_only_remarks_of_the_engines_are_hushed():
    with without_engine_warnings():
        warnings.warn_explicit("old name", FutureWarning, "x.py", 1, module="ibis.expr.types")
        with pytest.raises(FutureWarning, match="ours"):
            warnings.warn_explicit("ours", FutureWarning, "x.py", 1, module="mine")
