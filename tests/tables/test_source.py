"""Files that are damaged or that change while they are read, and an engine that dies then."""

from __future__ import annotations

import pickle

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noisypairs.tables import ChangedTable, LostEngine, PairTable, UnreadableTable, engine, table
from tests.tables.written_pairs import arrow_table, random_pairs, rows_of


def test_pickle_opens_the_files_again(written):
    folder, pairs = written
    table = PairTable.from_parquet(folder, n_items=30, memory_limit="300MB")[np.arange(10)]
    copy = pickle.loads(pickle.dumps(table))
    assert rows_of(copy.to_pairs()) == rows_of(pairs[np.arange(10)])
    loose = PairTable.from_ibis(ibis.memtable(arrow_table(pairs)), n_items=30)
    with pytest.raises(TypeError, match="n_jobs=1"):
        pickle.dumps(loose)


def test_a_damaged_row_group_is_named(tmp_path):
    path = tmp_path / "pairs.parquet"
    rng = np.random.default_rng(0)
    left, right = rng.integers(10**6, size=(2, 50_000))
    table = pa.table({"left": left, "right": right, "same": rng.random(50_000) < 0.5})
    pq.write_table(table, path, row_group_size=10_000)
    damaged = bytearray(path.read_bytes())
    start = pq.ParquetFile(path).metadata.row_group(2).column(0).data_page_offset
    damaged[start : start + 5000] = b"\xff" * 5000
    path.write_bytes(bytes(damaged))
    with pytest.raises(UnreadableTable, match=r"pairs\.parquet cannot be read"):
        PairTable.from_parquet(path, n_items=10**6).item_counts()


def test_a_file_that_is_no_parquet_is_named(tmp_path):
    (tmp_path / "pairs.parquet").write_text("left,right,same\n")
    with pytest.raises(UnreadableTable, match=r"pairs\.parquet cannot be read"):
        PairTable.from_parquet(tmp_path / "pairs.parquet", n_items=3)


def test_a_file_that_grows_is_refused(written):
    folder, _ = written
    table = PairTable.from_parquet(folder, n_items=30)
    table.item_counts()
    pq.write_table(arrow_table(random_pairs(9)), folder / "b.parquet")
    assert table.item_counts().total.sum() > 0  # counted once, kept
    with pytest.raises(ChangedTable, match=r"b\.parquet changed since it was opened"):
        table.to_pairs()


def test_a_file_that_grows_between_batches_is_refused(written):
    folder, _ = written
    batches = PairTable.from_parquet(folder, n_items=30).batches(10)
    next(batches)
    with (folder / "b.parquet").open("ab") as file:
        file.write(b"more")
    with pytest.raises(ChangedTable, match="while it was read"):
        list(batches)


def test_a_connection_that_drops_in_the_middle_of_a_pass_loses_nothing(written, monkeypatch):
    def dropped(expression, size):
        yield next(engine.stream(expression, 10))
        raise ConnectionResetError(104, "Connection reset by peer")

    folder, pairs = written
    opened = PairTable.from_parquet(folder, n_items=30)
    counts = opened.item_counts()
    with monkeypatch.context() as patch:
        patch.setattr(table, "stream", dropped)
        with pytest.raises(LostEngine, match="what was counted before is kept"):
            opened.to_pairs()
    assert opened.item_counts().same is counts.same
    assert rows_of(opened.to_pairs()) == rows_of(pairs)


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
def test_an_engine_table_that_grows_is_refused(written):
    from noisypairs.tables import duckdb_engine

    engine = duckdb_engine()
    files = f"SELECT * FROM read_parquet('{written[0]}/*.parquet')"
    engine.raw_sql(f"CREATE TABLE answers AS {files}")
    table = PairTable.from_ibis(engine.table("answers"), n_items=30)
    engine.raw_sql(f"INSERT INTO answers {files}")
    with pytest.raises(ChangedTable, match="400 usable pairs when it was opened and 800"):
        list(table.batches())
    with pytest.raises(ChangedTable, match="Open the table again"):
        table.item_counts()
