"""suspects: all answers that a model doubts, as a table, a page, JSON and on the screen."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from noisypairs.app.prediction import predict_file
from tests.app.fit.fit_problems import small_model
from tests.app.page_reader import check_page
from tests.cli.commands import fails, run


@pytest.fixture(scope="module")
def pairs(tmp_path_factory) -> Path:
    """Answers that agree with the classes of a model, but for every tenth."""
    named = predict_file(*small_model()).table
    rng = np.random.default_rng(0)
    left, right = rng.permuted(np.tile(np.arange(len(named)), (300, 1)), axis=1)[:, :2].T
    same = named["class"].to_numpy()[left] == named["class"].to_numpy()[right]
    said = np.where(same ^ (np.arange(300) % 10 == 0), "yes", "no")
    ids = named["id"].to_numpy()
    table = pd.DataFrame({"left": ids[left], "right": ids[right], "same": said})
    path = tmp_path_factory.mktemp("suspects") / "pairs.csv"
    table.assign(worker=rng.choice(["ann", "bob"], 300)).to_csv(path, index=False)
    return path


def call(pairs: Path) -> list[object]:
    model, items = small_model()
    return ["suspects", model, pairs, items, "--keep-copies"]


def told_of(left, right, same) -> set[tuple[frozenset[str], bool]]:
    return {(frozenset((a, b)), bool(s)) for a, b, s in zip(left, right, same, strict=True)}


def test_all_suspects_are_written_with_items_and_reasons(pairs, tmp_path):
    out, page = tmp_path / "s.csv", tmp_path / "s.html"
    result = run(*call(pairs), "-o", out, "--report", page, "--quiet")
    assert result.exit_code == 0, result.stderr
    found, answers = pd.read_csv(out), pd.read_csv(pairs)
    wrong = answers[::10]
    assert len(found) == 30
    assert told_of(wrong["left"], wrong["right"], wrong["same"] == "yes") == told_of(
        found["left"], found["right"], found["answer"] == "same"
    )
    assert result.stdout.startswith(f"{len(found)} answers of 300 are probably wrong.")
    assert f"… and {len(found) - 10} more" in result.stdout
    assert found["probability_wrong"].is_monotonic_decreasing
    assert found["why"].str.contains("features").all()
    given = answers.loc[found["line"] - 2]  # as people join them: line 1 is the header
    assert found["left"].tolist() == given["left"].tolist()
    assert found["right"].tolist() == given["right"].tolist()
    assert (found["answer"] == "same").tolist() == (given["same"] == "yes").tolist()
    column = pd.read_csv(small_model().items).columns[-1]
    assert {f"left.{column}", f"right.{column}"} <= set(found)
    check_page(page.read_text(encoding="utf-8"))
    assert page.read_text(encoding="utf-8").count("<article") == len(found)


def test_pictures_of_a_folder_are_in_the_page(pairs, tmp_path):
    (tmp_path / "pictures").mkdir()
    for name in pd.read_csv(pairs)["left"].unique():
        Image.new("RGB", (8, 8), "red").save(tmp_path / "pictures" / f"{name}.png")
    words = ["--report", tmp_path / "s.html", "--images", tmp_path / "pictures", "--quiet"]
    assert run(*call(pairs), *words).exit_code == 0
    page = check_page((tmp_path / "s.html").read_text(encoding="utf-8"))
    pictures = [a["href"] for tag, a in page.tags if tag == "image"]
    assert len(pictures) > 5
    assert all(one.startswith("data:image/") for one in pictures)


def test_json_has_everything_and_a_table_may_go_to_standard_output(pairs):
    told = json.loads(run(*call(pairs), "--json").stdout)
    assert told["n_pairs"] == 300
    one = told["suspects"][0]
    assert {"left", "right", "answer", "annotator", "probability", "why", "doubts"} <= set(one)
    table = run(*call(pairs), "-o", "-")
    assert table.stdout.startswith("left,right,answer,annotator,probability_wrong,")
    assert len(table.stdout.splitlines()) == 1 + len(told["suspects"])
    assert "answers of 300 are probably wrong." in table.stderr


@pytest.mark.parametrize(
    ("code", "said", "words"),
    [
        (1, "give their file after the pairs", []),
        (2, "a model has its encoders inside", ["items", "--encode", "words"]),
        (2, "would both write to standard output", ["items", "-o", "-", "--json"]),
        (2, "did you mean '.csv'", ["items", "-o", "out.cvs"]),
        (1, "neither a folder nor a column", ["items", "--report", "page", "--images", "nowhere"]),
    ],
)
def test_wrong_use_is_one_line(pairs, tmp_path, code, said, words):
    places = {"items": small_model().items, "page": tmp_path / "page.html"}
    given = [places.get(word, word) for word in words]
    fails(code, said, tmp_path, "suspects", small_model().model, pairs, *given)


def test_items_without_a_column_of_the_model_are_refused(pairs, tmp_path):
    items = pd.read_csv(small_model().items)
    items.drop(columns=items.columns[-1]).to_csv(tmp_path / "less.csv", index=False)
    said = f"has no column '{items.columns[-1]}', which the model uses"
    fails(1, said, tmp_path, "suspects", small_model().model, pairs, tmp_path / "less.csv")
