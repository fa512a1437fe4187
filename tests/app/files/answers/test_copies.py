"""Copied answers in files: left out and counted, unless they are asked for or people's own."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import PairingNoise, sample_pairs
from noisypairs.app.files import read_pairs
from noisypairs.app.files.dataset import read_dataset


def written(folder, rows, header="left,right,answer"):
    file = folder / "pairs.csv"
    file.write_text("\n".join([header, *rows]) + "\n")
    return file


def drawn(n_pairs=400, noise=0.2):
    pairs = sample_pairs([0, 1] * 100, n_pairs, PairingNoise(noise, noise), random_state=0)
    words = np.where(pairs.same, "yes", "no")
    columns = zip(pairs.left.tolist(), pairs.right.tolist(), words, strict=True)
    return [f"i{a},i{b},{word}" for a, b, word in columns]


def test_the_same_annotator_on_the_same_pair_with_the_same_answer(tmp_path):
    rows = ["a,b,yes,ann,1", "b,a,yes,ann,2", "a,b,no,ann,3", "a,b,yes,bob,4"]
    file = written(tmp_path, rows, "left,right,answer,worker,time")
    data = read_pairs(file)
    assert data.pairs.same.tolist() == [True, False, True]
    assert data.pairs.audit().copies_removed == 1
    said = "pairs.csv: 1 answer recorded before: same pair, annotator and answer, left out"
    assert any(note.startswith(said) for note in data.notes)
    kept = read_dataset(None, file, keep_copies=True)
    assert kept.pairs.n_pairs == 4
    assert kept.pairs.audit().copies == 1
    assert any("kept (--keep-copies): rates come out too small" in note for note in kept.notes)


def test_every_row_three_times_without_annotators(tmp_path):
    once = read_pairs(written(tmp_path, drawn()))
    data = read_pairs(written(tmp_path, drawn() * 3))
    assert data.pairs == once.pairs
    assert data.pairs.audit().copies_removed == 800
    assert any("800 rows without an annotator and identical" in note for note in data.notes)


def test_rows_that_differ_in_another_column_are_answers_of_somebody_else(tmp_path):
    rows = [f"{row},{k}" for k, row in enumerate(drawn() * 3)]
    data = read_pairs(written(tmp_path, rows, "left,right,answer,time"))
    assert data.pairs.n_pairs == 1200
    assert data.pairs.audit().copies_removed == 0


def test_identical_rows_of_people_who_contradict_each_other_stay(tmp_path):
    pairs = sample_pairs([0, 1] * 50, 200, random_state=0)
    left, right = np.tile(pairs.left, 3), np.tile(pairs.right, 3)
    same = PairingNoise(0.2, 0.2).corrupt([0, 1] * 50, left, right, random_state=1)
    words = np.where(same, "yes", "no")
    rows = [f"{a},{b},{word}" for a, b, word in zip(left, right, words, strict=True)]
    data = read_pairs(written(tmp_path, rows))
    assert data.pairs.n_pairs == 600
    assert any("several people answered them" in note for note in data.notes)


@pytest.mark.parametrize("who", ["", "unknown"])
def test_rows_that_name_nobody_are_copies_only_if_identical(tmp_path, who):
    rows = [f"a,b,yes,{who},1", f"a,b,yes,{who},2", f"a,b,yes,{who},1", "c,b,no,ann,1"]
    data = read_pairs(written(tmp_path, rows, "left,right,answer,worker,time"))
    expected = 3 if who == "" else 2  # a word is a name
    assert data.pairs.n_pairs == expected
