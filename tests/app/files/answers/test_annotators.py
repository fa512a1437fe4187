"""The column that says who answered: found by what it holds, whatever its name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from noisypairs.app.files import Columns, read_pairs

N = 120


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 15, N), rng.integers(15, 30, N)
    return pd.DataFrame(
        {"left": left, "right": right, "same": rng.choice(["yes", "no"], N)}
    ).astype({"left": str, "right": str})


def read(tmp_path, table, **named):
    path = tmp_path / "pairs.csv"
    table.to_csv(path, index=False)
    return read_pairs(path, Columns(**named))


PEOPLE = np.random.default_rng(1).choice(["ann", "bob", "cy"], N)


def test_a_column_of_few_values_in_many_rows_holds_the_annotators(tmp_path, table):
    data = read(tmp_path, table.assign(colleague=PEOPLE, comment="fine"))
    assert sorted(data.annotator_names) == ["ann", "bob", "cy"]
    said = " ".join(data.notes)
    assert "column 'colleague' is taken for the annotators, since it holds 3 values" in said
    assert "columns not used: 'comment'" in said
    assert read(tmp_path, table.assign(colleague=PEOPLE), annotator="none").annotator_names is None


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("shelf", lambda t: t.left.map(lambda k: f"shelf {int(k) % 3}")),  # goes with an item
        ("colour", lambda t: t.same.map({"yes": "green", "no": "red"})),  # and with the answer
        ("sure", lambda _: np.resize([1, 2, 3, 4, 5], N)),  # grades
        ("again", lambda _: np.resize(["yes", "no", "no"], N)),  # other answers
        ("note", lambda _: [f"note {k}" for k in range(N)]),  # as many values as rows
        ("batch", lambda _: np.resize(["one", "two"], N)),
        ("day", lambda _: np.resize(["2024-01-02", "2024-01-03"], N)),
    ],
)
def test_what_is_no_person_is_none(tmp_path, table, name, cells):
    data = read(tmp_path, table.assign(**{name: cells(table)}), same="same")
    assert data.annotator_names is None
    assert any(f"columns not used: '{name}'; --annotator names" in note for note in data.notes)


def test_of_two_such_columns_none_is_taken(tmp_path, table):
    data = read(tmp_path, table.assign(colleague=PEOPLE, site=np.roll(PEOPLE, 7)))
    assert data.annotator_names is None
    assert "columns 'colleague', 'site' could each say who answered" in " ".join(data.notes)
    assert (
        read(tmp_path, table.assign(colleague=PEOPLE, worker=PEOPLE)).columns.annotator == "worker"
    )


def test_a_column_of_blocks_is_a_batch_where_another_is_mixed(tmp_path, table):
    sitting = np.repeat(["one", "two", "three"], N // 3)
    data = read(tmp_path, table.assign(sitting=sitting, colleague=PEOPLE))
    assert data.columns.annotator == "colleague"
    assert any("columns not used: 'sitting'" in note for note in data.notes)
    assert read(tmp_path, table.assign(sitting=sitting)).columns.annotator == "sitting"
