"""The page for researchers, followed to the letter."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from noisypairs.experiments import COLUMNS, load_records, register, tables
from noisypairs.experiments.learners import METHODS, OURS, Learners
from noisypairs.experiments.report import build

PAGE = Path(__file__).parents[2] / "docs" / "researchers.md"
NAME = "signed-graph"


@pytest.fixture
def code():
    """Give the pieces of code of the page, and forget their methods afterwards."""
    yield re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for name in set(METHODS) - OURS:
        del COLUMNS[name], METHODS[name]


def test_twenty_lines_compare_and_a_method_is_a_column(code, tmp_path, monkeypatch, capsys):
    own, column = code
    assert len([line for line in own.splitlines() if line.strip()]) <= 20
    monkeypatch.chdir(tmp_path)
    space = {}
    for _ in range(2):  # running again goes on
        exec(own, space)
    assert (tmp_path / "comparison.png").stat().st_size > 10_000
    means = space["frame"].groupby("method").accuracy.mean()
    assert means["true classes"] > means["Signed graph"] > 0.75  # 63 % are of the larger class
    assert "Signed graph" in capsys.readouterr().out
    for _ in range(2):
        exec(column, space)
    found = {(spec.method, spec.rates): one for spec, one in space["records"].items()}
    assert [rates for method, rates in found if method == NAME] == [
        (0.2, 0.2),
        (0.1, 0.2),
        (0.3, 0.3),
    ]
    assert all(one.accuracy > 0.85 for one in found.values())
    with pytest.raises(ValueError, match="'joint' is a method of the package"):
        register("joint", "Another", Learners.joint)
    del COLUMNS[NAME], METHODS[NAME]  # as in the process of `noisypairs report`
    grid = build(Path("tables")).grids["table1-20"]
    assert grid.headings[-1] == NAME
    assert tables.headings(tables.runs_of(load_records(Path("tables"))))[-1] == NAME
    assert grid.rows[0][-1] != "–"
