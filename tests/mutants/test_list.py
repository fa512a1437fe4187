"""The list of planted faults cannot rot: every snippet and every test that it names is there."""

from __future__ import annotations

import ast
import functools

import pytest

from tests.mutants.faults import ROOT, Fault, StaleFault, load_faults
from tests.mutants.trial import COPIED

FAULTS = load_faults()


def test_there_are_at_least_eighty_faults_with_names_of_their_own():
    assert len(FAULTS) >= 80
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_changes_the_program_and_names_tests_that_exist(fault):
    source = fault.path().read_text("utf-8")
    assert ast.dump(ast.parse(fault.planted(source))) != ast.dump(ast.parse(source))
    assert fault.why
    assert fault.tests
    for test in fault.tests:
        file, _, name = test.partition("::")
        assert file.startswith(COPIED)
        defined = names_in(file)
        assert not name or name.partition("[")[0].rpartition(".")[2] in defined, test


def test_a_snippet_that_is_gone_or_no_longer_alone_is_stale():
    fault = Fault("swap", "algebra.py", "a - b", "b - a", (), "")
    assert fault.planted("x = a - b\n") == "x = b - a\n"
    for source in ("x = a + b\n", "x = a - b\ny = a - b\n"):
        with pytest.raises(StaleFault, match="swap"):
            fault.planted(source)


@functools.cache
def names_in(file: str) -> set[str]:
    """Return the names of all functions and classes of a file."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}
