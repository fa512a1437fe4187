"""crowd-kit's frame of tasks, workers and labels."""

from __future__ import annotations

import pandas as pd
import pytest

from noisypairs.app.files import BadFile, read_pairs
from tests.app.files.importers.linked_items import LINKED, answers


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


def test_the_worker_was_called_performer(tmp_path):
    path = tmp_path / "crowd.csv"
    path.write_text("task,performer,label\na|b,w1,same\nb|c,w2,different\na|c,w1,different\n")
    data = read_pairs(path)
    assert (data.format, data.annotator_names) == ("crowd-kit", ["w1", "w2"])
    assert answers(data) == LINKED


def test_crowd_kit_labels_of_single_items_and_preferences_are_refused(tmp_path):
    path = tmp_path / "crowd.csv"
    path.write_text("task,worker,label\nt1,w1,cat\nt2,w1,dog\n")
    with pytest.raises(BadFile, match="Labels of single items are not answers about pairs"):
        read_pairs(path)
    path.write_text("worker,left,right,label\nw1,a,b,a\nw2,b,c,c\n")
    with pytest.raises(BadFile, match="says which of the two items is preferred"):
        read_pairs(path)
