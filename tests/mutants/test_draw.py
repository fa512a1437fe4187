"""Random mutants: each changes the program in one place, and the seed decides which are drawn."""

from __future__ import annotations

import ast

import pytest

from tests.mutants.draw import areas, draw, equivalents, mutants_of, near_tests
from tests.mutants.faults import ROOT, StaleFault


def test_every_mutant_of_a_file_is_another_program_and_has_a_name_of_its_own():
    for file in ("algebra.py", "app/learning_curve.py", "app/ask/questions.py"):
        source = (ROOT / "src" / "noisypairs" / file).read_text("utf-8")
        found = mutants_of(file)
        assert len(found) > 20
        assert len({one.name for one in found}) == len(found)
        before = ast.dump(ast.parse(source))
        for one in found:
            assert ast.dump(ast.parse(one.planted(source))) != before, one.name


def test_a_mutant_of_another_source_is_stale():
    with pytest.raises(StaleFault, match="the source has changed"):
        mutants_of("algebra.py")[0].planted("x = 1\n")


def test_near_tests_mirror_or_import_the_source_and_include_its_examples():
    assert near_tests("algebra.py") == ("tests/test_algebra.py", "src/noisypairs/algebra.py")
    assert near_tests("app/files/contents.py")[0] == "tests/app/files/contents"
    assert near_tests("noise/printed.py")[0] == "tests/paper/test_claims.py"
    assert near_tests("tables/batch.py")[0] == "tests/tables"
    assert near_tests("none.py") == ()
    for files in areas().values():
        for file in files:
            assert all((ROOT / test).exists() for test in near_tests(file))


def test_the_tests_that_name_the_function_come_first():
    one = next(one for one in mutants_of("algebra.py") if "::alpha:" in one.name)
    first, everything = one.rounds
    assert everything == near_tests("algebra.py")
    assert first
    for test in first:
        name = test.removeprefix("tests/test_algebra.py::")
        source = (ROOT / "tests" / "test_algebra.py").read_text("utf-8").partition(f"{name}(")[2]
        assert "alpha(" in source.partition("\ndef ")[0]


def test_the_same_seed_draws_the_same_and_areas_can_be_chosen():
    first = draw(12, 3, ["noise", "app/fit"])
    assert first == draw(12, 3, ["noise", "app/fit"])
    assert first != draw(12, 4, ["noise", "app/fit"])
    assert {one.file.split("/")[0] for one in first} == {"noise", "app"}
    with pytest.raises(ValueError, match="no such area: nose"):
        draw(1, 0, ["nose"])


def test_mutants_that_are_listed_as_equivalent_are_there_and_have_a_reason():
    for name, why in equivalents().items():
        assert name in {one.name for one in mutants_of(name.partition("::")[0])}
        assert why
