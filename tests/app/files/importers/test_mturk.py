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


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("Answer.category.label", {"yes": "Same", "no": "Different"}),  # crowd-classifier
        ("Answer.category.labels", {"yes": '["Same"]', "no": '["Different"]'}),  # multi-select
        ("Answer.taskAnswers", {"yes": '[{"q":{"label":"Same"}}]', "no": '[{"q":{"label":"No"}}]'}),
        (
            "Answer.taskAnswers",
            {"yes": '[{"q":{"no":false,"yes":true}}]', "no": '[{"q":{"no":true,"yes":false}}]'},
        ),
        ("Answer.taskAnswers", {"yes": '{"q": "yes", "remark": "-"}', "no": '{"q": "no"}'}),
    ],
)
def test_the_shapes_of_answers(tmp_path, column, said):
    path = tmp_path / "batch.csv"
    frame = MTURK.drop(columns=["Answer.same", "Answer.comment"])
    frame[column] = MTURK["Answer.same"].map(said)
    frame.to_csv(path, index=False)
    assert answers(read_pairs(path)) == LINKED
    frame.loc[3, "AssignmentStatus"] = "Submitted"
    frame["Reject"] = ["", "", "", "no work was done"]  # a file for review
    frame.to_csv(path, index=False)
    assert answers(read_pairs(path)) == LINKED


def test_task_answers_that_are_no_list_of_one_object_are_refused_by_line(tmp_path):
    path = tmp_path / "batch.csv"
    frame = MTURK.drop(columns=["Answer.same", "Answer.comment"])
    frame["Answer.taskAnswers"] = ['[{"q": 1}]', "[1, 2]", "", ""]
    frame.to_csv(path, index=False)
    with pytest.raises(BadFile, match=r"line 3: Answer.taskAnswers holds \[1, 2\]"):
        read_pairs(path)


def test_two_questions_about_the_pair_must_be_told_apart(tmp_path):
    path = tmp_path / "batch.csv"
    frame = MTURK.assign(**{"Answer.other": ["no", "no", "yes", "no"]})
    frame.to_csv(path, index=False)
    assert answers(read_pairs(path)) == LINKED  # by its name
    frame.rename(columns={"Answer.same": "Answer.alike"}).to_csv(path, index=False)
    with pytest.raises(BadFile, match=r"several questions, 'alike', 'other': name the .* --same"):
        read_pairs(path)
    assert answers(read_pairs(path, Columns(same="Answer.alike"))) == LINKED


def test_mechanical_turk_radio_buttons(tmp_path):
    path = tmp_path / "batch.csv"
    said = MTURK["Answer.same"].map({"yes": "same", "no": "different"})
    frame = MTURK.drop(columns=["Answer.same", "Answer.comment"])
    for option in ("same", "different", "unsure"):
        frame[f"Answer.q.{option}"] = (said == option).map({True: "true", False: "false"})
    frame.to_csv(path, index=False)
    assert answers(read_pairs(path)) == LINKED
