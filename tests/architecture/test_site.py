"""The site: every page has its place and lines that run, and its parts do what they say."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import re
import shutil
import sys
import types
from pathlib import Path

import pytest

import noisypairs
from noisypairs import cli

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.fixture(scope="module", autouse=True)
def _building():
    """Let the parts of the site be imported, as its settings do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS)
        yield
        for name in [name for name in sys.modules if name.partition(".")[0] == "building"]:
            del sys.modules[name]


def part(name):
    return importlib.import_module(f"building.{name}")


# ---------------------------------------------------------------- pages


def toctrees() -> list[tuple[str, str]]:
    """Return (page that lists, page listed) of every toctree."""
    found = []
    for page in DOCS.glob("*.md"):
        blocks = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
        for block in blocks:
            lines = [line.strip() for line in block.splitlines()]
            found += [(page.stem, line) for line in lines if line and line[0] != ":"]
    return found


def test_every_page_is_listed_once():
    listed = [name for _, name in toctrees()]
    assert len(listed) == len(set(listed))
    written = {name for name in listed if "/" not in name}
    assert written == {page.stem for page in DOCS.glob("*.md")} - {"index"}


@pytest.mark.parametrize("part", ["guide", "reference", "researchers", "development"])
def test_a_part_links_what_it_lists(part):
    text = (DOCS / f"{part}.md").read_text(encoding="utf-8")
    listed = [name for page, name in toctrees() if page == part]
    assert [name for name in listed if f"]({name}." not in text] == []


def title(name: str) -> str:
    """Return the first heading of a page, as the sidebar shows it."""
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    return re.findall(r"^# (.+)$", text, re.MULTILINE)[0]


@pytest.mark.parametrize("name", [name for page, name in toctrees() if page == "guide"])
def test_the_guide_calls_a_page_by_its_title(name):
    guide = (DOCS / "guide.md").read_text(encoding="utf-8")
    assert f"[{title(name)}]({name}.md)" in " ".join(guide.split())


def questions() -> list[str]:
    text = (DOCS / "guide.md").read_text(encoding="utf-8")
    (block,) = re.findall(r":caption: Questions\n\n(.*?)```", text, re.DOTALL)
    return block.split()


@pytest.mark.parametrize("name", questions())
def test_every_question_has_lines_that_a_test_runs(name):
    """`tests/test_package.py` runs them."""
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert len(doctest.DocTestParser().get_examples(text)) >= 3


def test_the_readme_is_short_and_the_landing_page_is_its_twin():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 110
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert index.startswith("```{include} ../README.md\n```\n")


def test_the_numbers_of_the_claims_are_those_of_their_pages():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    claims = re.findall(r"^\* \*\*\[([\d.]+)[^\]]*\]\(([\w/.-]+)", readme, re.MULTILINE)
    assert len(claims) == 4
    for number, page in claims:
        assert re.search(rf"(?<![\d.]){number}(?![\d.]*\d)", (ROOT / page).read_text("utf-8"))


def test_the_costs_of_the_methods_are_those_that_were_measured():
    def rows(page):
        text = (DOCS / page).read_text(encoding="utf-8")
        found = re.findall(r"^\| (1[0,]+) \|([\d. s|]+)\|$", text, re.MULTILINE)
        return [(pairs, re.findall(r"[\d.]+", times)) for pairs, times in found if "|" in times]

    shown = rows("choosing.md")
    assert len(shown) == 3
    assert [row for row in shown if row not in rows("scale.md")] == []


def test_the_citation_on_the_page_is_of_this_version():
    assert f"{{{noisypairs.__version__}}}" in (DOCS / "cite.md").read_text(encoding="utf-8")


# ---------------------------------------------------------------- gallery


def test_the_gallery_lists_every_example():
    listed = part("gallery").EXAMPLES
    assert len(listed) >= 14
    assert {path.stem for path in EXAMPLES} == {f"plot_{name}" for name in listed}
    assert set(part("gallery").QUICK) < set(listed)
    with pytest.raises(ValueError, match="not in tuple"):
        part("gallery").order("plot_nothing.py")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_makes_one_picture(path):
    text = path.read_text(encoding="utf-8")
    assert 40 <= len(text.splitlines()) <= 120
    calls = [
        ast.unparse(one.func) for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Call)
    ]
    assert calls.count("plt.subplots") == 1
    assert calls.count("plt.show") == 1
    title, line = ast.get_docstring(ast.parse(text)).splitlines()[:2]
    assert set(line) == {"="}
    assert len(line) == len(title)


# ---------------------------------------------------------------- parts


@pytest.mark.parametrize("name", ["docstrings", "gallery", "outside", "formulas"])
def test_examples_of_the_parts(name):
    if name == "formulas":
        pytest.importorskip("latex2mathml", reason="the extra docs is not installed")
    found = doctest.testmod(part(name))
    assert found.failed == 0
    assert found.attempted >= 1


