"""Must-links and cannot-links, in two lists or in one."""

from __future__ import annotations

import pytest

from noisypairs.app.files import BadFile, read_dataset, read_pairs
from tests.app.files.importers.linked_items import LINKED, answers


def test_two_lists_of_links(tmp_path):
    (tmp_path / "must_link.csv").write_text("a,b\n")
    (tmp_path / "cannot_link.csv").write_text("b,c\na,c\n")
    (tmp_path / "items.csv").write_text("id,w\na,1\nb,2\nc,3\n")
    for path in (tmp_path / "must_link.csv", tmp_path / "cannot_link.csv", tmp_path):
        data = read_dataset(tmp_path / "items.csv", path)
        assert data.format == "links"
        assert answers(data) == LINKED
        assert len(data.sources) == 3
    (tmp_path / "must_link.csv").write_text("left,right\na,b\n")
    assert answers(read_pairs(tmp_path)) == LINKED
    (tmp_path / "must_link.csv").write_text("a,b,c\n")
    with pytest.raises(BadFile, match=r"must_link.csv has 3 columns, expected two items"):
        read_pairs(tmp_path)


@pytest.mark.parametrize(("must", "cannot"), [("ML", "CL"), ("Must-Link", "cannot_link")])
def test_one_list_of_links(tmp_path, must, cannot):
    path = tmp_path / "constraints.csv"
    path.write_text(f"i,j,constraint\na,b,{must}\nb,c,{cannot}\na,c,{cannot}\n")
    assert answers(read_pairs(path)) == LINKED
