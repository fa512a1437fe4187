"""Columns and ids: what is read, what is refused, and what the refusal says."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from noisypairs.pairs import Pairs
from noisypairs.pairs.answers import parse
from noisypairs.pairs.columns import frame_of, read_columns
from noisypairs.pairs.pairs import ids_of

TABLE = {
    "Item_A": ["p", "q", " p"],
    "item_b": ["q", "r", "r"],
    "answer": ["Same", "different", "same"],
    "worker_id": ["w2", "w1", "w2"],
    "count": [1, 2, 3],
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_every_dataframe_gives_the_same_pairs(make):
    pairs = Pairs.from_frame(make(TABLE))
    assert pairs.item_ids.tolist() == ["p", "q", "r"]
    assert pairs.left.tolist() == [0, 1, 0]
    assert pairs.right.tolist() == [1, 2, 2]
    assert pairs.same.tolist() == [True, False, True]
    assert pairs.annotator_names[pairs.annotator].tolist() == ["w2", "w1", "w2"]
    assert pairs.weight.tolist() == [1, 2, 3]


def test_the_mapping_is_logged(caplog):
    with caplog.at_level(logging.INFO, logger="noisypairs"):
        Pairs.from_frame(pd.DataFrame(TABLE))
    assert "column 'answer' read as {'Same': 'same', 'different': 'different'" in caplog.text


def test_optional_columns_can_be_left_out():
    pairs = Pairs.from_frame(pd.DataFrame(TABLE), annotator=False, weight=False)
    assert pairs.annotator is None
    assert pairs.weight is None


@pytest.mark.parametrize(
    ("columns", "named", "message"),
    [
        (TABLE, {"same": "anwser"}, "did you mean 'answer'"),
        (TABLE, {"left": "Item_A"}, "name right too"),
        ({"u": [0], "v": [1], "same": [1]}, {}, "no two columns look like"),
        ({"a": [0], "b": [1], "id1": [0], "id2": [1], "same": [1]}, {}, "more than one couple"),
        ({"a": [0], "b": [1], "answer": [1], "label": [1]}, {}, "could each be 'same'"),
        ({"a": [0], "b": [1], "truth": [1]}, {}, "no column looks like 'same'"),
        (TABLE | {"user": [1, 2, 3]}, {}, "annotator=False for none"),
    ],
)
def test_columns_are_named_or_guessed_but_never_at_random(columns, named, message):
    with pytest.raises(ValueError, match=message):
        Pairs.from_frame(pd.DataFrame(columns), **named)


def test_the_roles_own_name_wins_over_other_spellings():
    table = pd.DataFrame({"left": [0], "right": [1], "a": [5], "b": [6], "same": [1], "q": [0]})
    pairs = Pairs.from_frame(table)
    assert (pairs.left[0], pairs.right[0], pairs.same[0]) == (0, 1, True)


def test_lazy_frames_and_other_things_are_refused():
    for thing in (pl.LazyFrame(TABLE), TABLE):
        with pytest.raises(TypeError, match="expected a pandas or polars DataFrame"):
            Pairs.from_frame(thing)


def frame(left, right, same=None):
    return pd.DataFrame({"left": left, "right": right, "same": same or [1] * len(left)})


def test_items_give_the_positions():
    pairs = Pairs.from_frame(frame(["c", "a "], ["b", "c"]), items=pd.Series(["a", " b", "c", "d"]))
    assert (pairs.left.tolist(), pairs.right.tolist()) == ([2, 0], [1, 2])
    assert pairs.n_items == 4
    assert pairs.item_ids.tolist() == ["a", "b", "c", "d"]
    assert pairs[[3, 0, 2]].item_ids.tolist() == ["d", "a", "c"]


def test_integers_are_positions_unless_negative():
    assert Pairs.from_frame(frame([0, 5], [1, 2])).n_items == 6
    assert Pairs.from_frame(frame([0, 5], [1, 2])).item_ids is None
    assert Pairs.from_frame(frame([0, 5], [1, 2]), items=range(9)).n_items == 9
    negative = Pairs.from_frame(frame([-1, 5], [5, 7]))
    assert negative.item_ids.tolist() == [-1, 5, 7]
    assert negative.left.tolist() == [0, 1]


def test_unknown_ids_are_named_and_near_misses_pointed_out():
    with pytest.raises(ValueError, match=r"'left' has 1 ids .* 3 items: 'x'\. Correct"):
        Pairs.from_frame(frame(["x"], ["a"]), items=["a", "b", "c"])
    with pytest.raises(ValueError, match="'007' would be item 7 apart from"):
        Pairs.from_frame(frame(["007"], ["008"]), items=[7, 8])
    with pytest.raises(ValueError, match="7 would be item '007' apart from"):
        Pairs.from_frame(frame([7], [8]), items=["007", "008"])


def test_duplicate_and_missing_ids_are_refused():
    with pytest.raises(ValueError, match="items names 'a' 2 times"):
        Pairs.from_frame(frame(["a"], ["b"]), items=["a", "b", "a "])
    with pytest.raises(ValueError, match="missing ids"):
        Pairs.from_frame(frame(["a", None], ["b", "a"]))
    with pytest.raises(ValueError, match="items has missing ids"):
        Pairs.from_frame(frame(["a"], ["b"]), items=["a", "b", None])


def test_dropped_rows_are_announced_and_audited():
    table = frame(["a", "b", "x", "a"], ["b", "c", "a", "c"], ["yes", "unsure", "no", "no"])
    with pytest.raises(ValueError, match="column 'same' has 1 of 4 answers missing or unsure"):
        Pairs.from_frame(table, items=["a", "b", "c"])
    with pytest.warns(UserWarning, match="1 missing or unsure answers and 1 pairs with unknown"):
        pairs = Pairs.from_frame(table, items=["a", "b", "c"], unsure="drop", unknown="drop")
    assert pairs.left.tolist() == [0, 0]
    assert pairs.right.tolist() == [1, 2]
    assert pairs.same.tolist() == [True, False]
    assert dict(pairs.dropped) == {"unsure": 1, "unknown": 1}
    assert (pairs.audit().unsure, pairs.audit().unknown) == (1, 1)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"a": [0, 1], "b": [1, 2], "same": pd.array([True, None], "boolean")}),
        pd.DataFrame({"a": [0, 1], "b": [1, 2], "same": pd.array(["yes", None], "string")}),
        pl.DataFrame({"a": [0, 1], "b": [1, 2], "same": [True, None]}),
        pl.DataFrame({"a": [0, 1], "b": [1, 2], "same": [1, None]}),
        pa.table({"a": [0, 1], "b": [1, 2], "same": [True, None]}),
        pa.table({"a": [0, 1], "b": [1, 2], "same": ["same", None]}),
    ],
)
def test_missing_answers_of_every_dataframe_are_seen(table):
    with pytest.warns(UserWarning, match="1 missing or unsure"):
        pairs = Pairs.from_frame(table, unsure="drop")
    assert pairs == Pairs([0], [1], [True])


def test_ids_of_different_types_stay_apart():
    table = frame(np.array([1, "1"], dtype=object), np.array(["b", "b"], dtype=object))
    assert Pairs.from_frame(table).item_ids.tolist() == [1, "b", "1"]


def test_weights_and_annotators_stay_with_their_answers_where_some_are_dropped():
    ends = ["a", "b", "c", "x"], ["b", "c", "a", "a"]
    read = parse(["unsure", "yes", "no", "no"], unsure="drop")
    settings = {"items": ["a", "b", "c"], "unknown": "drop"}
    pairs = Pairs.from_ids(*ends, read, ["w0", "w1", "w2", "w3"], [1, 2, 3, 4], **settings)
    assert pairs.weight.tolist() == [2.0, 3.0]
    assert pairs.annotator_names[pairs.annotator].tolist() == ["w1", "w2"]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_comes_back_with_its_ids(backend):
    given = {"left": ["p", "q", "p"], "right": ["q", "r", "r"], "same": [True, False, False]}
    given |= {"annotator": ["ann", "bob", "ann"], "weight": [1.0, 2.0, 0.5]}
    frame = frame_of({name: np.array(values) for name, values in given.items()}, backend)
    pairs = Pairs.from_frame(frame)
    again = pairs.to_frame(backend)
    assert type(again) is type(frame)
    columns = {name: read.values.tolist() for name, read in read_columns(again, {}).items()}
    assert columns == given
    assert Pairs.from_frame(again) == pairs
    assert ids_of(pairs, np.array([2, 0])).tolist() == ["r", "p"]


def test_positions_come_back_as_positions_and_unknown_backends_get_a_hint():
    pairs = Pairs([0, 2], [1, 1], [True, False])
    assert pairs.to_frame()["left"].tolist() == [0, 2]
    assert ids_of(pairs, np.array([1])).tolist() == [1]
    with pytest.raises(ValueError, match="did you mean 'polars'"):
        pairs.to_frame("polar")
