"""``fit`` and ``predict`` with --engine: tables stay where they are."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("typer", reason="commands need the app extra")
pa = pytest.importorskip("pyarrow", reason="tables need the app extra")
pytest.importorskip("duckdb", reason="tables need the app extra")
import pyarrow.parquet as pq  # noqa: E402

from tests.cli.commands import run  # noqa: E402


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Cups of two sizes and colours that sellers wrote, judged by two people, as Parquet."""
    folder, rng = tmp_path_factory.mktemp("shop"), np.random.default_rng(0)
    y = rng.random(240) < 0.4
    ids = np.array([f"cup{k:03}" for k in range(240)])
    colour = np.where(rng.random(240) < 0.8, np.where(y, "red", "blue"), "white")
    size = rng.normal(size=240) + 2 * y
    pq.write_table(pa.table({"id": ids, "size": size, "colour": colour}), folder / "cups.parquet")
    left, right = rng.integers(240, size=(2, 2400))
    same = (y[left] == y[right]) ^ (rng.random(2400) < 0.2)
    said, who = np.where(same, "yes", "no"), np.where(left % 2, "ann", "bob")
    ends = {"left": ids[left], "right": ids[right]}
    pq.write_table(pa.table({**ends, "answer": said, "who": who}), folder / "answers.parquet")
    return folder, y


def test_tables_are_fitted_and_classified_where_they_are(shop):
    folder, y = shop
    files = [folder / "cups.parquet", folder / "answers.parquet"]
    options = ["--engine", "duckdb", "--tables-out", folder / "out", "--sample", "200"]
    more = ["--classes", "2", "--estimator", "logistic", "--same", "answer", "--annotator", "who"]
    found = run("fit", *files, *options, *more, "-o", folder / "cups.skops", "--json")
    assert found.exit_code == 0, found.output
    notes = json.loads(found.stdout)["notes"]
    assert any("of 240 items and 2,400 pairs" in note for note in notes)
    items = pq.read_table(folder / "out" / "items.parquet").sort_by("id")
    assert ((np.array(items["class"]) == "group 1") == y).mean() > 0.95
    people = pq.read_table(folder / "out" / "annotators.parquet")
    assert people["annotator"].to_pylist() == ["ann", "bob"]
    assert pq.read_table(folder / "out" / "suspects.parquet")["reason"][0].as_py()

    new = folder / "new.parquet"
    there = run(
        "predict", folder / "cups.skops", files[0], "--engine", "duckdb", "-o", new, "--json"
    )
    assert json.loads(there.stdout)["n_items"] == 240, there.output
    here = run("predict", folder / "cups.skops", files[0], "-o", folder / "here.parquet")
    assert here.exit_code == 0, here.output
    one, two = (pq.read_table(path).sort_by("id") for path in (new, folder / "here.parquet"))
    assert one["id"].to_pylist() == two["id"].to_pylist()
    np.testing.assert_allclose(one["P(group 1)"], two["P(group 1)"], atol=2e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "dukdb", "--tables-out", "t"], "did you mean 'duckdb'"),
        (["--engine", "duckdb"], "folder of --tables-out: give both"),
        (["--master", "local[2]"], "belongs to --engine spark"),
        (["--engine", "duckdb", "--master", "yarn", "--tables-out", "t"], "give --engine spark"),
        (["--engine", "duckdb", "--tables-out", "t", "--labels", "l.csv"], "no --labels"),
        (["--engine", "duckdb", "--tables-out", "t", "--method", "weighted"], "only the joint"),
        (["--engine", "duckdb", "--tables-out", "t", "--id", "cup"], "no column 'cup'"),
    ],
)
def test_what_makes_no_sense_with_an_engine_is_refused(
    shop, tmp_path, monkeypatch, options, message
):
    folder, _ = shop
    monkeypatch.chdir(tmp_path)
    found = run(
        "fit", folder / "cups.parquet", folder / "answers.parquet", *options, "-o", "m.skops"
    )
    assert found.exit_code in (1, 2)
    assert message in " ".join(found.output.split())


def test_predictions_of_an_engine_are_parquet(shop, tmp_path):
    folder, _ = shop
    options = ["--engine", "duckdb", "-o", tmp_path / "new.csv"]
    found = run("predict", folder / "any.skops", folder / "cups.parquet", *options)
    assert found.exit_code == 2
    assert "--engine writes Parquet" in " ".join(found.output.split())
