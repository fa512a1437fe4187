"""Ids, words and weights of a table, and what is refused."""

from __future__ import annotations

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noisypairs.tables import PairTable
from tests.tables.written_pairs import arrow_table, random_pairs, rows_of


def test_text_ids_and_words_are_mapped_in_the_engine(tmp_path, engine):
    pairs = random_pairs(4)
    ids = [f" item {k}" for k in range(30)]
    path = tmp_path / "pairs.parquet"
    pq.write_table(arrow_table(pairs, ids, ["Different", "same "]), path)
    table = PairTable.from_parquet(path, items=[i.strip() for i in ids], engine=engine)
    assert rows_of(table.to_pairs()) == rows_of(pairs)
    assert table.item_ids[3] == "item 3"


def test_csv_keeps_leading_zeros(tmp_path, engine):
    path = tmp_path / "pairs.csv"
    path.write_text("id1,id2,answer\n007,7,yes\n7,008,no\n")
    table = PairTable.from_csv(path, items=["7", "007", "008"], engine=engine)
    assert rows_of(table.to_pairs()) == [(0, 2, False, 1.0), (1, 0, True, 1.0)]


def test_unknown_ids_are_refused_with_an_example_or_dropped(tmp_path, engine):
    path = tmp_path / "pairs.csv"
    path.write_text("left,right,same\na,b,1\nb,zoe,0\nc,a,1\n")
    with pytest.raises(ValueError, match=r"1 of 3 pairs .*'right' has for example 'zoe'"):
        PairTable.from_csv(path, items=["a", "b", "c"], engine=engine)
    with pytest.warns(UserWarning, match="1 pairs with unknown items"):
        table = PairTable.from_csv(path, items=["a", "b", "c"], engine=engine, drop_unknown=True)
    assert (table.n_pairs, table.dropped["unknown"]) == (2, 1)
    assert table.audit().unknown == 1
    assert rows_of(table.to_pairs()) == [(0, 1, True, 1.0), (2, 0, True, 1.0)]


def test_positions_outside_are_unknown_items(written):
    folder, _ = written
    with pytest.raises(ValueError, match=r"not among the 20 items"):
        PairTable.from_parquet(folder, n_items=20)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_items": 30, "same": "smae"}, "did you mean 'same'"),
        ({"n_items": 30, "colour": "red"}, "colour"),
        ({}, "n_items=len"),
        ({"items": ["a", "a"]}, "'a' 2 times"),
        ({"items": [f"i{k}" for k in range(30)]}, "write ids alike"),
        ({"n_items": 30, "unsure": "keep"}, "unsure"),
    ],
)
def test_wrong_arguments_are_refused(written, arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        PairTable.from_parquet(written[0], **arguments)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["same", "maybe", "different"], "'maybe'"),
        (["same", None, "different"], "1 of 3 answers missing or unsure"),
        ([1, 2, 1], "1/2"),
    ],
)
def test_answers_that_are_none_are_refused(column, words):
    table = pa.table({"left": [0, 1, 2], "right": [1, 2, 0], "same": column})
    with pytest.raises(ValueError, match=words):
        PairTable.from_ibis(ibis.memtable(table), n_items=3)


def test_unsure_answers_are_dropped_when_asked(engine, tmp_path):
    table = pa.table({"left": [0, 1, 2], "right": [1, 2, 0], "same": ["Yes", "unsure", None]})
    pq.write_table(table, tmp_path / "pairs.parquet")
    with pytest.warns(UserWarning, match="2 missing or unsure"):
        pairs = PairTable.from_parquet(
            tmp_path / "pairs.parquet", n_items=3, unsure="drop", engine=engine
        )
    assert rows_of(pairs.to_pairs()) == [(0, 1, True, 1.0)]


def test_scores_and_bad_weights_are_refused():
    n = 1500
    scores = pa.table({"left": [0] * n, "right": [1] * n, "same": np.linspace(0, 1, n)})
    with pytest.raises(ValueError, match="scores"):
        PairTable.from_ibis(ibis.memtable(scores), n_items=2)
    weights = pa.table({"left": [0], "right": [1], "same": [True], "weight": [0.0]})
    with pytest.raises(ValueError, match="'weight' has 1 weights"):
        PairTable.from_ibis(ibis.memtable(weights), n_items=2)


def test_an_empty_table_is_refused(tmp_path):
    empty = arrow_table(random_pairs()).slice(0, 0)
    pq.write_table(empty, tmp_path / "pairs.parquet")
    with pytest.raises(ValueError, match=r"pairs\.parquet holds no pairs"):
        PairTable.from_parquet(tmp_path / "pairs.parquet", n_items=3)
    with pytest.raises(FileNotFoundError, match="no parquet file"):
        PairTable.from_parquet(_empty_folder(tmp_path), n_items=3)


def _empty_folder(tmp_path):
    (tmp_path / "nothing").mkdir()
    return tmp_path / "nothing"


def test_the_number_of_items_is_no_position():
    asked = ibis.memtable(pa.table({"left": [0, 2], "right": [1, 1], "same": [1, 0]}))
    assert PairTable.from_ibis(asked, n_items=3).n_pairs == 2
    with pytest.raises(ValueError, match="1 of 2 pairs name an item that is not among the 2"):
        PairTable.from_ibis(asked, n_items=2)


def test_an_unsure_answer_about_an_unknown_item_is_dropped_once():
    words = ["yes", "no", "unsure", "no"]
    asked = pa.table({"left": [0, 1, 5, 5], "right": [1, 0, 0, 1], "same": words})
    settings = {"n_items": 2, "unsure": "drop", "drop_unknown": True}
    with pytest.warns(UserWarning, match="1 missing or unsure"):
        table = PairTable.from_ibis(ibis.memtable(asked), **settings)
    assert dict(table.dropped) == {"unsure": 1, "unknown": 1}
    assert table.n_pairs == table.to_pairs().n_pairs == 2
