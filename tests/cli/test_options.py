"""``--group`` of every command that reads items and answers."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from noisypairs import PairingNoise, sample_pairs
from noisypairs.app import model_file
from tests.app.fit.fit_problems import write_files
from tests.app.page_reader import words_of
from tests.cli.commands import FIT, fails, run, words_for


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write 90 items of 30 patients; one patient is not known."""
    given = write_files(tmp_path_factory.mktemp("visits"))
    items = pd.read_csv(given.items)
    items["patient"] = [f"n{k % 30}" for k in range(len(items))]
    items.loc[0, "patient"] = None  # now 31 groups
    items.to_csv(given.items, index=False)
    return given


@pytest.fixture(scope="module")
def model(files, tmp_path_factory):
    out = tmp_path_factory.mktemp("model")
    words = [*words_for("fit", files, out), "--report", out / "r.html", "--group", "patient"]
    result = run(*words, "--quiet")
    assert result.exit_code == 0, result.output
    return out / "m.skops", result.stdout, out / "r.html"


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def test_fit_says_how_many_groups_and_uses_no_feature_of_them(model):
    path, _, page = model
    facts = model_file.load(path).facts
    assert (facts["n_groups"], facts["columns"]["group"]) == (31, "patient")
    assert "patient" not in [one["name"] for one in facts["features"]]
    assert "about 90 items in 31 groups" in in_one_line(run("inspect", path).stdout)
    assert "groups of items 31 folds keep a group together" in in_one_line(
        words_of(page.read_text())
    )


def test_check_counts_groups_on_the_screen_in_json_and_on_its_page(files, tmp_path):
    words = ["check", files.items, files.pairs, "--no-fit", "--group", "patient", "--quiet"]
    result = run(*words, "--report", tmp_path / "c.html")
    assert result.exit_code == 0, result.output
    assert "group = 'patient'" in result.stdout
    assert "groups: 90 items in 31 groups" in result.stdout
    assert "90 items in 31 groups." in in_one_line(words_of((tmp_path / "c.html").read_text()))
    found = json.loads(run(*words, "--json").stdout)
    assert (found["groups"], found["columns"]["group"]) == (31, "patient")
    assert (found["identical_rows"], found["near_identical_rows"]) == (0, None)
    plain = json.loads(run(*words[:4], "--json").stdout)
    assert (plain["groups"], plain["near_identical_rows"]) == (None, 0)
    assert "patient" in [one["name"] for one in plain["features"]]


def test_plan_suspects_and_annotators_take_groups(files, model, tmp_path):
    plan = ["plan", files.items, files.pairs, "--target", "0.9", "--classes", "2", "--quiet"]
    found = json.loads(run(*plan, "--json", "--group", "patient").stdout)
    assert (found["groups"], found["items"]) == (31, 90)
    suspects = ["suspects", model[0], files.pairs, files.items, "--json", "--group", "patient"]
    notes = json.loads(run(*suspects).stdout)["notes"]
    assert any("90 items in 31 groups" in note for note in notes)
    annotators = ["annotators", files.pairs, files.items, "--classes", "2", "--json", "--quiet"]
    notes = json.loads(run(*annotators, "--group", "patient").stdout)["notes"]
    assert any("90 items in 31 groups" in note for note in notes)


@pytest.mark.parametrize("command", ["check", "fit", "plan", "annotators"])
@pytest.mark.parametrize(
    ("group", "said"),
    [
        ("Patient", "no column 'Patient' to hold the groups (--group); did you mean "),
        ("unit", "column 'unit' (--group) holds 'mm' for all 90 items: expected two groups"),
    ],
    ids=["misspelt", "one group"],
)
def test_mistakes_are_named_and_nothing_is_written(files, tmp_path, command, group, said):
    words = words_for(command, files, tmp_path)
    fails(1, said, tmp_path, *words, "--group", group, "--quiet")


def test_groups_of_answers_without_items_are_refused(files, tmp_path):
    words = ["annotators", files.pairs, "--group", "patient", "--quiet"]
    fails(1, "no file of items is given", tmp_path, *words)


def test_two_groups_are_too_few_for_the_folds_of_fit(files, tmp_path):
    said = "the items are in 2 groups, which cannot be put into 5 folds"
    fails(1, said, tmp_path, *words_for("fit", files, tmp_path), "--group", "colour", "--quiet")


# --- rows that nobody has put into groups --------------------------------------------------------


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """Write 50 patients with four visits each, all of them nearly alike."""
    folder, rng = tmp_path_factory.mktemp("near"), np.random.default_rng(0)
    patients = rng.normal(size=(50, 10))
    rows = patients.repeat(4, axis=0) + 0.2 * rng.normal(size=(200, 10))
    items = pd.DataFrame(rows).rename(columns=lambda k: f"x{k}")
    items.insert(0, "patient", np.repeat(np.arange(50), 4))
    items.insert(0, "id", [f"v{k}" for k in range(200)])
    items.to_csv(folder / "items.csv", index=False)
    y = (patients[:, 0] > 0).repeat(4).astype(int)
    pairs = sample_pairs(y, 1500, PairingNoise(0.1, 0.1), random_state=0)
    answers = {"left": items["id"][pairs.left].to_numpy(), "right": items["id"][pairs.right]}
    pd.DataFrame({**answers, "same": pairs.same}).to_csv(folder / "pairs.csv", index=False)
    return folder / "items.csv", folder / "pairs.csv"


def test_check_and_fit_doubt_rows_that_are_nearly_identical(visits, tmp_path):
    said = "some rows are nearly identical (about "
    checked = json.loads(run("check", *visits, "--no-fit", "--json", "--quiet").stdout)
    (problem,) = [one for one in checked["problems"] if said in one]
    assert "of 200, such as 'v" in problem
    assert checked["near_identical_rows"] > 150
    fitted = run("fit", *visits, "-o", tmp_path / "m.skops", *FIT, "--json", "--quiet")
    found = json.loads(fitted.stdout)
    assert found["verdict"]["kind"] == "caution"
    assert "Some rows are nearly identical" in found["verdict"]["reason"]


def test_groups_answer_the_doubt(visits, tmp_path):
    words = ["fit", *visits, "-o", tmp_path / "m.skops", *FIT, "--json", "--quiet"]
    found = json.loads(run(*words, "--group", "patient").stdout)
    assert "nearly identical" not in json.dumps(found)
    checked = run("check", *visits, "--no-fit", "--quiet", "--group", "patient").stdout
    assert "nearly identical" not in checked
    assert "groups: 200 items in 50 groups" in checked


def test_identical_rows_are_counted_and_no_problem(visits, tmp_path):
    items = pd.read_csv(visits[0])
    items.loc[1::2, items.columns[1:]] = items.loc[::2, items.columns[1:]].to_numpy()
    copies = items[items.index % 4 < 2]  # two equal rows of each patient
    copies.to_csv(tmp_path / "items.csv", index=False)
    result = run("check", tmp_path / "items.csv", visits[1], "--no-fit", "--quiet")
    assert result.exit_code == 0, result.output
    assert "100 of 100 items have the same features as another" in result.stdout
    assert "nearly identical" not in result.stdout