def test_bars_are_escaped_but_in_examples():
    given = ["the signal |a − b| of ``P(y |", "x)``, |b|", ">>> 1 | 2"]
    found = part("docstrings").rewritten(given)
    assert found == [r"the signal \|a − b\| of ``P(y |", r"x)``, \|b\|", ">>> 1 | 2"]


def test_nothing_is_rewritten_to_nothing():
    assert part("docstrings").rewritten([]) == []


def test_a_sentence_after_a_parameter_stays_a_sentence():
    given = ["Parameters", "----------", "left : positions, shape (n,)", "    The order is free."]
    assert part("docstrings").rewritten(given)[2:] == [
        "left",
        "    positions, shape (n,).",
        "    The order is free.",
    ]


def test_broken_links_and_whatever_is_fetched_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">1</a><a href="b.html#gone">2</a><a href="c.html">3</a>'
        '<a href="https://example.org">4</a><script src="https://cdn.example.org/x.js"></script>'
        '<img src="no.png"><a href="#top">5</a>'
    )
    (tmp_path / "b.html").write_text('<p id="here">x</p>')
    assert part("links").broken(tmp_path) == [
        "a.html: b.html#gone",
        "a.html: c.html",
        "a.html: fetches https://cdn.example.org/x.js",
        "a.html: no.png",
    ]


def test_pages_that_are_too_wide_or_fail_are_found(tmp_path):
    pytest.importorskip("playwright", reason="needs playwright (extra dev)")
    chromium = next(filter(None, map(shutil.which, part("browser").NAMES)), None)
    if chromium is None:
        pytest.skip("no Chromium is installed")
    head = '<meta name="viewport" content="width=device-width">'
    (tmp_path / "a.html").write_text(f'{head}<div style="width: 600px">x</div>')
    (tmp_path / "b.html").write_text(f"{head}<script>nothing.here</script>")
    (tmp_path / "c.html").write_text(f"{head}<p>x</p>")
    wide, failed = part("browser").wrong(tmp_path, chromium)
    assert re.fullmatch(r"a\.html: 6\d\d pixels wide, expected 390", wide)
    assert "b.html" in failed
    assert "nothing is not defined" in failed


def test_cells_of_a_notebook_share_names_and_a_cell_that_fails_is_named(tmp_path):
    def notebook(*codes):
        cells = [{"cell_type": "code", "source": code.splitlines(True)} for code in codes]
        path = tmp_path / "plot_a.ipynb"
        path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": []}, *cells]}))
        return path

    assert part("notebooks").run(notebook("a = 1", "assert a == 1\na = 2")) == 2
    with pytest.raises(ZeroDivisionError) as stop:
        part("notebooks").run(notebook("a = 0", "1 / a"))
    assert str(stop.traceback[-1].path) == "plot_a.ipynb, cell 2"


# ---------------------------------------------------------------- reference


def test_the_reference_has_every_public_name_and_nothing_else(tmp_path):
    reference = part("reference")
    named = {name for found in reference.names().values() for name in found}
    offered = {
        name
        for name in noisypairs.__all__
        if isinstance(getattr(noisypairs, name), types.ModuleType)
    }
    assert named | offered == set(noisypairs.__all__)
    assert offered < set(reference.modules())
    stale = tmp_path / reference.FOLDER / "Gone.rst"
    stale.parent.mkdir()
    stale.write_text("x")
    pages = {path.stem for path in reference.write_pages(tmp_path)}
    assert named | set(reference.modules()) < pages
    assert not stale.exists()
    for name in reference.modules():
        module = importlib.import_module(f"noisypairs.{name}")
        text = (tmp_path / reference.FOLDER / f"{name}.rst").read_text(encoding="utf-8")
        assert [one for one in reference.members(module) if one not in text] == []


def test_every_public_name_has_a_docstring_and_most_have_an_example():
    """Errors and warnings say when they come; results are shown where they are made."""
    without = set()
    for name in noisypairs.__all__:
        thing = getattr(noisypairs, name)
        if isinstance(thing, types.ModuleType):
            continue
        text = inspect.getdoc(thing) or ""
        assert text, name
        if not (inspect.isclass(thing) and issubclass(thing, Exception)) and ">>>" not in text:
            without.add(name)
        if hasattr(thing, "get_params"):
            assert all(part in text for part in ("Parameters\n---", "Attributes\n---")), name
    assert without == set()


def test_the_pages_of_the_commands_say_what_the_commands_say():
    reference = part("reference")
    pages = reference.pages()
    commands = reference.commands()
    assert set(cli.COMMANDS) <= set(commands)
    for name, command in commands.items():
        page = pages[f"command-{name}.md"]
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                assert f"`{option}`" in page
        assert f"(command-{name}.md)" in pages["commands.md"]
