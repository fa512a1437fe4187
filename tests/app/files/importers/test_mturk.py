"""A batch of Mechanical Turk."""

from __future__ import annotations

import pandas as pd
import pytest

from noisypairs.app.files import BadFile, Columns, read_pairs
from tests.app.files.importers.linked_items import LINKED, answers

MTURK = pd.DataFrame(
    {
        "HITId": ["h1", "h2", "h3", "h3"],
        "WorkerId": ["A1", "A2", "A1", "A3"],
        "AssignmentStatus": ["Approved", "Submitted", "Approved", "Rejected"],
        "Input.image1_id": ["a", "b", "a", "a"],
        "Input.image2_id": ["b", "c", "c", "c"],
        "Input.image1_url": ["u", "u", "u", "u"],
        "Input.image2_url": ["u", "u", "u", "u"],
        "Answer.same": ["yes", "no", "no", "yes"],
        "Answer.comment": ["", "hm", "", ""],
    }
)


def test_a_batch_of_mechanical_turk(tmp_path):
    path = tmp_path / "Batch_1_results.csv"
    MTURK.to_csv(path, index=False)
    data = read_pairs(path)
    assert data.format == "mturk"
    assert answers(data) == LINKED
    assert data.annotator_names == ["A1", "A2"]
    assert any("1 rejected assignment left out" in note for note in data.notes)
    assert data.columns.left == "Input.image1_id"
    by_url = read_pairs(path, Columns(left="Input.image1_url", right="image2_url"))
    assert by_url.ids == ["u"]
    with pytest.raises(BadFile, match="did you mean 'same'"):
        read_pairs(path, Columns(same="Answer.sam"))


def test_mechanical_turk_radio_buttons(tmp_path):
    path = tmp_path / "batch.csv"
    said = MTURK["Answer.same"].map({"yes": "same", "no": "different"})
    frame = MTURK.drop(columns=["Answer.same", "Answer.comment"])
    for option in ("same", "different", "unsure"):
        frame[f"Answer.q.{option}"] = (said == option).map({True: "true", False: "false"})
    frame.to_csv(path, index=False)
    assert answers(read_pairs(path)) == LINKED
