"""fit --kinds, name, predict and inspect end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from tests.app.fit.fit_problems import Files, write_files
from tests.cli.commands import FIT, fails, run


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return write_files(tmp_path_factory.mktemp("files"), n_items=60, n_pairs=500)


@pytest.fixture(scope="module")
def model(files: Files) -> Path:
    path = files.items.parent / "m.skops"
    words = ["fit", files.items, files.pairs, "-o", path, *FIT, "--kinds", "2", "--quiet"]
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    (path.parent / "told.json").write_text(result.stdout)
    return path


def test_kinds_are_told_and_the_file_keeps_none_of_their_items(model: Path) -> None:
    told = json.loads((model.parent / "told.json").read_text())
    assert [one["name"] for one in told["kinds"]] == [None, None]
    assert told["kinds"][0]["typical"][0]["features"]["colour"] in ("red", "blue")
    assert not told["names_known"]
    kept = json.loads(run("inspect", model, "--json").stdout)
    assert [one["typical"] for one in kept["kinds"]] == [[], []]
    assert "2 of 2 have no name yet" in run("inspect", model).stdout


def test_a_named_model_predicts_classes(model: Path, files: Files, tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    names.write_text("kind,class\n0,yew\n1,ash\n")
    named = tmp_path / "named.skops"
    result = run("name", model, names, "-o", named)
    assert result.exit_code == 0, result.output
    assert "2 kinds are now 2 classes: ash, yew." in " ".join(result.stdout.split())
    assert "| 0 | yew |" in run("inspect", named).stdout
    out = tmp_path / "out.csv"
    assert run("predict", named, files.items, "-o", out, "--quiet").exit_code == 0
    found = pd.read_csv(out)["class"]
    right = (found == pd.Series(files.y).map({0: "ash", 1: "yew"})).mean()
    assert max(right, 1 - right) > 0.9  # by size or the other way round
    told = json.loads(run("name", model, names, "-o", named, "--force", "--json").stdout)
    assert told["kinds"] == {"0": "yew", "1": "ash"}


def test_what_cannot_be_named_is_refused(model: Path, files: Files, tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    names.write_text("kind,class\n5,yew\n")
    fails(1, "there is no kind '5'", tmp_path, "name", model, names, "-o", tmp_path / "n.skops")
    words = ["fit", files.items, files.pairs, "-o", tmp_path / "x.skops", "--kinds", "3"]
    fails(2, "both classes and kinds", tmp_path, *words, "--classes", "2")
    fails(2, "method 'weighted' knows no kinds", tmp_path, *words, "--method", "weighted")
