"""Which columns name the items and hold the answers: by the ids, then by names."""

from __future__ import annotations

import pytest

from noisypairs.app.files import BadFile, Columns, read_dataset, read_pairs

ITEMS = "sku,price,label\nA1,2.5,x\nB2,3.5,y\nC3,9.5,z\nD4,1.5,x\n"
ROWS = [("A1", "B2"), ("B2", "C3"), ("C3", "D4"), ("D4", "A1")]


@pytest.fixture
def dataset(tmp_path):
    def read(header: str, *rows: str, items: str = ITEMS, columns=None, **more):
        (tmp_path / "items.csv").write_text(items)
        (tmp_path / "pairs.csv").write_text("\n".join([header, *rows]) + "\n")
        files = tmp_path / "items.csv", tmp_path / "pairs.csv"
        return read_dataset(*files, columns or Columns(), **more)

    return read


@pytest.mark.parametrize(
    ("left", "right"),
    [("sku_1", "sku_2"), ("image1", "image2"), ("a_id", "b_id"), ("u", "v"), ("this", "that one")],
)
def test_columns_are_found_by_the_ids_they_hold(dataset, left, right):
    rows = [f"{k},{a},note {k},{b},{'yn'[k % 2]}" for k, (a, b) in enumerate(ROWS)]
    data = dataset(f"row,{left},about,{right},same", *rows)
    assert (data.columns.left, data.columns.right) == (left, right)
    ends = zip(data.pairs.left, data.pairs.right, strict=True)
    assert [(data.ids[i], data.ids[j]) for i, j in ends] == ROWS


def test_ids_win_over_the_usual_names(dataset):
    rows = [f"text of {a},text of {b},{a},{b},yes" for a, b in ROWS]
    data = dataset("left,right,left_code,right_code,same", *rows)
    assert (data.columns.left, data.columns.right) == ("left_code", "right_code")


def test_names_break_ties_among_columns_of_ids(dataset):
    rows = [f"{a},{b},{a},yes" for a, b in ROWS]  # which of the two was shown first
    assert dataset("left,right,shown_first,same", *rows).columns.left == "left"
    rows = [f"{a},{b},{a},{b},yes" for a, b in ROWS]
    with pytest.raises(
        BadFile, match="all hold ids of items: say which two are compared with --le"
    ):
        dataset("u,v,w,x1,same", *rows)
    named = dataset("u,v,w,x1,same", *rows, columns=Columns("w", "x1"))
    assert named.columns.left == "w"


def test_a_few_ids_by_chance_do_not_count(dataset):
    items = "id,w\n" + "".join(f"{k},{k / 7}\n" for k in range(12))
    rows = [f"{k},{k + 1},{k % 2},{k % 3}" for k in range(11)]
    data = dataset("i,j,same,round", *rows, items=items)
    assert (data.columns.left, data.columns.right, data.columns.same) == ("i", "j", "same")


def test_the_ids_of_the_items_are_the_column_that_the_pairs_name(dataset):
    items = "id,name,sku,w\n1,x,A1,1.5\n2,y,B2,2.5\n3,z,C3,3.5\n4,u,D4,4.5\n"
    data = dataset("left,right,same", *(f"{a},{b},yes" for a, b in ROWS), items=items)
    assert data.columns.id == "sku"
    assert data.ids == ["A1", "B2", "C3", "D4"]


def test_without_items_two_columns_of_the_same_names_are_the_items(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("by,this,that,said\nann,A1,B2,yes\nann,B2,C3,no\nbob,C3,A1,no\ncid,A1,C3,no\n")
    data = read_pairs(path)
    assert (data.columns.left, data.columns.right) == ("this", "that")
    assert data.columns.same == "said"


@pytest.mark.parametrize(
    ("header", "cells", "found"),
    [
        ("left,right,judgement", ("yes", "no", "TRUE", "0"), "judgement"),
        ("left,right,batch,verdict_of_pair", ("1,same", "1,different", "0,same", "1,?"), None),
        ("left,right,answer,label", ("yes,red", "no,red", "no,blue", "yes,red"), "answer"),
    ],
)
def test_answers_are_found_by_what_they_say(dataset, header, cells, found):
    rows = [f"{a},{b},{c}" for (a, b), c in zip(ROWS, cells, strict=True)]
    data = dataset(header, *rows)
    assert data.columns.same == (found or "verdict_of_pair")
    assert any("by what it holds" in note for note in data.notes)


@pytest.mark.parametrize(
    ("header", "given", "said"),
    [
        ("left,right,p,q1", {}, "no column looks like 'same'; .* Name it: --same ..."),
        (
            "left,right,same,user,rater",
            {},
            "could each be 'annotator': name one, --annotator 'user'",
        ),
        ("left,right,same,count,n_votes", {}, "each be 'weight': name one, by calling it weight"),
        ("left,right,same", {"same": "sam"}, "--same 'sam': the table has no such column; did you"),
        ("left,right,same", {"left": "left"}, "name right too, --right ..."),
        (
            "left,right,same",
            {"left": "lef", "right": "right"},
            "no column 'lef'; did you mean 'left'",
        ),
    ],
)
def test_messages_name_the_options_of_the_commands(dataset, header, given, said):
    n = header.count(",") - 1
    with pytest.raises(BadFile, match=said) as caught:
        dataset(header, *(f"{a},{b}" + ",yes" * n for a, b in ROWS), columns=Columns(**given))
    assert "=..." not in str(caught.value)


def test_own_words(dataset):
    rows = [f"{a},{b},{w}" for (a, b), w in zip(ROWS, ("yup", "nope", "hm", "yes"), strict=True)]
    with pytest.raises(BadFile, match='unsure: --answers "yup=…,nope=…,hm=…"'):
        dataset("left,right,same", *rows)
    words = {"yup": "same", "nope": "different", "hm": "unsure"}
    data = dataset("left,right,same", *rows, words=words)
    assert data.pairs.same.tolist() == [True, False, True]
    assert data.mapping == {"yup": "same", "nope": "different", "yes": "same"}
