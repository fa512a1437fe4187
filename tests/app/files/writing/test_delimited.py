"""Tables in CSV and TSV: no cell that a spreadsheet runs, and the same ids read back."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisypairs.app.files import read_dataset, read_items
from noisypairs.app.files.writing import delimited_text, guarded, unguarded

HOSTILE = ["=cmd|' /C calc'!A0", "+1+2", "-x", "@SUM(A1)", "=1;=2", "a\r=3", "'=4", "''@x", '"=5"']
TAME = ["-1", "+2.5", "-1e-5", "-1,5", "a=b", "-", "'quoted'", "", "1-2"]


@pytest.mark.parametrize("text", [*HOSTILE[:5], "\t=x", "\r=x", "＝x"])
def test_text_that_a_spreadsheet_runs_gets_an_apostrophe(text):
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", TAME)
def test_other_text_and_numbers_are_untouched(text):
    assert guarded(text) == unguarded(text) == text


@given(st.text(alphabet="'=+-@\t\r1.ea", max_size=6))
def test_what_is_guarded_comes_back(text):
    assert unguarded(guarded(text)) == text
    assert guarded(text)[:1] not in "=@\t\r" or len(text) < 2


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize(("delimiter", "name"), [(",", "t.csv"), ("\t", "t.tsv")])
def test_both_forms_are_read_back_to_the_same_ids(tmp_path, raw, delimiter, name):
    ids = [text for text in HOSTILE + TAME if text not in ("", "'=4", "''@x")]
    # Of text that begins with an apostrophe only the guarded form says which is meant.
    ids += [] if raw else ["'=4", "''@x"]
    rows = [(text, k / 3, -k) for k, text in enumerate(ids)]
    text = delimited_text(["id", "size", "loss"], rows, delimiter, raw)
    (tmp_path / name).write_text(text, newline="")
    features, read = read_items(tmp_path / name)
    assert read == ids
    assert features["size"].tolist() == [k / 3 for k in range(len(ids))]
    assert features["loss"].tolist() == [-k for k in range(len(ids))]
    for mark in (",", ";", "\t"):  # whichever of them the spreadsheet takes
        cells = [
            c for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) for c in row
        ]
        run = [c for c in cells if c[:1] in ("=", "@") and len(c) > 1]
        assert bool(run) == raw, run


def test_items_and_pairs_match_whichever_form_they_have(tmp_path):
    ids = ["=a", "-b", "c"]
    rows = [("=a", "-b", "yes"), ("-b", "c", "no"), ("c", "=a", "no")]
    found = []
    for raw_items, raw_pairs in ((True, True), (True, False), (False, True), (False, False)):
        items, pairs = tmp_path / "items.csv", tmp_path / "pairs.csv"
        table = delimited_text(["id", "=size"], zip(ids, (1, 2, 3), strict=True), raw=raw_items)
        items.write_text(table)
        pairs.write_text(delimited_text(["left", "right", "answer"], rows, raw=raw_pairs))
        data = read_dataset(items, pairs)
        found.append((data.ids, list(data.features), data.pairs.left.tolist(), data.pairs.n_pairs))
    assert found == [(ids, ["=size"], [0, 1, 2], 3)] * 4
