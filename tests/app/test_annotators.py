"""Annotators of a data set: who is judged, known classes from a file, and names that are hidden."""

from __future__ import annotations

from dataclasses import replace

import pytest

from noisypairs import Pairs
from noisypairs.app.annotators import judge_annotators, with_hashed_names
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
