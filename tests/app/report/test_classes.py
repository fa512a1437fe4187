"""Classes on a page: what each one is, which are confused, and how they get names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from noisypairs.app.fit.result import FitResult
from noisypairs.app.report.classes import NAMES_NEEDED, classes, confusion
from noisypairs.app.report.model import fit_report
from noisypairs.app.report.page import Callout, Cards, Figure, Picture, Table
from noisypairs.app.report.thumbnails import Thumbnails
from tests.app.report.report_problems import HOSTILE, fit_result, with_classes, with_fields


@pytest.fixture(scope="module")
def result() -> FitResult:
    return with_classes(fit_result())


def test_classes_stand_with_items_and_what_tells_them(result: FitResult) -> None:
    blocks = classes(result)
    first, items = (block for block in blocks if isinstance(block, Table))
    row = ["group 3", "30.0%", "20", "4", "oak larger (5, others 2)"]
    assert [[cell.text for cell in row] for row in first.rows][2] == row
    row = ["group 1", "doubtful", "oak01", "57%", "oak 1.5"]
    assert [cell.text for cell in items.rows[1]] == row
    html = fit_report(result)
    assert html.index(">The classes<") < html.index(">The data<")


def test_confused_classes_are_a_picture_and_named(result: FitResult) -> None:
    picture = confusion(result.model)
    assert isinstance(picture, Figure)
    assert picture.caption.endswith("Confused most: group 1 and group 2 (50%).")
    assert "group 3" in picture.svg


def test_how_groups_get_names_is_said_until_they_have_some(result: FitResult) -> None:
    said = [block.text for block in classes(result) if isinstance(block, Callout)]
    assert said == [NAMES_NEEDED]
    named = classes(with_fields(result, names_known=True, n_labels=3))
    assert not any(isinstance(block, Callout) for block in named)


def test_pictures_show_typical_beside_doubtful(result: FitResult) -> None:
    picture = Picture("class-0", 1, 1, "data:image/png;base64,AA==")
    *_, shown = classes(result, Thumbnails({"oak00": picture}, ()))
    assert isinstance(shown, Cards)
    assert shown.cards[0].items == ("oak00", "oak01")
    assert "class-0" in fit_report(result, None, Thumbnails({"oak00": picture}, ()))


def test_no_confusion_is_said_and_names_are_text() -> None:
    result = with_classes(fit_result(HOSTILE), HOSTILE)
    S = tuple(map(tuple, np.where(np.eye(3) > 0, 0.9, 0.1).tolist()))
    noise = replace(result.model.noise, same_probability=S)
    html = fit_report(replace(result, model=replace(result.model, noise=noise)))
    assert "No two classes are confused often." in html
    assert "<script>alert" not in html
