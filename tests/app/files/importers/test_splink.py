"""splink's labels."""

from __future__ import annotations

import numpy as np

from noisypairs.app.files import read_pairs
from tests.app.files.importers.linked_items import LINKED, answers


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
