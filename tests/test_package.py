"""The package as a whole: what importing it costs, which names it offers, what its pages show."""

from __future__ import annotations

import doctest
import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import noisypairs
from noisypairs import cli

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
HEAVY = {"torch", "matplotlib", "pandas", "polars", "ibis", "sklearn", "scipy", "typer", "rich"}


def loaded_by(code: str) -> set[str]:
    """Return the top-level modules in a fresh interpreter after it ran ``code``."""
    report = f"{code}\nimport json, sys\nprint(json.dumps([m.split('.')[0] for m in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", report], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout))


def test_import_brings_in_nothing_heavy():
    modules = loaded_by("import noisypairs")
    assert "noisypairs" in modules
    assert modules & HEAVY == set()


def test_names_bring_in_their_modules_when_used():
    """The check above would see an import: a learner does load scikit-learn, but no extra."""
    modules = loaded_by("from noisypairs import LossCorrectionClassifier")
    assert "sklearn" in modules
    assert modules & {"torch", "matplotlib", "ibis", "typer"} == set()


@pytest.mark.parametrize("name", noisypairs.__all__)
def test_every_public_name_resolves_to_what_it_says(name):
    found = getattr(noisypairs, name)
    assert found.__name__.removeprefix("noisypairs.") == name


def test_type_checkers_see_every_public_name():
    stub = Path(noisypairs.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    named = re.findall(r"^from noisypairs\S* import (\w+) as \1$", stub, re.MULTILINE)
    assert sorted(named) == noisypairs.__all__


def test_dir_lists_the_public_names_in_order():
    assert dir(noisypairs) == sorted(noisypairs.__all__)
    assert len(set(noisypairs.__all__)) == len(noisypairs.__all__)


def test_star_import_gives_every_public_name():
    space: dict[str, object] = {}
    exec("from noisypairs import *", space)
    assert set(noisypairs.__all__) <= set(space)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="has no attribute 'PairClasifier'"):
        _ = noisypairs.PairClasifier
    assert not hasattr(noisypairs, "nothing_of_this_name")


def test_version_is_that_of_the_installed_package_and_of_the_citation():
    assert importlib.metadata.version("noisypairs") == noisypairs.__version__
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert cited[1] == noisypairs.__version__


# ---------------------------------------------------------------- the pages


def test_the_examples_of_the_pages_run():
    flags = doctest.NORMALIZE_WHITESPACE
    attempted = {}
    for page in PAGES:
        failed, attempted[page.name] = doctest.testfile(
            str(page), module_relative=False, optionflags=flags, encoding="utf-8"
        )
        assert failed == 0, f"{page.name}: {failed} of {attempted[page.name]} examples failed"
    assert attempted["README.md"] > 5
    assert attempted["theory.md"] > 5


def commands_shown() -> list[tuple[str, str]]:
    """Return (command, output) of every ``console`` block of the pages."""
    blocks = re.findall(r"```console\n\$ (.+)\n([^`]*)```", "\n".join(p.read_text() for p in PAGES))
    return [(command, output) for command, output in blocks]


@pytest.mark.parametrize(("command", "output"), commands_shown())
def test_the_commands_of_the_pages_print_what_is_shown(command, output):
    program, *arguments = command.split()
    assert program == "noisypairs"
    result = CliRunner().invoke(cli.application(), arguments)
    assert result.exit_code == 0
    assert [line.rstrip() for line in result.output.splitlines()] == output.splitlines()


def test_the_pages_show_commands():
    assert commands_shown()
