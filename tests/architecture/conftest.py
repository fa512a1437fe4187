"""The code of the recipes, taken from the page as it stands there."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"


def recipe_code(heading: str) -> str:
    """Return the first Python block below a heading of the third level."""
    found = re.search(
        rf"^### {heading}\n(?:(?!^### ).)*?```python\n(.*?)```",
        PAGE.read_text(encoding="utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    assert found is not None, heading
    return found[1]


@pytest.fixture(scope="module")
def recipe(request, tmp_path_factory):
    """Import the code of the recipe that the test module names: `HEADING`, as module `MODULE`."""
    heading, name = request.module.HEADING, request.module.MODULE
    folder = tmp_path_factory.mktemp(name)
    (folder / f"{name}.py").write_text(recipe_code(heading), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module(name)
        sys.modules.pop(name, None)
