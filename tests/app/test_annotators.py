"""Annotators of a data set: who is judged, known classes from a file, and names that are hidden."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from noisypairs import Pairs
from noisypairs.app.annotators import judge_annotators, with_hashed_names
from noisypairs.app.files import read_dataset, read_pairs
from noisypairs.app.report.advice import crowd_answer
from tests.app.fit.fit_problems import Files, write_files


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return write_files(tmp_path_factory.mktemp("files"), n_items=60, n_pairs=400)


def test_everybody_is_judged_and_known_classes_are_counted(files: Files) -> None:
    found, notes = judge_annotators(files.read(), files.labels)
    assert {row.name for row in found.table} == {"ann", "bob", "cid"}
    assert found.gold is not None
    assert notes == []


def test_hashed_names_depend_on_the_salt_alone(files: Files) -> None:
    found, _ = judge_annotators(files.read())
    one, same, other, random = (
        [row.name for row in with_hashed_names(found, salt).table] for salt in ("a", "a", "b", None)
    )
    assert one == same
    assert len({*one, *other, *random, "ann", "bob", "cid"}) == 12


def test_answers_of_nobody_are_refused(files: Files) -> None:
    data = files.read()
    pairs = data.pairs
    nobody = Pairs(pairs.left, pairs.right, pairs.same, n_items=pairs.n_items)
    with pytest.raises(ValueError, match="do not say who answered"):
        judge_annotators(replace(data, pairs=nobody, annotator_names=None))


def test_judges_who_err_together_and_known_pairs_are_stated_first(tmp_path) -> None:
    """Judges of two families see one misleading version of some pairs."""
    rng = np.random.default_rng(0)
    truth = rng.random(200) < 0.4
    seen = truth ^ (rng.random(200) < 0.15)
    judges = [f"{family}/{k}" for family in ("one", "two") for k in range(3)]
    rows = [
        (f"a{k}", f"b{k}", judge, "same" if seen[k] ^ (rng.random() < 0.08) else "different")
        for k in range(200)
        for judge in judges
    ]
    pairs, gold = tmp_path / "pairs.csv", tmp_path / "gold.csv"
    pd.DataFrame(rows, columns=["left", "right", "annotator", "same"]).to_csv(pairs, index=False)
    known = [(f"a{k}", f"b{k}", bool(truth[k])) for k in range(0, 200, 2)]
    pd.DataFrame(known, columns=["left", "right", "same"]).to_csv(gold, index=False)
    found, notes = judge_annotators(read_dataset(None, pairs), gold)
    assert found.table.choice.model == "pairs"
    assert found.table.together.n_known == 100
    assert notes[0].startswith("known pairs that answers contradict: a")
    answer = crowd_answer(found)
    assert "contradicted by nearly all answers to them" in answer.split(".")[0]
    assert "independent ones" in answer


def test_more_annotators_than_can_be_judged_are_refused_at_once(tmp_path) -> None:
    path, n = tmp_path / "pairs.csv", 20_001
    lines = (f"i{k % 50},i{(k + 1) % 50},1,w{k}\n" for k in range(n))
    path.write_text("left,right,same,annotator\n" + "".join(lines))
    with pytest.raises(ValueError, match=r"20,001 annotators with 1\.0 answers each: at most"):
        judge_annotators(read_pairs(path))
