"""Lists of constraints."""

from __future__ import annotations

import pytest

from noisypairs.app.files import BadFile, read_dataset, read_pairs
from tests.app.files.importers.linked_items import LINKED, answers


@pytest.mark.parametrize("name", ["c.constraints", "c", "c.txt", "c.csv", "c.lst"])
@pytest.mark.parametrize(
    "line", ["{} {} {}", "{}\t{}\t{}", "{}, {}, {}", "{};{};{}", "  {}   {} {} "]
)
def test_any_ending_and_any_mark(tmp_path, name, line):
    path = tmp_path / name
    rows = [("a", "b", "1"), ("b", "c", "-1"), ("a", "c", "-1")]
    path.write_text("% of wine\n\n" + "".join(f"{line.format(*row)}\n" for row in rows))
    data = read_pairs(path)
    assert (data.format, data.sources[0]["rows"]) == ("constraints", 3)
    assert answers(data) == LINKED


def test_numbers_are_rows_of_items_without_ids(tmp_path):
    (tmp_path / "items.csv").write_text("u,v\n0.5,1.5\n2.5,3.5\n4.5,5.5\n")
    (tmp_path / "c.cons").write_text("0 1 ML\n1 2 CL\n")
    data = read_dataset(tmp_path / "items.csv", tmp_path / "c.cons")
    assert answers(data) == {("0", "1", True), ("1", "2", False)}


def test_a_line_that_is_no_constraint_is_named(tmp_path):
    path = tmp_path / "c.cons"
    path.write_text("a b 1\n" * 30 + "a b\n")
    with pytest.raises(BadFile, match=r"c.cons, line 31: expected two items and 1 or -1"):
        read_pairs(path)


def test_a_table_with_a_header_is_none(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("left,right,same\na,b,1\nb,c,0\n")
    assert read_pairs(path).format == "table"
