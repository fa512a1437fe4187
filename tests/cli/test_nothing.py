"""Answers that say nothing: one class only, or coins. To learn from them is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.app.fit.fit_problems import Files, write_files
from tests.cli.commands import fails, run, words_for


@pytest.fixture
def given(tmp_path: Path) -> Files:
    return write_files(tmp_path, n_items=30, n_pairs=70)


def _one_class(given: Files) -> None:
    pd.read_csv(given.pairs).assign(answer="yes").to_csv(given.pairs, index=False)


def _coins(given: Files) -> None:
    answers = pd.read_csv(given.pairs)
    coins = np.random.default_rng(0).choice(["yes", "no"], len(answers))
    answers.assign(answer=coins).to_csv(given.pairs, index=False)


@pytest.mark.parametrize(
    ("command", "spoil", "said"),
    [
        ("fit", _one_class, "nothing can be learnt"),
        ("annotators", _one_class, "no annotator can be distinguished from a spammer"),
        ("plan", _one_class, "answers are 'same'; nothing can be learnt"),
        ("fit", _coins, "say nothing about classes"),
        ("annotators", _coins, "all annotators answered without looking"),
        ("plan", _coins, "say nothing about classes"),
    ],
)
def test_answers_that_say_nothing_are_refused(
    command: str, spoil: Callable[[Files], None], said: str, given: Files, tmp_path: Path
) -> None:
    spoil(given)
    fails(1, said, tmp_path, *words_for(command, given, tmp_path), "--quiet")


@pytest.mark.parametrize(
    ("spoil", "said"), [(_one_class, "all answers are 'same'"), (_coins, "joint       fails")]
)
def test_to_check_they_are_findings(
    spoil: Callable[[Files], None], said: str, given: Files, tmp_path: Path
) -> None:
    spoil(given)
    result = run("check", given.items, given.pairs, "--quiet")
    assert result.exit_code == 0, result.stderr
    assert said in result.stdout
