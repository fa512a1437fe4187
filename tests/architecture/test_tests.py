"""How the tests are built: files by source file, no test module behind another, public names."""

from __future__ import annotations

import ast
from pathlib import Path

import noisypairs

TESTS = Path(__file__).parents[1]
SOURCE = Path(noisypairs.__file__).parent
MODULES = sorted(TESTS.rglob("*.py"))
#: Folders by subject: the contract, the paper's claims, statistics with an error level, the layout,
#: planted faults, damaged files.
BY_SUBJECT = {"architecture", "contract", "fuzz", "mutants", "paper", "statistical"}
#: Programs of their own, not tests: `make mutants`, `make fuzz`.
PROGRAMS = {"fuzz", "mutants"}
#: Test modules that are named neither after a source file nor after its folder.
ELSEWHERE = {
    "app/ask/test_browser.py": "the page in Chromium, as people use it",
    "app/ask/test_browser_connection.py": "the same, when its server is gone",
    "app/ask/test_browser_items.py": "the same, by what it shows of items",
    "app/test_content.py": "columns of pictures and sounds in every command",
    "app/test_linkage.py": "check, fit and annotators on records to link",
    "app/files/test_fuzz.py": "any bytes and any table, read by every file of the room",
    "app/report/test_annotators.py": "crowd.html",
    "app/report/test_check.py": "check.html",
    "app/report/test_classes.py": "sections.html: the classes",
    "app/report/test_model.py": "fit.html",
    "app/report/test_parts.py": "sections.html: how people answer",
    "app/report/test_plan.py": "plan.html",
    "app/report/test_browser.py": "every page of the room in Chromium",
    "cli/test_answers_only.py": "every command without features of the items",
    "cli/test_engine.py": "fit and predict with --engine",
    "cli/test_failures.py": "every command on spoilt files",
    "cli/test_installed.py": "every command as installed",
    "cli/test_nothing.py": "every command on answers that say nothing",
    "cli/test_threads.py": "fit as installed, with one and with two threads",
    "cli/test_first_fit.py": "docs/first-fit.md, line by line",
    "test_classifier_inputs.py": "classifier.py, by what it is given",
    "test_classifier_tables.py": "classifier.py, on tables",
    "test_classifier_warm.py": "classifier.py, going on from a fit",
    "test_classifier_levels.py": "classifier.py, answers of several levels",
    "estimators/test_loss_correction.py": "pointwise.py, T-Loss",
    "estimators/test_weighted.py": "pointwise.py, Weighted",
    "torch/test_conventions.py": "scikit-learn's checks on every network",
    "noise/test_own_model.py": "a noise model from outside the package",
    "test_package.py": "what the package exports and what importing it loads",
}
TESTED = [path for path in MODULES if not set(path.parts) & PROGRAMS]
#: Private names that tests may use: none has a public way in.
PRIVATE = {
    ("cli/test_defect.py", "_COMMANDS"): "a defect is planted inside every command",
    ("estimators/test_base.py", "_check_training"): "what a learner of one's own calls in `fit`",
    ("joint/test_search.py", "_simplest"): "the rule itself: a fit would decide by chance",
    ("tables/test_items.py", "_gateway"): "Spark is killed in the middle, as no user would",
    ("tables/test_items.py", "_session"): "the same",
}


def name_of(path: Path) -> str:
    return path.relative_to(TESTS).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> set[str]:
    """Return the full names of all modules that a file of the tests imports, or may import."""
    package = ["tests", *path.relative_to(TESTS).parent.parts]
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            found |= {start} | {f"{start}.{alias.name}" for alias in node.names}
    return found


def test_no_test_module_imports_another():
    tests = {
        ".".join(["tests", *path.relative_to(TESTS).with_suffix("").parts])
        for path in MODULES
        if path.name.startswith("test_") or path.name == "conftest.py"
    }
    found = {name_of(path): imported(path) & tests for path in MODULES}
    assert {name: names for name, names in found.items() if names} == {}


def private_names(path: Path) -> set[str]:
    """Return names with one leading underscore that are imported, or taken from what has them.

    What a file defines itself is its own: functions, and attributes that it gives to ``self``.
    """
    tree, found, own = tree_of(path), set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute):
            (own if isinstance(node.ctx, ast.Store) else found).add(node.attr)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            own.add(node.name)
    return {name for name in found - own if name.startswith("_") and not name.startswith("__")}


def test_no_private_name_is_tested_but_for_those_with_a_reason():
    found = {(name_of(path), name) for path in TESTED for name in private_names(path)}
    assert found == set(PRIVATE)


def test_every_test_module_is_named_after_its_source_or_has_a_subject():
    astray = set()
    for path in MODULES:
        folder, subject = path.relative_to(TESTS).parent, path.stem.removeprefix("test_")
        if not path.name.startswith("test_") or set(folder.parts) & BY_SUBJECT:
            continue
        if (SOURCE / folder).with_suffix(".py").exists():
            continue  # one source file, tested part by part
        if not (SOURCE / folder / f"{subject}.py").exists() and folder.name != subject:
            astray.add(name_of(path))
    assert astray == set(ELSEWHERE)


def test_a_folder_has_one_conftest_and_at_most_one_module_of_helpers():
    helpers: dict[str, list[str]] = {}
    for path in MODULES:
        if not path.name.startswith(("test_", "conftest", "__init__")):
            helpers.setdefault(path.parent.relative_to(TESTS).as_posix(), []).append(path.name)
    several = {folder for folder, names in helpers.items() if len(names) > 1}
    assert several <= PROGRAMS | {"contract"}  # where a program runs it on an earlier version
