"""``noisypairs plan`` from files to numbers, next pairs and exit code."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from noisypairs import PairingNoise, sample_pairs
from noisypairs.app import plan
from noisypairs.assess.next_pairs import FAIR_SHARES
from tests.cli import commands
from tests.cli.commands import fails


def run(*words: object):
    return commands.run("plan", *words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plan")
    rng = np.random.default_rng(0)
    y = (rng.random(80) < 0.4).astype(int)
    ids = np.array([f"p{k}" for k in range(80)])
    x = 1.0 * (2 * y - 1) + rng.standard_normal(80)
    items = pd.DataFrame({"id": ids, "x": x, "noise": rng.standard_normal(80)})
    items.to_csv(path / "items.csv", index=False)
    pairs = sample_pairs(y, 300, PairingNoise(0.1, 0.1), random_state=0)
    table = pd.DataFrame({"left": ids[pairs.left], "right": ids[pairs.right]})
    table["same"] = np.where(pairs.same, "yes", "no")
    table.to_csv(path / "pairs.csv", index=False)
    table.head(0).to_csv(path / "empty.csv", index=False)
    table.head(30).to_csv(path / "few.csv", index=False)
    (path / "taken.csv").write_text("mine\n")
    return path


@pytest.fixture(scope="module")
def run_once(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[dict, pd.DataFrame, plan.Plan]:
    """One whole run; the plan behind it is kept, for another look at it as text."""
    kept: list[plan.Plan] = []
    whole = plan.plan_dataset

    def keep(*args: object, **settings: object) -> plan.Plan:
        kept.append(whole(*args, **settings))
        return kept[-1]

    out = tmp_path_factory.mktemp("next") / "next.csv"
    words = ("--target", "0.99", "--cost", "0.04", "--next", "25", "-o", out, "--json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "plan_dataset", keep)
        result = run(folder / "items.csv", folder / "pairs.csv", *words)
    assert result.exit_code == 0, result.stderr
    assert "learning from all 300 answers" in result.stderr
    assert [file.name for file in out.parent.iterdir()] == ["next.csv"]
    return json.loads(result.stdout), pd.read_csv(out), kept[0]


@pytest.fixture
def planned(
    run_once: tuple[dict, pd.DataFrame, plan.Plan],
) -> tuple[dict, pd.DataFrame]:
    return run_once[:2]


def test_numbers_come_with_intervals_and_cost(planned: tuple[dict, pd.DataFrame]) -> None:
    found, _ = planned
    for key in ("new_items", "these_items"):
        for number in ("now", "ceiling"):
            one = found[key][number]
            assert 0.5 < one["low"] <= one["estimate"] <= one["high"] <= 1
    # One feature at distance 2: nobody can tell more than 84 % of new items.
    new, these = found["new_items"], found["these_items"]
    assert new["state"] in ("unreachable", "open")
    assert new["ceiling"]["low"] < 0.86 < new["ceiling"]["high"] + 0.03
    assert these["now"]["estimate"] > new["now"]["estimate"]
    if these["state"] == "more":
        needed, cost = these["answers_needed"], these["cost"]
        assert cost["estimate"] == pytest.approx(0.04 * needed["estimate"])
    curve = found["curves"]["these_items"]
    assert len(curve["answers"]) == len(curve["standard_error"]) >= 4
    assert min(curve["standard_error"]) > 0


def test_target_above_the_ceiling_is_said_in_words(planned: tuple[dict, pd.DataFrame]) -> None:
    says = planned[0]["new_items"]["says"]
    assert "cannot be reached with these features" in says or "cannot be identified" in says
    assert "ceiling 0." in says


def test_next_pairs_are_named_spread_and_ranked(planned: tuple[dict, pd.DataFrame]) -> None:
    found, table = planned
    assert list(table.columns) == ["left", "right", "chosen", "expected_bits"]
    assert len(table) == 25
    assert table["left"].str.fullmatch(r"p\d+").all()
    assert table["chosen"].tolist() == (["yes"] * 2 + ["no"] + ["yes"] * 2) * 5
    used = pd.concat([table["left"], table["right"]]).value_counts()
    assert used.max() <= np.ceil(FAIR_SHARES * 2 * 25 / 80) + 1  # one more by the random ones
    chosen = table[table["chosen"] == "yes"]
    assert chosen["expected_bits"].mean() > found["bits_per_fresh_answer"]["estimate"]
    assert len(found["ask_again"]) == 5
    assert found["next"] == table.to_dict("records")


def test_text_says_the_same_and_quiet_is_quiet(
    folder: Path,
    run_once: tuple[dict, pd.DataFrame, plan.Plan],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plan, "plan_dataset", lambda *_, **__: run_once[2])
    words = (folder / "items.csv", folder / "pairs.csv", "--target", "0.99", "--cost", "0.04")
    result = run(*words, "--quiet")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    for goal in ("new_items", "these_items"):
        assert run_once[0][goal]["says"] in result.stdout
    assert "right on new items" in result.stdout
    assert "Old pairs most worth asking again" in result.stdout


@pytest.mark.parametrize("option", ["--report", "-o"])
def test_the_page_draws_the_curves(
    option: str,
    folder: Path,
    tmp_path: Path,
    run_once: tuple[dict, pd.DataFrame, plan.Plan],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plan, "plan_dataset", lambda *_, **__: run_once[2])
    page = tmp_path / "plan.html"
    words = (folder / "items.csv", folder / "pairs.csv", "--target", "0.99", option, page)
    result = run(*words, "--quiet")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.endswith(f"Written: {page}\n")
    text = page.read_text(encoding="utf-8")
    assert text.rstrip().endswith("</html>")
    assert text.count("<svg") == 2
    assert "target 99.0%" in text
    assert [file.name for file in tmp_path.iterdir()] == ["plan.html"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["items.csv", "missing.csv", "--target", "0.9"], 1, "missing.csv"),
        (["itms.csv", "pairs.csv", "--target", "0.9"], 1, "itms.csv"),
        (["items.csv", "pairs.csv", "--target", "0.9", "--left", "lfet"], 1, "did you mean 'left'"),
        (["items.csv", "empty.csv", "--target", "0.9"], 1, "empty.csv"),
        (["items.csv", "few.csv", "--target", "0.9"], 1, "30 answers are too few"),
        (
            ["items.csv", "pairs.csv", "--target", "0.5", "--classes", "2"],
            2,
            "above 0.5, which guessing",
        ),
        (["items.csv", "pairs.csv", "--target", "1"], 2, "below 1"),
        (["items.csv", "pairs.csv", "--target", "0.9", "--next", "5"], 2, "belong together"),
        (["items.csv", "pairs.csv", "--target", "0.9", "-o", "a.csv"], 2, "belong together"),
        (
            ["items.csv", "pairs.csv", "--target", "0.9", "--next", "5", "-o", "taken.csv"],
            2,
            "exists already",
        ),
        (
            ["items.csv", "pairs.csv", "--target", "0.9", "--next", "5", "-o", "no/a.csv"],
            2,
            "does not exist",
        ),
        (["items.csv", "pairs.csv", "--target", "0.9", "--next", "5", "-o", "a.txt"], 2, ".csv"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, message: str
) -> None:
    monkeypatch.chdir(folder)
    fails(code, message, folder, "plan", *words, "--quiet")


def test_without_a_target_the_option_is_named(folder: Path) -> None:
    result = run(folder / "items.csv", folder / "pairs.csv")
    assert result.exit_code == 2
    assert "--target" in result.stderr
