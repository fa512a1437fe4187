"""The page of the demo."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from noisypairs.app import demo
from noisypairs.app.report import charts
from tests.app.page_reader import words_of


def test_intervals_of_the_page_are_those_of_the_test_items(result):
    """Wilson's interval by its own formula, against the text of the first number."""
    n, share = result.cancer.n_test, result.cancer.rows[0].test_accuracy
    middle = (share + 1.96**2 / (2 * n)) / (1 + 1.96**2 / n)
    half = 1.96 / (1 + 1.96**2 / n) * np.sqrt(share * (1 - share) / n + 1.96**2 / (4 * n**2))
    expected = f"{100 * (middle - half):.0f} to {middle + half:.0%}, by the chance of {n} items"
    assert expected in words_of(demo.demo_report(result))


def test_a_page_where_the_joint_learner_refused_says_so(result):
    first = replace(result.cancer.rows[0], test_accuracy=None, refusal="no <signal> at all")
    silent = replace(
        result,
        cancer=replace(result.cancer, learnt=None, rows=(first, *result.cancer.rows[1:])),
        crowd=replace(result.crowd, worst=()),
    )
    text = words_of(demo.demo_report(silent))
    assert "refuses to learn" in text
    assert "Problem. no <signal> at all" in text


def test_the_same_result_gives_the_same_page(result):
    assert demo.demo_report(result) == demo.demo_report(result)


def test_bars_name_what_a_method_was_given(result, monkeypatch):
    drawn, bars = [], charts.bars

    def noted(names, *values, **settings):
        drawn.append(names)
        return bars(names, *values, **settings)

    monkeypatch.setattr(charts, "bars", noted)
    demo.demo_report(result)
    names = drawn[0]
    assert len(set(names)) == len(names) == len(result.cancer.rows)
    assert names[0] == "Joint learner"
    assert "Weighted, prior given" in names
    assert names[-1] == "every true class given"
