"""``noisypairs judge``: what it prints, writes and refuses."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from tests.app.judge.judge_problems import candidates, items, replaying, rows
from tests.cli.commands import fails, run


@pytest.fixture
def files(tmp_path):
    items().rename_axis("id").to_csv(tmp_path / "items.csv")
    pd.DataFrame(candidates(), columns=["left", "right"]).to_csv(
        tmp_path / "pairs.csv", index=False
    )
    return tmp_path


def test_two_models_answer_and_people_get_a_file(files):
    store, people = files / "a.db", files / "people.csv"
    (files / "short.txt").write_text("{question} {left} {right}")
    with replaying() as server:
        words = ["judge", files / "items.csv", "--store", store, "--endpoint", server.url]
        words += ["--model", "org/one", "--model", "two", "--pairs", files / "pairs.csv"]
        words += ["--template", files / "short.txt", "--quiet", "--people", people]
        told = run(*words, "--json")
        assert told.exit_code == 0, told.stderr
        found = json.loads(told.stdout)
        again = run(*words, "--force")
    assert {row[3].removesuffix(" again") for row in rows(store)} == {"org-one/short", "two/short"}
    assert found["accuracy"] is None
    assert found["enough"] is False
    assert found["store"] == str(store)
    table = pd.read_csv(people)
    assert table[["left", "right"]].to_numpy().tolist() == found["people"]
    assert "left title" in table
    assert "Judges alone cannot show the accuracy" in again.stdout
    assert f"noisypairs ask {files / 'items.csv'} --store {store}" in again.stdout
    assert len(server.requests) == found["replies"]  # the second run asked nothing


def test_a_dry_run_shows_prompts_and_costs_and_asks_nothing(files):
    before = set(files.iterdir())
    with replaying() as server:
        words = ["judge", files / "items.csv", "--endpoint", server.url, "--model", "m"]
        told = run(*words, "--dry-run", "--prices", "1,2", "--budget", "1000")
        plain = run(*words, "--dry-run", "--json")
    assert server.requests == []
    assert told.exit_code == 0, told.stderr
    assert "<item>" in told.stdout
    assert "Expected cost: about" in told.stdout
    assert "Nothing was asked." in told.stdout
    assert json.loads(plain.stdout)["tokens"] > 1000
    assert set(files.iterdir()) == before


def test_a_program_answers(files):
    script = files / "judge.sh"
    script.write_text("#!/bin/sh\nread line\necho no\n")
    script.chmod(0o755)
    store = files / "a.db"
    words = ["judge", files / "items.csv", "--store", store, "--command", script, "--budget", "5"]
    told = run(*words, "--pairs", files / "pairs.csv", "--quiet")
    assert told.exit_code == 0, told.stderr
    assert [row[2] for row in rows(store)] == ["different"] * 5


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "name who answers"),
        (["--endpoint", "http://localhost/v1"], "belong together"),
        (["--model", "m"], "belong together"),
        (["--command", "x", "--question", " "], "expected some words"),
        (["--command", "x", "--body", "["], "expected a JSON object"),
        (["--command", "x", "--prices", "1"], "expected two numbers"),
        (["--command", "x", "--max-cost", "1"], "needs prices"),
        (["--command", "x", "--target", "2"], "--target 2"),
        (["--endpoint", "ftp://h", "--model", "m"], "expected an address"),
        (["--endpoint", "https://h", "--model", "m", "--key-env", "NO_SUCH_KEY"], "--key-env"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(files, words, says):
    fails(2, says, files, "judge", files / "items.csv", "--store", files / "a.db", *words)


@pytest.mark.parametrize("damaged", ["items.csv", "pairs.csv", "gold.csv"])
def test_a_file_that_is_refused_leaves_no_store(files, damaged):
    (files / "gold.csv").write_text("left,right,same\ni00,i01,1\n")
    (files / damaged).write_bytes(b"\xff\xfea")
    words = ["judge", files / "items.csv", "--store", files / "a.db", "--command", "true"]
    words += ["--pairs", files / "pairs.csv", "--gold", files / "gold.csv"]
    fails(1, f"{damaged}", files, *words)
    assert not (files / "a.db").exists()


def test_a_store_must_be_named_and_an_endpoint_that_refuses_ends_it(files):
    fails(2, "--store answers.db", files, "judge", files / "items.csv", "--command", "x")
    with replaying(lambda *_: 401) as server:
        words = ["judge", files / "items.csv", "--store", files / "a.db", "--endpoint", server.url]
        told = run(*words, "--model", "m", "--pairs", files / "pairs.csv", "--quiet")
    assert told.exit_code == 1
    assert told.stderr.startswith("Error: the endpoint refuses with status 401")
