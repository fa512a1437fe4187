"""fit, name, predict and inspect end to end."""

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
    words = ["fit", files.items, files.pairs, "-o", path, *FIT, "--classes", "2", "--quiet"]
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    (path.parent / "told.json").write_text(result.stdout)
    return path


def test_groups_are_told_and_the_file_keeps_none_of_their_items(model: Path) -> None:
    told = json.loads((model.parent / "told.json").read_text())
    assert [one["name"] for one in told["classes"]] == ["group 1", "group 2"]
    assert told["classes"][0]["typical"][0]["features"]["colour"] in ("red", "blue")
    assert not told["names_known"]
    kept = json.loads(run("inspect", model, "--json").stdout)
    assert [one["typical"] for one in kept["classes"]] == [[], []]
    assert "Classes without names are numbered by size" in run("inspect", model).stdout


def test_a_named_model_predicts_classes(model: Path, files: Files, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert run("predict", model, files.items, "-o", out, "--quiet").exit_code == 0
    groups = pd.read_csv(out)["class"]
    assert set(groups) == {"group 1", "group 2"}
    names = tmp_path / "names.csv"
    names.write_text("group,class\n1,yew\n2,ash\n")
    named = tmp_path / "named.skops"
    result = run("name", model, names, "-o", named)
    assert result.exit_code == 0, result.output
    assert "2 groups are now 2 classes: ash, yew." in " ".join(result.stdout.split())
    assert "| 1 | yew |" in run("inspect", named).stdout
    assert run("predict", named, files.items, "-o", out, "--quiet", "--force").exit_code == 0
    found = pd.read_csv(out)["class"]
    assert found.tolist() == groups.map({"group 1": "yew", "group 2": "ash"}).tolist()
    told = json.loads(run("name", model, names, "-o", named, "--force", "--json").stdout)
    assert told["groups"] == {"1": "yew", "2": "ash"}


def test_two_classes_of_another_method_get_names_too(tmp_path: Path) -> None:
    files = write_files(tmp_path, n_items=100, n_pairs=2000)
    model, names, named = (tmp_path / name for name in ("m.skops", "names.csv", "n.skops"))
    words = ["-o", model, "--method", "weighted", "--estimator", "logistic", "--quiet"]
    assert run("fit", files.items, files.pairs, *words).exit_code == 0
    names.write_text("group,class\n1,yew\n2,yew\n")
    fails(1, "gives two groups one name", tmp_path, "name", model, names, "-o", named)
    names.write_text("group,class\n2,ash\n")
    assert run("name", model, names, "-o", named, "--quiet").exit_code == 0
    out = tmp_path / "out.csv"
    assert run("predict", named, files.items, "-o", out, "--quiet").exit_code == 0
    assert set(pd.read_csv(out)["class"]) == {"group 1", "ash"}


def test_what_cannot_be_named_is_refused(model: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.csv"
    names.write_text("group,class\n5,yew\n")
    fails(1, "there is no group '5'", tmp_path, "name", model, names, "-o", tmp_path / "n.skops")


def test_the_items_of_a_fit_are_written_with_their_classes(files: Files, tmp_path: Path) -> None:
    out = tmp_path / "classes.csv"
    words = ["-o", tmp_path / "m.skops", *FIT, "--classes", "2", "--quiet", "--items-out"]
    fails(2, "--items-out - would mix", tmp_path, "fit", files.items, files.pairs, *words, "-")
    result = run("fit", files.items, files.pairs, *words, out, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["written"]["items"] == str(out)
    found, items = pd.read_csv(out), pd.read_csv(files.items)
    name = items.columns[0]
    assert sorted(found["id"].astype(str)) == sorted(items[name].astype(str))
    assert set(found["class"]) == {"group 1", "group 2"}
    assert found["answers"].sum() == 2 * json.loads(result.stdout)["n_pairs"]
    y = dict(zip(items[name].astype(str), files.y, strict=True))
    truth = found["id"].astype(str).map(y)
    right = ((found["class"] == "group 2") == (truth == 1)).mean()
    assert max(right, 1 - right) > 0.9
