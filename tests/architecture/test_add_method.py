"""The recipe "Add a method to the comparison", followed to the letter."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from noisypairs.experiments import COLUMNS, register
from noisypairs.experiments.learners import Learners

PAGE = Path(__file__).parents[2] / "docs" / "researchers.md"
NAME = "signed-graph"


@pytest.fixture
def code():
    """Give the code of the page, and forget its method afterwards."""
    (found,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    columns = dict(COLUMNS)
    yield found
    COLUMNS.clear()
    COLUMNS.update(columns)


def test_the_method_is_a_column_beside_the_others(code, tmp_path, monkeypatch, capsys):
    lines = [line for line in code.splitlines() if line.strip()]
    assert len(lines) <= 20
    monkeypatch.chdir(tmp_path)
    space = {}
    exec(code, space)
    records = {(spec.method, spec.rates): one for spec, one in space["records"].items()}
    assert [rates for method, rates in records if method == NAME] == [
        (0.2, 0.2),
        (0.1, 0.2),
        (0.3, 0.3),
    ]
    assert all(one.accuracy > 0.85 for one in records.values())  # 63 % are of the larger class
    assert len(capsys.readouterr().out.splitlines()) == len(records)
    with pytest.raises(ValueError, match=f"there is a method '{NAME}' already"):
        register(NAME, "Another", Learners.joint)
