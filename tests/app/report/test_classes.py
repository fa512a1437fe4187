"""Classes on a page: what each one is, which are confused, and how they get names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from noisypairs.app.fit.result import FitResult
from noisypairs.app.report.page import Picture
from noisypairs.app.report.pages import fit_report
from noisypairs.app.report.thumbnails import Thumbnails
from tests.app.page_reader import rows_of, section_of, words_of
from tests.app.report.report_problems import HOSTILE, fit_result, with_classes, with_fields


@pytest.fixture(scope="module")
def result() -> FitResult:
    return with_classes(fit_result())


def test_classes_stand_with_items_and_what_tells_them(result: FitResult) -> None:
    html = fit_report(result)
    row = ["group 3", "30.0%", "20", "4", "oak larger (5, others 2)"]
    assert rows_of(html, "class", "estimated share")[2] == row
    row = ["group 1", "doubtful", "oak01", "57%", "oak 1.5"]
    assert rows_of(html, "class", "it is")[1] == row
    assert html.index(">The classes<") < html.index(">The data<")


def test_confused_classes_are_a_picture_and_named(result: FitResult) -> None:
    html = fit_report(result)
    assert "Confused most: group 1 and group 2 (50%)." in section_of(
        html, "How wrong the answers are"
    )
    (picture,) = (one for one in html.split("<figure>") if "Confused most" in one)
    assert "group 3" in picture.partition("</svg>")[0]


def test_how_groups_get_names_is_said_until_they_have_some(result: FitResult) -> None:
    said = "a table with the columns group and class, and run noisypairs name"
    assert said in section_of(fit_report(result), "The classes")
    assert said not in words_of(fit_report(with_fields(result, names_known=True, n_labels=3)))


def test_pictures_show_typical_beside_doubtful(result: FitResult) -> None:
    picture = Picture("class-0", 1, 1, "data:image/png;base64,AA==")
    html = fit_report(result, of_classes=Thumbnails({"oak00": picture}, ()))
    assert "group 1: typical and doubtful" in section_of(html, "The classes")
    assert html.count('href="#class-0"') == 1
    assert html.index('aria-label="Picture of oak00"') < html.index(">oak01")


def test_no_confusion_is_said_and_names_are_text() -> None:
    result = with_classes(fit_result(HOSTILE), HOSTILE)
    S = tuple(map(tuple, np.where(np.eye(3) > 0, 0.9, 0.1).tolist()))
    noise = replace(result.model.noise, same_probability=S)
    html = fit_report(replace(result, model=replace(result.model, noise=noise)))
    assert "No two classes are confused often." in words_of(html)
    assert "<script>alert" not in html
