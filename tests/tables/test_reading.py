"""Items and answers of a table: what is unknown, and what is dropped."""

from __future__ import annotations

import pytest

from noisypairs.tables import PairTable

ibis = pytest.importorskip("ibis", reason="pair tables need the app extra")
pytest.importorskip("duckdb", reason="pair tables need the app extra")
pa = pytest.importorskip("pyarrow", reason="pair tables need the app extra")


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
