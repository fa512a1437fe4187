"""Every command on answers alone: no file of the items, or one that says nothing about them."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from tests.app.fit.fit_problems import Files, write_files
from tests.app.page_reader import check_page
from tests.cli.commands import fails, run


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return write_files(tmp_path_factory.mktemp("files"), n_items=60, n_pairs=900)


def test_a_fit_finds_classes_people_and_suspects_and_writes_no_model(
    files: Files, tmp_path: Path
) -> None:
    out, page, suspects = (tmp_path / name for name in ("c.csv", "r.html", "s.csv"))
    words = ["-o", tmp_path / "m.skops", "--report", page, "--items-out", out]
    words += ["--suspects", suspects, "--quiet"]
    result = run("fit", files.pairs, *words)
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    assert "there are no features to learn from, so new items cannot be classified" in said
    assert f"Written: report {page}, suspects {suspects}, items {out}" in said
    assert not (tmp_path / "m.skops").exists()
    check_page(page.read_text(encoding="utf-8"))
    found, items = pd.read_csv(out), pd.read_csv(files.items)
    y = dict(zip(items[items.columns[0]].astype(str), files.y, strict=True))
    truth = found["id"].astype(str).map(y)
    assert found["class"].nunique() == 2
    right = ((found["class"] == "group 2") == (truth == 1)).mean()
    assert max(right, 1 - right) > 0.9
    assert {"left", "right", "line"} <= set(pd.read_csv(suspects).columns)


def test_items_of_which_only_pictures_are_known_are_fitted_so_too(
    files: Files, tmp_path: Path
) -> None:
    items = pd.read_csv(files.items)
    name = items.columns[0]
    only = pd.DataFrame({name: items[name], "file": items[name].astype(str) + ".jpg"})
    only.to_csv(tmp_path / "items.csv", index=False)
    words = ["-o", tmp_path / "m.skops", "--classes", "2", "--quiet", "--json"]
    result = run("fit", tmp_path / "items.csv", files.pairs, *words)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["accuracy"] is None
    assert "file (address" in told["accuracy_how"]
    assert told["written"]["model"] is None
    assert [one["name"] for one in told["classes"]] == ["group 1", "group 2"]
    assert told["annotators"] is not None
    weighted = ["fit", files.pairs, "-o", tmp_path / "m.skops", "--method", "weighted", "--quiet"]
    fails(1, "only the joint method learns from answers alone", tmp_path, *weighted)


def test_check_and_plan_say_what_answers_alone_can(files: Files, tmp_path: Path) -> None:
    told = json.loads(run("check", files.pairs, "--quiet", "--json").stdout)
    joint = next(one for one in told["methods"] if one["method"] == "joint")
    assert joint["outlook"] != "fails"
    assert any("new items cannot be classified" in one for one in told["problems"])
    out = tmp_path / "next.csv"
    page = tmp_path / "plan.html"
    words = ["--target", "0.9", "--next", "10", "-o", out, "--quiet", "--classes", "2"]
    result = run("plan", files.pairs, *words, "--report", page)
    assert result.exit_code == 0, result.output
    assert "right on these items" in result.stdout
    assert "new items: now" not in result.stdout
    assert len(pd.read_csv(out)) == 10
    check_page(page.read_text(encoding="utf-8"))


def test_plan_needs_no_classes_in_a_quarter_of_the_answers(tmp_path: Path) -> None:
    """Three classes, ten answers for each item: half of them show nothing yet."""
    run("sample", tmp_path / "pottery")
    result = run("plan", tmp_path / "pottery/pairs.csv", "--target", "0.99", "--quiet", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["new_items"] is None
    assert told["these_items"]["now"]["estimate"] > 0.9
    assert min(told["curves"]["these_items"]["answers"]) > told["answers"] / 2
