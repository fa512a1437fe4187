"""fit, predict and inspect end to end: good files, bad ones, and nothing half-written."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io as skops
from sklearn.preprocessing import FunctionTransformer
from typer.testing import CliRunner

from noisypairs import cli
from noisypairs.app import model_file
from tests.app.fit.fit_problems import Files, write_files

QUICK = ["--method", "joint", "--estimator", "logistic", "--no-annotators", "--quiet"]


def run(*words: object) -> Any:
    return CliRunner().invoke(cli.application(), [str(word) for word in words])


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def fails(code: int, said: str, *words: object) -> None:
    """Run what must fail: one line on stderr that says why, and nothing on stdout."""
    result = run(*words)
    assert result.exit_code == code, (result.output, result.exception)
    assert result.stdout == ""
    assert said in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return write_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def model(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m.skops"
    words = ["fit", files.items, files.pairs, "--labels", files.labels, "-o", path, *QUICK]
    result = run(*words, "--suspects", path.parent / "s.csv", "--json")
    assert result.exit_code == 0, result.output
    (path.parent / "told.json").write_text(result.stdout)
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Files:
    """Files that a test may spoil; what it must not leave behind is listed by itself."""
    return write_files(tmp_path, n_items=30, n_pairs=60)


def test_fit_tells_everything_as_json(model: Path) -> None:
    told = json.loads((model.parent / "told.json").read_text())
    assert told["method"] == "joint"
    assert [one["name"] for one in told["classes"]] == ["ash", "yew"]
    suspects = model.parent / "s.csv"
    written = {"model": str(model), "report": None, "suspects": str(suspects), "items": None}
    written["items to name"] = None
    assert told["written"] == written
    assert len(pd.read_csv(suspects)) == told["n_suspects"] == len(told["suspects"])
    assert told["accuracy"]["estimate"] > 0.9
    assert listing(model.parent) == ["m.skops", "s.csv", "told.json"]


def test_inspect_shows_the_card_and_json(model: Path) -> None:
    result = run("inspect", model)
    assert result.exit_code == 0
    assert result.stdout.startswith("# Model of items.csv\n")
    assert "Accuracy on new items" in result.stdout
    facts = json.loads(run("inspect", model, "--json").stdout)
    assert facts["sources"]["pairs"] == "pairs.csv"
    assert facts["versions"]["noisypairs"]


@pytest.mark.parametrize("extension", ["csv", "tsv", "parquet", "jsonl"])
def test_predict_writes_ids_classes_and_probabilities(
    model: Path, files: Files, tmp_path: Path, extension: str
) -> None:
    out = tmp_path / f"out.{extension}"
    result = run("predict", model, files.items, "-o", out)
    assert result.exit_code == 0, result.output
    assert listing(tmp_path) == [out.name]
    read = {
        "csv": pd.read_csv,
        "tsv": lambda path: pd.read_csv(path, sep="\t"),
        "parquet": pd.read_parquet,
        "jsonl": lambda path: pd.read_json(path, lines=True),
    }[extension]
    found = read(out)
    assert list(found.columns) == ["id", "class", "P(ash)", "P(yew)"]
    assert found["id"].tolist() == files.read().ids
    right = found["class"] == np.where(files.y == 1, "yew", "ash")
    assert right.mean() > 0.95
    np.testing.assert_allclose(found["P(ash)"] + found["P(yew)"], 1.0)
    named = np.where(found["P(yew)"] > 0.5, "yew", "ash")
    np.testing.assert_array_equal(found["class"], named)


def test_the_threshold_decides_and_the_summary_counts(
    model: Path, files: Files, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    words = ["predict", model, files.items, "-o", out, "--threshold", "0.01", "--json"]
    told = json.loads(run(*words).stdout)
    found = pd.read_csv(out)
    assert told["classes"] == found["class"].value_counts().to_dict()
    assert ((found["P(yew)"] >= 0.01) == (found["class"] == "yew")).all()
    assert told["n_items"] == 90


def test_extra_columns_are_ignored_with_a_note_and_missing_ones_refused(
    model: Path, files: Files, tmp_path: Path
) -> None:
    items = pd.read_csv(files.items)
    more, fewer, out = tmp_path / "more.csv", tmp_path / "fewer.csv", tmp_path / "out.csv"
    items.assign(price=1, width="wide").to_csv(more, index=False)
    result = run("predict", model, more, "-o", out)
    assert result.exit_code == 0
    assert "Note: column 'price' is not used" in result.stderr
    assert "Note: column 'width': 90 cells are no numbers" in result.stderr
    assert run("predict", model, more, "-o", out, "--force", "--quiet").stderr == ""
    items.rename(columns={"width": "widht"}).to_csv(fewer, index=False)
    said = "has no column 'width', which the model uses: did you mean 'widht'?"
    fails(1, said, "predict", model, fewer, "-o", tmp_path / "new.csv")
    items.drop(columns=["unit"]).to_csv(fewer, index=False)  # a constant one is not missed
    assert run("predict", model, fewer, "-o", tmp_path / "new.csv").exit_code == 0
    assert listing(tmp_path) == ["fewer.csv", "more.csv", "new.csv", "out.csv"]


def test_wrong_use_of_predict(model: Path, files: Files, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    fails(2, "expected a number between 0 and 1", *("predict", model, files.items, "-o", out),
          "--threshold", "1.5")  # fmt: skip
    fails(2, "'.cvs': did you mean '.csv'", "predict", model, files.items, "-o", tmp_path / "o.cvs")
    fails(1, "No such file", "predict", tmp_path / "none.skops", files.items, "-o", out)
    fails(1, "no model file", "predict", files.items, files.items, "-o", out)
    fails(1, "none.csv", "predict", model, tmp_path / "none.csv", "-o", out)
    fails(2, "is an input", "predict", model, files.items, "-o", files.items, "--force")
    out.write_text("precious")
    fails(2, "exists already", "predict", model, files.items, "-o", out)
    assert out.read_text() == "precious"
    assert listing(tmp_path) == ["out.csv"]


def test_a_model_with_a_foreign_type_is_refused(model: Path, files: Files, tmp_path: Path) -> None:
    content = io.BytesIO(skops.dumps(FunctionTransformer(os.getcwd)))
    with zipfile.ZipFile(content, "a") as archive, zipfile.ZipFile(model) as good:
        archive.writestr(model_file.FACTS, good.read(model_file.FACTS))
    foreign = tmp_path / "foreign.skops"
    foreign.write_bytes(content.getvalue())
    fails(1, "getcwd, which no model of noisypairs contains", "predict", foreign, files.items,
          "-o", tmp_path / "out.csv")  # fmt: skip
    assert run("inspect", foreign).exit_code == 0
    assert listing(tmp_path) == ["foreign.skops"]


def test_inspect_refuses_other_files(files: Files, tmp_path: Path) -> None:
    fails(1, "no model file", "inspect", files.items)
    fails(1, "cannot read", "inspect", tmp_path / "none.skops")


def _replace(path: Path, **changes: Any) -> None:
    pd.read_csv(path).assign(**changes).to_csv(path, index=False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--estimator", "forrest"], "estimator 'forrest': did you mean 'forest'?"),
        (["--method", "jiont"], "method 'jiont': did you mean 'joint'?"),
        (["--noise-model", "labelling"], "did you mean 'labeling'?"),
        (["--classes", "many"], "expected a number such as 3"),
        (["--report", "{folder}/out.skops"], "name two files"),
        (["--report", "{folder}/none/r.html"], "does not exist"),
        (["--report", "{folder}/items.csv/r.html"], "is not a folder"),
        (["--report", "{folder}/pairs.csv", "--force"], "pairs.csv is an input"),
    ],
)
def test_wrong_use_of_fit_is_reported_before_any_work(
    bad: Files, words: list[str], said: str
) -> None:
    folder = bad.items.parent
    before = listing(folder)
    words = [word.format(folder=folder) for word in words]
    fails(2, said, "fit", bad.items, bad.pairs, "-o", folder / "out.skops", *words)
    assert listing(folder) == before


def _no_items(bad: Files) -> list[object]:
    bad.items.unlink()
    return []


def _misspelt(bad: Files) -> list[object]:
    return ["--left", "letf"]


def _other_ids(bad: Files) -> list[object]:
    _replace(bad.pairs, left="x17")
    return []


def _no_answers(bad: Files) -> list[object]:
    pd.read_csv(bad.pairs).head(0).to_csv(bad.pairs, index=False)
    return []


def _one_class(bad: Files) -> list[object]:
    _replace(bad.pairs, answer="yes")
    return []


def _more_labels(bad: Files) -> list[object]:
    return ["--labels", bad.labels, "--classes", "3"]


def _few_items(bad: Files) -> list[object]:
    items = pd.read_csv(bad.items).head(6)
    items.to_csv(bad.items, index=False)
    pairs = pd.DataFrame({"left": ["p000", "p001"], "right": ["p002", "p003"], "same": [1, 0]})
    pairs.to_csv(bad.pairs, index=False)
    return []


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_no_items, "items.csv"),
        (_misspelt, "did you mean 'left'"),
        (_other_ids, "holds no usable answer about two items of items.csv"),
        (_no_answers, "pairs.csv"),
        (_one_class, "answers are 'same'; nothing can be learnt"),
        (_more_labels, "name 2 classes, but 3 were requested"),
        (_few_items, "too few to hold some out"),
    ],
)
def test_bad_data_is_reported_and_nothing_written(bad: Files, spoil: Any, said: str) -> None:
    words = spoil(bad)
    folder = bad.items.parent
    before = listing(folder)
    outputs = ["-o", folder / "m.skops", "--report", folder / "r.html", "--quiet"]
    fails(1, said, "fit", bad.items, bad.pairs, *outputs, *words)
    assert listing(folder) == before


def test_an_existing_model_is_kept(bad: Files) -> None:
    path = bad.items.parent / "m.skops"
    path.write_text("precious")
    fails(2, "exists already", "fit", bad.items, bad.pairs, "-o", path)
    assert path.read_text() == "precious"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_permission_to_write(bad: Files) -> None:
    folder = bad.items.parent / "closed"
    folder.mkdir(mode=0o500)
    fails(2, "no permission", "fit", bad.items, bad.pairs, "-o", folder / "m.skops")
    assert listing(folder) == []


def test_the_installed_command_fits_reports_and_overwrites_when_asked(tmp_path: Path) -> None:
    files = write_files(tmp_path, n_items=40, n_pairs=400)
    (tmp_path / "m.skops").write_text("old")
    command = Path(sysconfig.get_path("scripts")) / "noisypairs"
    words = [command, "fit", "items.csv", "pairs.csv", "-o", "m.skops", "--report", "r.html"]
    done = subprocess.run(
        [*words, "--method", "joint", "--estimator", "logistic", "--no-annotators", "--force"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Estimated accuracy on new items: ")
    assert "Written: model m.skops, report r.html" in done.stdout
    assert "Noise and accuracy …" in done.stderr
    assert model_file.inspect(tmp_path / "m.skops")["n_items"] == len(files.y)
    page = (tmp_path / "r.html").read_text()
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert listing(tmp_path) == ["items.csv", "labels.csv", "m.skops", "pairs.csv", "r.html"]


def test_the_items_to_name_are_a_file_for_labels(files: Files, tmp_path: Path) -> None:
    """Filled in, it measures the accuracy; as it is, it names nothing."""
    out, words = tmp_path / "names.csv", ["fit", files.items, files.pairs, *QUICK, "--json"]
    first = json.loads(run(*words, "-o", tmp_path / "m", "--name-out", out).stdout)
    table = pd.read_csv(out, dtype=str)
    assert table["id"].tolist() == first["items_to_name"]
    assert table["class"].isna().all()
    place = {f"p{k:03d}": k for k in range(len(files.y))}
    table["class"] = ["yew" if files.y[place[one]] else "ash" for one in table["id"]]
    table.to_csv(out, index=False)
    second = json.loads(run(*words, "-o", tmp_path / "n", "--labels", out).stdout)
    assert second["verdict"]["measured"]["n_items"] == 20
    assert second["items_to_name"] == []
    assert second["doubtful_labels"] == []
