"""How people answer, on a page."""

from __future__ import annotations

from noisypairs.app.fit.result import ShownItem
from noisypairs.app.report.pages import fit_report
from tests.app.page_reader import rows_of, words_of
from tests.app.report.report_problems import HOSTILE, fit_result, with_fields

PARTS = {"people": 0.31, "clarity": 0.05, "pair error": 0.25, "similarity": 0.0}


def test_parts_and_their_strengths_stand_in_words() -> None:
    html = fit_report(with_fields(fit_result(), parts=PARTS))
    assert rows_of(html, "part", "found") == [
        [
            "each person has their own bias and skill",
            "yes",
            "spread of 0.31 between people, in log-odds",
        ],
        ["some items are ambiguous", "yes", "5.0% of the items"],
        ["some pairs mislead everybody", "yes", "correlation of 0.25 between answers to one pair"],
        ["similar-looking pairs are called same more often", "no", "–"],
    ]
    assert html.index(">The classes<") < html.index(">How people answer<")


def test_hard_items_are_listed_and_counted() -> None:
    items = (ShownItem(HOSTILE, 0.97, {"size": "3"}),)
    result = with_fields(fit_result(), parts=PARTS, hard_items=items, n_hard_items=3)
    html = fit_report(result)
    text = words_of(html)
    assert "3 items are probably ambiguous, 5.0% of all" in text
    assert "The 1 most ambiguous are below." in text
    assert "<script>alert" not in html


def test_a_method_without_an_answer_model_has_no_such_section() -> None:
    assert ">How people answer<" not in fit_report(fit_result())
