"""Kinds on a page: which there are, which are confused, how many names are needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from noisypairs.app.fit.result import FitResult
from noisypairs.app.report.kinds import kinds, names_needed
from noisypairs.app.report.model import fit_report
from noisypairs.app.report.page import Callout, Cards, Figure, Picture, Table
from noisypairs.app.report.thumbnails import Thumbnails
from tests.app.report.report_problems import HOSTILE, fit_result, with_kinds


@pytest.fixture(scope="module")
def result() -> FitResult:
    return with_kinds(fit_result())


def test_a_fit_of_classes_shows_no_kinds() -> None:
    assert kinds(fit_result()) == []
    assert ">Kinds<" not in fit_report(fit_result())


def test_kinds_stand_with_names_items_and_what_is_confused(result: FitResult) -> None:
    blocks = kinds(result)
    first, items = (block for block in blocks if isinstance(block, Table))
    assert [[cell.text for cell in row] for row in first.rows][2] == ["2", "oak", "30.0%", "20"]
    assert [cell.text for cell in items.rows[1]] == [
        "kind 0",
        "doubtful",
        "oak01",
        "57%",
        "oak 1.5",
    ]
    (picture,) = (block for block in blocks if isinstance(block, Figure))
    assert picture.caption.endswith("Confused most: kind 0 and kind 1 (50%).")
    assert "kind 2: oak" in picture.svg
    assert "chosen from 3, 4 and 5" in blocks[0].text  # type: ignore[attr-defined]
    html = fit_report(result)
    assert html.index(">Kinds<") < html.index(">The classes<")
    assert "by the kinds of its two items" in html


def test_how_many_names_are_needed_is_said_until_all_are_there(result: FitResult) -> None:
    assert names_needed(result.model).startswith("2 kinds have no name yet.")
    none = replace(result.model, kinds=tuple(replace(k, name=None) for k in result.model.kinds))
    assert names_needed(none).startswith("The 3 kinds have no names yet: 3 names are needed")
    every = replace(result.model, kinds=tuple(replace(k, name="x") for k in result.model.kinds))
    named = kinds(replace(result, model=every))
    assert not any(isinstance(block, Callout) for block in named)


def test_pictures_show_typical_beside_doubtful(result: FitResult) -> None:
    picture = Picture("kind-0", 1, 1, "data:image/png;base64,AA==")
    *_, shown = kinds(result, Thumbnails({"oak00": picture}, ()))
    assert isinstance(shown, Cards)
    assert shown.cards[0].items == ("oak00", "oak01")
    assert "kind-0" in fit_report(result, None, Thumbnails({"oak00": picture}, ()))


def test_no_confusion_is_said_and_names_are_text() -> None:
    result = with_kinds(fit_result(HOSTILE), HOSTILE)
    S = tuple(map(tuple, np.where(np.eye(3) > 0, 0.9, 0.1).tolist()))
    noise = replace(result.model.noise, same_probability=S)
    html = fit_report(replace(result, model=replace(result.model, noise=noise)))
    assert "No two kinds are confused often." in html
    assert "<script>alert" not in html
