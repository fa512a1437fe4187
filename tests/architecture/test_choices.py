"""docs/choices.md has a row for every number that decides, and there are few of them."""

from __future__ import annotations

import re
from pathlib import Path

from noisypairs.joint import choices

PAGE = Path(__file__).parents[2] / "docs" / "choices.md"
MOST = 25
#: Limits of time and memory are no choices of statistics.
LIMITS = {"CALIBRATION_ITEMS", "RACE_ITEMS", "SEARCH_PAIRS"}


def numbers() -> dict[str, float]:
    """Return the numbers that decide, by name."""
    named = {name: value for name, value in vars(choices).items() if name.isupper()}
    assert all(isinstance(value, int | float) for value in named.values())
    return {name: value for name, value in named.items() if name not in LIMITS}


def test_the_page_has_a_row_for_each_with_its_value():
    rows = re.findall(
        r"^\| `(\w+)` \| ([\d.,]+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    shown = {name: float(value.replace(",", "")) for name, value in rows}
    assert len(shown) == len(rows)
    assert shown == numbers()


def test_the_limits_of_time_and_memory_are_said():
    text = PAGE.read_text(encoding="utf-8")
    for name in LIMITS:
        assert f"{getattr(choices, name):,}" in text


def test_there_are_few():
    assert len(numbers()) <= MOST
