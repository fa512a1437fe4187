"""``noisypairs annotators`` from files to table, page and exit code."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from noisypairs import datasets
from tests.cli import commands
from tests.cli.commands import fails


def run(*words: object):
    return commands.run("annotators", *words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("crowd")
    found = datasets.simulated_crowd(
        80, 2, 12, 30, 0.25, similar_flip=0.1, dissimilar_flip=0.1, random_state=0
    )
    ids = np.array([f"item{k}" for k in range(80)])
    pairs = found.pairs
    table = pd.DataFrame(
        {"left": ids[pairs.left], "right": ids[pairs.right], "same": pairs.same.astype(int)}
    )
    table["worker"] = [f"Jo{k}" for k in pairs.annotator]
    table.to_csv(path / "pairs.csv", index=False)
    table.drop(columns="worker").to_csv(path / "nobody.csv", index=False)
    table.assign(worker="Jo").to_csv(path / "one.csv", index=False)
    table.head(0).to_csv(path / "empty.csv", index=False)
    coins = np.random.default_rng(0).integers(2, size=len(table))
    table.assign(same=coins).head(400).to_csv(path / "coins.csv", index=False)
    items = pd.DataFrame({"id": ids, "x": found.data[:, 0], "z": found.data[:, 1]})
    items.to_csv(path / "items.csv", index=False)
    pd.DataFrame({"id": ids, "class": found.target}).head(40).to_csv(path / "gold.csv", index=False)
    truth = found.target[pairs.left] == found.target[pairs.right]
    known = table.assign(same=truth.astype(int)).drop(columns="worker").head(200)
    known.drop_duplicates(["left", "right"]).to_csv(path / "answers.csv", index=False)
    bad = np.flatnonzero(found.annotator_kind != "honest")
    (path / "bad.txt").write_text(" ".join(f"Jo{k}" for k in bad))
    return path


def test_json_names_the_bad_ones_with_intervals(folder: Path) -> None:
    result = run(folder / "pairs.csv", "--json", "--quiet")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    found = json.loads(result.stdout)
    assert set(found["suspects"]) == set((folder / "bad.txt").read_text().split())
    for row in found["annotators"]:
        assert row["similar_flip_low"] <= row["similar_flip"] <= row["similar_flip_high"]
        assert row["shared_answers"] > 0
        assert row["kappa_low"] <= row["kappa"] <= row["kappa_high"]
        assert isinstance(row["drop_effect"], int)
        assert 0 < row["right_without"] < 1
    after = found["crowd_without_suspects"]
    assert after["informativeness"] > found["crowd"]["informativeness"]


def test_text_shows_the_answer_first(folder: Path) -> None:
    result = run(folder / "pairs.csv", folder / "items.csv")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("12 annotators gave ")
    assert "verdict" in result.stdout
    assert "reading the files" in result.stderr


def test_page_is_whole_and_holds_every_section(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "annotators.html"
    gold = ("--gold", folder / "gold.csv")
    result = run(folder / "pairs.csv", folder / "items.csv", *gold, "-o", page, "--quiet")
    assert result.exit_code == 0, result.stderr
    text = page.read_text(encoding="utf-8")
    for heading in ("Annotators", "Agreement", "left out", "known truth", "go wrong", "How to"):
        assert heading in text
    assert text.rstrip().endswith("</html>")
    assert [file.name for file in tmp_path.iterdir()] == ["annotators.html"]


@pytest.mark.parametrize(("raw", "written"), [([], "'=1+1"), (["--raw"], "=1+1")])
def test_a_name_is_never_a_formula_unless_asked_for(folder, tmp_path, raw, written):
    pairs, out = tmp_path / "pairs.csv", tmp_path / "who.csv"
    pd.read_csv(folder / "pairs.csv").head(300).assign(worker="=1+1").to_csv(pairs, index=False)
    result = run(pairs, "-o", out, "--classes", "2", "--quiet", *raw)
    assert result.exit_code == 0, result.stderr
    assert out.read_text().splitlines()[1].partition(",")[0] == written


@pytest.mark.parametrize("gold", ["gold.csv", "answers.csv"])
def test_gold_classes_or_answers_give_rates_by_counting(
    folder: Path, tmp_path: Path, gold: str
) -> None:
    out = tmp_path / "who.csv"
    result = run(folder / "pairs.csv", "--gold", folder / gold, "-o", out, "--quiet")
    assert result.exit_code == 0, result.stderr
    table = pd.read_csv(out).set_index("name")
    assert len(table) == 12
    assert (table["gold_same"] + table["gold_different"]).sum() > 150
    rates = table["gold_similar_flip"].dropna()
    assert rates.between(0, 1).all()
    counted = table.loc[rates.index]
    close = (counted["similar_flip"] - rates).abs()
    assert np.average(close, weights=counted["gold_same"]) < 0.15


def test_hashed_names_are_keyed_and_hide_the_names(folder: Path, tmp_path: Path) -> None:
    names = {}
    for run_name, salt in (("a", "s1"), ("b", "s1"), ("c", "s2"), ("d", None), ("e", None)):
        page = tmp_path / f"{run_name}.html"
        more = [] if salt is None else ["--salt", salt]
        words = ("--hash-ids", *more, "--json", "--quiet", "-o", page)
        result = run(folder / "pairs.csv", *words)
        assert result.exit_code == 0, result.stderr
        assert "Jo1" not in result.stdout + page.read_text(encoding="utf-8")
        assert "reveal every label on a connected graph" in result.stdout
        names[run_name] = {row["name"] for row in json.loads(result.stdout)["annotators"]}
    assert names["a"] == names["b"]
    assert len(set.union(*(names[key] for key in "acde"))) == 4 * 12


def test_one_annotator_is_judged_without_agreement(folder: Path) -> None:
    result = run(folder / "one.csv", "--json", "--quiet")
    assert result.exit_code == 0, result.stderr
    (row,) = json.loads(result.stdout)["annotators"]
    assert row["shared_answers"] == 0
    assert row["agreement"] is None
    assert row["right_without"] is None


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["missing.csv"], 1, "missing.csv"),
        (["pairs.csv", "--same", "smae"], 1, "did you mean 'same'"),
        (["nobody.csv"], 1, "do not say who answered"),
        (["coins.csv"], 1, "all annotators answered without looking"),
        (["empty.csv"], 1, "empty.csv"),
        (["pairs.csv", "--gold", "nothing.csv"], 1, "nothing.csv"),
        (["pairs.csv", "-o", "out.docx"], 2, ".html"),
        (["pairs.csv", "-o", "items.csv"], 2, "exists already"),
        (["pairs.csv", "-o", "nowhere/out.csv"], 2, "does not exist"),
        (["pairs.csv", "--salt", "x"], 2, "--hash-ids"),
        (["pairs.csv", "--hash-ids", "--salt", ""], 2, "--salt is empty"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, message: str
) -> None:
    monkeypatch.chdir(folder)
    fails(code, message, folder, "annotators", *words, "--quiet")


def test_unknown_options_are_reported_by_the_parser(folder: Path) -> None:
    result = run(folder / "pairs.csv", "--level", "x")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--level" in result.stderr
