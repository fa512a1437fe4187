"""Exports of other tools: each becomes the same kind of dataset, or is refused with the reason."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from noisypairs import cli
from noisypairs.app.files import FORMATS, BadFile, Columns, read_dataset, read_pairs
from noisypairs.app.files.importers import (
    IMPORTERS,
    ImportedTable,
    Importer,
    PairsFile,
    answer_table,
    register,
)


def answers(data) -> set[tuple[str, str, bool]]:
    ends = zip(data.pairs.left, data.pairs.right, data.pairs.same, strict=True)
    return {(data.ids[a], data.ids[b], bool(same)) for a, b, same in ends}


TUPLES = np.array([[[0.0, 1.0], [2.0, 3.0]], [[2.0, 3.0], [4.0, np.inf]], [[0.0, 1.0], [0.0, 5.0]]])


@pytest.mark.parametrize("name", ["t.npz", "pairs.npy"])
def test_metric_learn_tuples(tmp_path, name):
    path = tmp_path / name
    if name == "t.npz":
        np.savez(path, pairs=TUPLES, y=np.array([1, -1, -1]))
    else:
        np.save(path, TUPLES)
        np.save(tmp_path / "y.npy", np.array([1, -1, -1]))
    for items in (None, path):
        data = read_dataset(items, path)
        assert data.format == "metric-learn"
        rows = data.features.to_numpy()
        found = [
            (rows[a].tolist(), rows[b].tolist(), bool(s))
            for a, b, s in zip(data.pairs.left, data.pairs.right, data.pairs.same, strict=True)
        ]
        assert found[0] == ([0.0, 1.0], [2.0, 3.0], True)
        assert found[2] == ([0.0, 1.0], [0.0, 5.0], False)
        assert np.isnan(found[1][1][1])  # infinite numbers are missing ones
        assert len(rows) == 4
        assert data.mapping == {"1": "same", "-1": "different"}


def test_metric_learn_files_that_cannot_be_read(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, pairs=TUPLES[:, :, 0], y=[1, -1, 1])
    with pytest.raises(BadFile, match=r"shape \(3, 2\) of float64, expected numbers of shape"):
        read_pairs(path)
    np.savez(path, pairs=TUPLES)
    with pytest.raises(BadFile, match=r"expected one called 'y'"):
        read_pairs(path)
    np.savez(path, pairs=TUPLES, y=[1, -1])
    with pytest.raises(BadFile, match="3 tuples, but y has shape"):
        read_pairs(path)
    np.savez(path, pairs=np.array([[{}, {}]]), y=[1])  # pickled objects could run code
    with pytest.raises(BadFile, match="no file of numpy arrays"):
        read_pairs(path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(BadFile, match="no file of numpy arrays"):
        read_pairs(path)
    np.save(tmp_path / "alone.npy", TUPLES)
    with pytest.raises(BadFile, match=r"put them beside it as alone_y.npy"):
        read_pairs(tmp_path / "alone.npy")


LINKED = {("a", "b", True), ("b", "c", False), ("a", "c", False)}


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


@pytest.mark.parametrize("task", ["{}|{}", "({!r}, {!r})", "{} vs {}", "{}--{}"])
def test_crowd_kit_frames(tmp_path, task):
    path = tmp_path / "crowd.csv"
    rows = [("a", "b", "same"), ("b", "c", "different"), ("a", "c", "different")]
    frame = pd.DataFrame(
        {
            "task": [task.format(a, b) for a, b, _ in rows],
            "worker": ["w1", "w2", "w1"],
            "label": [answer for *_, answer in rows],
        }
    )
    frame.to_csv(path, index=False)
    data = read_pairs(path)
    assert data.format == "crowd-kit"
    assert answers(data) == LINKED
    assert data.annotator_names == ["w1", "w2"]


def test_crowd_kit_labels_of_single_items_and_preferences_are_refused(tmp_path):
    path = tmp_path / "crowd.csv"
    path.write_text("task,worker,label\nt1,w1,cat\nt2,w1,dog\n")
    with pytest.raises(BadFile, match="Labels of single items are not answers about pairs"):
        read_pairs(path)
    path.write_text("worker,left,right,label\nw1,a,b,a\nw2,b,c,c\n")
    with pytest.raises(BadFile, match="says which of the two items is preferred"):
        read_pairs(path)


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


def test_splink_labels(tmp_path):
    path = tmp_path / "labels.csv"
    head = "unique_id_l,source_dataset_l,unique_id_r,source_dataset_r,clerical_match_score\n"
    path.write_text(head + "a,s,b,s,1.0\nb,s,c,s,0.0\na,s,c,s,0.0\n")
    data = read_pairs(path)
    assert data.format == "splink"
    assert answers(data) == LINKED
    path.write_text(head + "1,s,1,t,0.9\n")
    data = read_pairs(path)
    assert data.ids == ["s-__-1", "t-__-1"]
    np.testing.assert_allclose(data.pairs.weight, [0.9, 0.1], rtol=1e-6)


def record(name: str, age: int) -> dict:
    return {"name": name, "age": age}


def marked(*values: object) -> dict:
    return {"__class__": "tuple", "__value__": list(values)}


def test_dedupe_training(tmp_path):
    path = tmp_path / "training.json"
    ann, anne, bob = record("Ann", 3), record("Anne", 3), record("Bob", 4)
    training = {"match": [marked(ann, anne)], "distinct": [[anne, bob], marked(ann, bob)]}
    path.write_text(json.dumps(training))
    data = read_dataset(path, path)
    assert data.format == "dedupe"
    assert data.features["name"].tolist() == ["Ann", "Anne", "Bob"]
    assert data.features["age"].tolist() == [3, 3, 4]
    names = data.features["name"]
    found = {(names[data.ids.index(a)], names[data.ids.index(b)], s) for a, b, s in answers(data)}
    assert found == {("Ann", "Anne", True), ("Anne", "Bob", False), ("Ann", "Bob", False)}
    path.write_text(json.dumps({"match": [[{"id": 7, "n": 1}, {"id": 8, "n": 2}]]}))
    assert read_pairs(path).ids == ["7", "8"]
    path.write_text(json.dumps({"match": [[ann]], "distinct": []}))
    with pytest.raises(BadFile, match="match 1: expected two records"):
        read_pairs(path)
    path.write_text(json.dumps({"match": [], "distinct": []}))
    with pytest.raises(BadFile, match="no couples"):
        read_pairs(path)


def task(first: str, second: str, *annotations: dict) -> dict:
    return {"id": 1, "data": {"text1": first, "text2": second}, "annotations": list(annotations)}


def chose(*words: str, by: object = 1, **more: object) -> dict:
    value = {"choices": list(words)}
    result = {"type": "choices", "from_name": "q", "to_name": "text1", "value": value}
    return {"completed_by": by, "result": [result], **more}


def test_label_studio_choices(tmp_path):
    path = tmp_path / "export.json"
    tasks = [
        task("a", "b", chose("Same", by={"id": 4, "email": "x@y.org"})),
        task("b", "c", chose("Different"), chose("Same", was_cancelled=True)),
        task("a", "c", chose("Different", by=2), {"completed_by": 1, "result": []}),
    ]
    path.write_text(json.dumps(tasks))
    data = read_pairs(path)
    assert data.format == "label-studio"
    assert answers(data) == LINKED
    assert data.annotator_names == ["1", "2", "x@y.org"]
    assert data.features["text"].tolist() == data.ids
    assert any("2 annotations cancelled or without a choice" in note for note in data.notes)


def test_label_studio_preferences_are_refused_with_the_reason(tmp_path):
    path = tmp_path / "export.json"
    picked = {"type": "pairwise", "from_name": "pw", "value": {"selected": "left"}}
    path.write_text(json.dumps([task("a", "b", {"completed_by": 1, "result": [picked]})]))
    with pytest.raises(BadFile, match="task 1 is a pairwise comparison, which says which of the"):
        read_pairs(path)
    path.write_text(json.dumps([{"text1": "a", "text2": "b", "pw": "left"}]))
    with pytest.raises(BadFile, match="preferred"):
        read_pairs(path, Columns("text1", "text2", "pw"))


def test_label_studio_with_several_questions(tmp_path):
    path = tmp_path / "export.json"
    first, second = chose("yes"), chose("no")
    second["result"][0]["from_name"] = "other"
    both = {"completed_by": 1, "result": first["result"] + second["result"]}
    path.write_text(json.dumps([task("a", "b", both)]))
    with pytest.raises(BadFile, match="several questions, 'other', 'q'"):
        read_pairs(path)
    assert answers(read_pairs(path, Columns(same="other"))) == {("a", "b", False)}


def test_formats_are_named_or_refused(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("left,right,same\na,b,1\n")
    with pytest.raises(ValueError, match="did you mean 'splink'"):
        read_pairs(path, format="spink")
    for name, message in {
        "splink": "splink labels need the columns",
        "crowd-kit": "has the columns task, worker and label",
        "mturk": "two columns must name the items",
        "links": "says must-link or cannot-link",
        "dedupe": "not valid JSON",
        "metric-learn": "no file of numpy arrays",
    }.items():
        with pytest.raises(BadFile, match=message):
            read_pairs(path, format=name)
    assert answers(read_pairs(path, format="table")) == {("a", "b", True)}


def read_signs(file: PairsFile) -> ImportedTable:
    """Read lines such as "a + b" (same) and "b - c" (different)."""
    left, sign, right = zip(*(line.split() for line in file.text.splitlines()), strict=True)
    data = {"left": left, "right": right, "same": [1 if mark == "+" else 0 for mark in sign]}
    table = answer_table(file.path, file.content.source(len(left)), data)
    return ImportedTable(table, Columns("left", "right", "same"))


SIGNS = Importer("signs", "a sign per pair", lambda file: file.extension == ".signs", read_signs)


@pytest.fixture
def signs(tmp_path):
    """A file in a format that is registered for this test alone."""
    register(SIGNS)
    path = tmp_path / "pairs.signs"
    path.write_text("a + b\nb - c\na - c\n")
    yield path
    del IMPORTERS["signs"]


def test_a_registered_format_is_recognised_and_named(signs):
    assert "signs" in FORMATS
    for format in (None, "signs"):
        data = read_pairs(signs, format=format)
        assert data.format == "signs"
        assert answers(data) == LINKED
        assert data.sources[0]["rows"] == 3
    with pytest.raises(ValueError, match="there is a format 'signs' already"):
        register(SIGNS)


def test_the_command_line_takes_a_registered_format(signs):
    words = ["annotators", str(signs), "--format", "signs"]
    done = CliRunner().invoke(cli.application(), words)
    assert "do not say who answered" in done.stderr  # read, though it names no annotators
    done = CliRunner().invoke(cli.application(), [*words[:3], "sign"])
    assert "did you mean 'signs'" in done.stderr


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_records_in_json_are_recognised_by_their_columns(tmp_path, ending):
    rows = [{"task": "a|b", "worker": "w", "label": 1}, {"task": "b|c", "worker": "w", "label": 0}]
    path = tmp_path / f"crowd{ending}"
    for text in ("\n".join(map(json.dumps, rows)) + "\n", json.dumps(rows)):
        path.write_text(text)
        data = read_pairs(path)
        assert data.format == "crowd-kit"
        assert answers(data) == {("a", "b", True), ("b", "c", False)}
