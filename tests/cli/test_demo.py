"""`noisypairs demo`: what it prints and writes, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from noisypairs import cli, datasets
from noisypairs.app import demo
from noisypairs.app.demo import CROWD
from noisypairs.app.report.page import is_generated, render
from tests.app.page_reader import words_of

SMALL = {"n_items": 100, "n_annotators": 10}


@cache
def quick_demo() -> demo.Demo:
    """Run it once per process."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SMALL.items():
            patch.setitem(CROWD, name, value)
        return demo.run(0)


#: Drawing takes half a second, and the same result is shown by many tests.
drawn_once = cache(demo.demo_report)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test in a folder of its own: the command writes where it is."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def result() -> demo.Demo:
    return quick_demo()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, result: demo.Demo):
    """Invoke the command with the work already done, and say with which seed it was asked for."""

    def invoke(*words: str):
        def done(seed: int, progress):
            progress("the only step")
            return replace(result, seed=seed)

        monkeypatch.setattr(demo, "run", done)
        monkeypatch.setattr(demo, "demo_report", drawn_once)
        return CliRunner().invoke(cli.application(), ["demo", *words])

    return invoke


def without_seconds(facts):
    """Return nested JSON without its only entries that differ between runs."""
    if isinstance(facts, dict):
        return {key: without_seconds(one) for key, one in facts.items() if key != "seconds"}
    return [*map(without_seconds, facts)] if isinstance(facts, list | tuple) else facts


def test_the_command_prints_the_tables_and_what_was_learnt(run, result):
    printed = run()
    assert printed.exit_code == 0
    for row in (*result.cancer.rows, *result.crowd.rows):
        accuracy = row.test_accuracy
        cell = "refuses: no signal" if accuracy is None else f"{accuracy:.1%}"
        line = [row.method, cell + " *" * bool(row.warnings and accuracy)]
        assert any(all(word in text for word in line) for text in printed.stdout.splitlines())
    text = " ".join(printed.stdout.split())
    found, part = result.cancer.learnt, result.cancer
    assert f"{part.n_pairs:,} answers" in text
    assert f"{part.n_wrong / part.n_pairs:.0%} of the answers are wrong" in text
    assert f"{found.similar_flip:.0%} of the same pairs are called different (truly 30%)" in text
    assert f"It suspects {found.n_suspect:,} answers; {found.n_suspect_wrong:,} of these" in text
    assert "SD-Loss (no noise): 46.8% of the answers are 'same'" in text
    last = printed.stdout.splitlines()[-1]
    assert last.endswith("with seed 0. The same with pictures: report.html")
    assert "\x1b" not in printed.stdout  # no colours where there is no terminal
    assert max(map(len, printed.stdout.splitlines())) <= 100


def test_progress_goes_to_stderr_unless_quiet(run):
    assert run().stderr == "the only step …\n"
    quiet = run("--quiet")
    assert (quiet.exit_code, quiet.stderr) == (0, "")
    assert quiet.stdout == run().stdout


def test_the_seed_is_passed_on(run):
    assert json.loads(run("--json", "--seed", "7").stdout)["seed"] == 7


def test_json_of_a_run_of_its_own_equals_the_result(result, monkeypatch):
    """The whole way, with a small crowd: one seed gives one result."""
    for name, value in SMALL.items():
        monkeypatch.setitem(CROWD, name, value)
    printed = CliRunner().invoke(cli.application(), ["demo", "--json", "--quiet"])
    assert (printed.exit_code, printed.stderr) == (0, "")
    expected = json.loads(json.dumps(asdict(result))) | {"report": "report.html"}
    assert without_seconds(json.loads(printed.stdout)) == without_seconds(expected)


@pytest.mark.parametrize(
    "words", [["--sede", "1"], ["--seed", "x"], ["--seed", "-1"], ["--seed", str(2**32)], ["more"]]
)
def test_wrong_use_exits_with_2(run, words):
    printed = run(*words)
    assert (printed.exit_code, printed.stdout) == (2, "")
    assert words[0] in printed.stderr


def test_missing_or_damaged_data_exits_with_1_in_one_line(monkeypatch):
    def fails(seed, progress):
        raise datasets.TableMismatch("cancer: wrong\nshape")

    monkeypatch.setattr(demo, "run", fails)
    printed = CliRunner().invoke(cli.application(), ["demo"])
    assert (printed.exit_code, printed.stdout) == (1, "")
    assert printed.stderr == "Error: cancer: wrong shape\n"


def test_the_page_says_what_the_command_prints(run, result):
    assert run().exit_code == 0
    html = Path("report.html").read_text(encoding="utf-8")
    assert is_generated(html, demo.GENERATOR)
    text = words_of(html)
    for one in demo.stories(result):
        for part in (one.title, one.before, one.after, *one.footnotes):
            assert " ".join(part.split()) in text
        for row in one.rows:
            assert " ".join(filter(None, row)) in text
    joint, clean = result.cancer.rows[0].test_accuracy, result.cancer.rows[-1].test_accuracy
    assert f"the joint learner puts {joint:.1%} of new tumours in the right class" in text
    assert f"trained on every true class gets {clean:.1%}" in text
    assert text.index(f"{joint:.1%}") < text.index("1. Tumours")
    assert html.count("<svg") == 3


def test_the_page_of_an_earlier_demo_is_replaced(run):
    assert run("--report", "page.html").exit_code == 0
    first = Path("page.html").read_text(encoding="utf-8")
    assert run("--report", "page.html", "--seed", "5").exit_code == 0
    second = Path("page.html").read_text(encoding="utf-8")
    assert first.replace("Seed 0", "Seed 5") == second
    assert [one.name for one in Path().iterdir()] == ["page.html"]


OTHER_PAGE = render("sections.html", "noisypairs fit", title="t", lead="", sections=[])


@pytest.mark.parametrize("content", ["my notes", OTHER_PAGE])
def test_a_file_of_somebody_else_is_kept_unless_forced(run, content):
    target = Path("report.html")
    target.write_text(content, encoding="utf-8")
    refused = run()
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == (
        "Error: report.html exists already: choose another name, or overwrite with --force\n"
    )
    assert target.read_text(encoding="utf-8") == content
    assert run("--no-report").exit_code == 0
    assert target.read_text(encoding="utf-8") == content
    assert run("--force").exit_code == 0
    assert is_generated(target.read_text(encoding="utf-8"), demo.GENERATOR)


@pytest.mark.parametrize("target", ["nowhere/report.html", "."])
def test_where_nothing_can_be_written_nothing_is_computed(run, target):
    refused = run("--report", target)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert len(refused.stderr.splitlines()) == 1
    assert "the only step" not in refused.stderr
    assert [*Path().iterdir()] == []


def test_without_a_report_no_file_is_written(run):
    printed = run("--no-report", "--json")
    assert json.loads(printed.stdout)["report"] is None
    assert [*Path().iterdir()] == []
