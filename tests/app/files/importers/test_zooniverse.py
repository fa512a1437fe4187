"""Classifications of Zooniverse."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from noisypairs.app.files import BadFile, Columns, read_pairs
from tests.app.files.importers.linked_items import answers


def write(path, *rows):
    """Write rows of (user, [(task, value), …], fields of the subject)."""
    table = [
        {
            "classification_id": k,
            "user_name": user,
            "annotations": json.dumps([{"task": t, "value": v} for t, v in said]),
            "subject_data": json.dumps({f"{k}": subject}),
        }
        for k, (user, said, subject) in enumerate(rows)
    ]
    pd.DataFrame(table).to_csv(path, index=False)
    return path


def test_pictures_lists_and_other_questions(tmp_path):
    one, other = {"!a_file": "a", "!b_file": "b"}, {"!a_file": "a", "!b_file": "c"}
    path = write(
        tmp_path / "c.csv",
        ("ann", [("T0", "![x](http://x/y.png =60x) Yes"), ("T1", "red")], one),
        ("bob", [("T0", ["No"]), ("T1", "blue")], other),
        ("cid", [("T0", None)], other),  # left without an answer
    )
    data = read_pairs(path)
    assert answers(data) == {("a", "b", True), ("a", "c", False)}
    assert (data.columns.same, data.columns.left) == ("T0", "a_file")
    with pytest.raises(BadFile, match="no answer 'T7'"):
        read_pairs(path, Columns(same="T7"))


def test_classifications_of_single_subjects_are_refused(tmp_path):
    path = write(tmp_path / "c.csv", ("ann", [("T0", "Yes")], {"file": "a.png", "ra": 319.1}))
    with pytest.raises(BadFile, match="two columns must name the items of a pair"):
        read_pairs(path)
