"""Records to link, from files: `check`, `fit` and `annotators` say so, and not of classes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from noisypairs import JointPairClassifier, NotIdentifiable, cli, datasets
from noisypairs.annotators.choice import records_to_link
from noisypairs.app import check
from noisypairs.app.files import read_dataset
from noisypairs.app.fit.fitting import fit_dataset
from noisypairs.app.fit.request import Request
from tests.annotators.linkage_problems import records

SAYS = "records to link, not classes to learn"


def run(*words: object):
    return CliRunner().invoke(cli.application(), list(map(str, words)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, drawn = tmp_path_factory.mktemp("records"), records(250, 12)
    pairs, n = drawn.pairs, len(drawn.group)
    ids = np.array([f"r{k}" for k in range(n)])
    columns = {"left": ids[pairs.left], "right": ids[pairs.right], "same": pairs.same.astype(int)}
    pd.DataFrame(columns | {"worker": pairs.annotator}).to_csv(path / "pairs.csv", index=False)
    noise = np.random.default_rng(0).standard_normal((n, 2))
    pd.DataFrame({"id": ids, "x": noise[:, 0], "z": noise[:, 1]}).to_csv(
        path / "items.csv", index=False
    )
    return path


def test_check_says_so_with_evidence_and_tools(folder: Path) -> None:
    for items in (folder / "items.csv", None):
        problems = check.check(read_dataset(items, folder / "pairs.csv")).problems
        assert SAYS in problems[0]
        assert "nats on" in problems[0]
        assert "groups, the largest of" in problems[0]
        assert "splink, dedupe or recordlinkage" in problems[0]


@pytest.mark.parametrize("items", ["items.csv", None])
def test_fit_warns_and_is_never_called_good(folder: Path, items: str | None) -> None:
    dataset = read_dataset(None if items is None else folder / items, folder / "pairs.csv")
    fitted = fit_dataset(dataset, Request(method="joint"))
    assert any(SAYS in text for text in fitted.result.run.warnings)
    assert any(SAYS in one.text for one in fitted.result.verdict.failed)
    assert fitted.result.verdict.kind in ("caution", "problem")


@pytest.mark.parametrize("items", ["items.csv", None])
def test_fit_that_finds_no_classes_says_why(folder: Path, items: str | None, monkeypatch) -> None:
    def find_none(*_: object) -> None:
        raise NotIdentifiable("no classes were found")

    monkeypatch.setattr(JointPairClassifier, "fit", find_none)
    dataset = read_dataset(None if items is None else folder / items, folder / "pairs.csv")
    with pytest.raises(NotIdentifiable, match=f"no classes were found; these look like {SAYS}"):
        fit_dataset(dataset, Request(method="joint", n_classes=2))


def test_annotators_say_what_they_were_judged_by(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "who.html"
    result = run("annotators", folder / "pairs.csv", "-o", page, "--quiet")
    assert result.exit_code == 0, result.stderr
    assert "each pair judged by itself: these look like records to link" in result.stdout
    assert "pairs changed" in result.stdout
    text = page.read_text(encoding="utf-8")
    assert "these look like records to link, not classes to learn" in text
    assert "splink" in text


def test_classes_are_not_taken_for_records() -> None:
    crowd = datasets.simulated_crowd(60, 3, 15, 25, random_state=0)
    assert records_to_link(crowd.pairs) is None
    assert records_to_link(crowd.pairs, lambda: crowd.data) is None


def test_four_classes_are_found_without_being_asked_for(tmp_path: Path) -> None:
    rates = {"similar_flip": 0.1, "dissimilar_flip": 0.1, "spread": 0.2}
    crowd = datasets.simulated_crowd(80, 4, 12, 30, 0.25, random_state=0, **rates)
    pairs = crowd.pairs
    columns = {"left": pairs.left, "right": pairs.right, "same": pairs.same.astype(int)}
    table = pd.DataFrame(columns | {"worker": pairs.annotator})
    table.to_csv(tmp_path / "pairs.csv", index=False)
    result = run("annotators", tmp_path / "pairs.csv", "--json", "--quiet")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["model"], found["n_classes"]) == ("classes", 4)
    honest = {str(r) for r in np.flatnonzero(crowd.annotator_kind == "honest")}
    assert not honest & set(found["suspects"])
    text = run("annotators", tmp_path / "pairs.csv", "--quiet", "--classes", "2-5").stdout
    assert "Model: 4 classes, chosen from 2 to 5" in text


def test_a_range_of_classes_is_checked_at_once(tmp_path: Path) -> None:
    result = run("annotators", tmp_path / "pairs.csv", "--classes", "5-2")
    assert result.exit_code == 2
    assert "smaller number first" in result.stderr
