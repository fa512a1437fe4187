"""The command as it is installed, in a process of its own, with good and with bad input.

check, fit and theory have a test like this in files of their own.
"""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

import pytest

from noisypairs.app.files import read_dataset
from noisypairs.app.fit.fitting import fit_dataset
from noisypairs.app.fit.request import Request
from noisypairs.app.model_file import save
from tests.app.fit.fit_problems import Files, write_files


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Files]:
    folder = tmp_path_factory.mktemp("model")
    good = write_files(folder, n_items=40, n_pairs=300)
    request = Request(method="joint", estimator="logistic", annotators=False)
    fitted = fit_dataset(read_dataset(good.items, good.pairs), request)
    return save(folder / "m.skops", fitted.model, fitted.result.facts), good


def installed(*words: object) -> subprocess.CompletedProcess[str]:
    command = Path(sysconfig.get_path("scripts")) / "noisypairs"
    if not command.exists():
        pytest.skip("the package is not installed with its command")
    return subprocess.run(
        [command, *map(str, words)], capture_output=True, text=True, check=False, timeout=300
    )


def test_the_installed_commands_with_good_and_bad_input(
    model: tuple[Path, Files], tmp_path: Path
) -> None:
    path, good = model
    calls: list[tuple[list[object], str]] = [
        (["inspect", path], "# Model of items.csv"),
        (["predict", path, good.items, "-o", tmp_path / "out.csv"], "40 items classified"),
        (["annotators", good.pairs, "-o", tmp_path / "a.csv"], "3 annotators gave 285 answers"),
    ]
    for words, start in calls:
        done = installed(*words)
        assert (done.returncode, done.stdout[: len(start)]) == (0, start), done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.csv", "out.csv"]
    bad: list[list[object]] = [
        ["inspect", good.items],
        ["plan", good.items, good.pairs, "--target", "0.9", "-o", tmp_path / "out.csv"],
    ]
    for words in bad:
        done = installed(*words)
        assert done.returncode in (1, 2), done.stderr
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 1
        assert done.stderr.startswith("Error: ")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.csv", "out.csv"]
