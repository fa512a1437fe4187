"""The recipe "Add an importer", followed to the letter."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from noisypairs import PairingNoise, cli, datasets, sample_pairs
from noisypairs.app.files import FORMATS, BadFile, read_dataset
from noisypairs.app.files.importers import IMPORTERS, register
from noisypairs.pairs.pairs import keys_of

HEADING, MODULE = "Add an importer", "duels"
WORKERS = ("anna", "ben", "chloé")


@pytest.fixture(scope="module", autouse=True)
def _forgotten(recipe):
    """Take the toy format out again, so that other tests see the formats of the package."""
    yield
    IMPORTERS.pop(recipe.DUELS.name)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return (items, pairs, the answers in memory): 120 items, 600 answers of three people."""
    folder = tmp_path_factory.mktemp("duels")
    X, y = datasets.load("gaussians", n_samples=120, prior=0.4, random_state=0)
    pairs = sample_pairs(y, 640, PairingNoise(0.1, 0.1), random_state=0)
    _, first = np.unique(keys_of(pairs), return_index=True)  # the same again would be a copy
    pairs = pairs.select(np.sort(first)[:600])
    items, answers = folder / "items.csv", folder / "answers.duels"
    items.write_text("id,a,b\n" + "".join(f"p{i},{a},{b}\n" for i, (a, b) in enumerate(X)))
    lines = [
        f"{WORKERS[k % 3]}: p{i} {'==' if same else '!='} p{j}"
        for k, (i, j, same) in enumerate(zip(pairs.left, pairs.right, pairs.same, strict=True))
    ]
    answers.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return items, answers, pairs


def run(*arguments):
    return CliRunner().invoke(cli.application(), [str(argument) for argument in arguments])


@pytest.mark.parametrize("format", [None, "duels"])
def test_its_files_are_recognised_and_read(files, format):
    items, answers, pairs = files
    data = read_dataset(items, answers, format=format)
    assert data.format == "duels"
    assert data.annotator_names == sorted(WORKERS)
    assert [data.ids[i] for i in data.pairs.left] == [f"p{i}" for i in pairs.left]
    assert (data.pairs.same == pairs.same).all()
    assert (data.pairs.right == pairs.right).all()
    assert data.pairs.annotator_names[data.pairs.annotator[:3]].tolist() == list(WORKERS)


def test_it_is_listed_and_its_name_is_taken(recipe):
    assert "duels" in FORMATS
    with pytest.raises(ValueError, match="duels"):
        register(recipe.DUELS)


def test_other_files_are_not_taken(files, tmp_path):
    items, _, _ = files
    plain = tmp_path / "pairs.csv"
    plain.write_text("left,right,same\np0,p1,yes\np1,p2,no\n")
    assert read_dataset(items, plain).format == "table"


def test_what_cannot_be_read_is_refused_with_its_place(files, tmp_path):
    broken = tmp_path / "broken.duels"
    broken.write_text("anna: p0 == p1\nanna thinks p0 is p1\n")
    with pytest.raises(BadFile, match=r"broken\.duels, line 2: expected 'who: item == item'"):
        read_dataset(files[0], broken)


def test_the_commands_take_it(files, tmp_path):
    items, answers, _ = files
    for given in ([], ["--format", "duels"]):
        checked = run("check", items, answers, "--no-fit", "--json", *given)
        assert checked.exit_code == 0, checked.output
        assert "600" in checked.output
    fitted = run(
        "fit", items, answers, "--format", "duels", "--method", "joint", "--estimator", "logistic",
        "--no-annotators", "--json", "--quiet", "-o", tmp_path / "model.skops",
    )  # fmt: skip
    assert fitted.exit_code == 0, fitted.output
    assert json.loads(fitted.stdout)["n_pairs"] == 600
    unknown = run("check", items, answers, "--format", "duel")
    assert unknown.exit_code == 2
    assert "did you mean 'duels'" in unknown.output.replace("\n", " ")
