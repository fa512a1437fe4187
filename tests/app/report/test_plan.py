"""The page of a plan: the answer first, the curves with target and interval, what to ask."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from noisypairs.app.plan import as_dict, price_of, statement
from noisypairs.app.report import charts
from noisypairs.app.report.page import is_generated
from noisypairs.app.report.pages import plan_report
from noisypairs.estimation import Interval
from tests.app.page_reader import check_page, words_of
from tests.app.report.report_problems import HOSTILE, plan_result

IDS = [f"photo {k}" for k in range(40)]


def test_the_answer_comes_first_then_the_curves_and_what_to_ask() -> None:
    found = plan_result(0.915)
    html = plan_report(found, IDS, 0.04, found.next_pairs(30))
    text = words_of(html)
    assert is_generated(html, "noisypairs plan")
    assert [heading.strip() for heading in re.findall(r"<h2[^>]*>([^<]*)</h2>", html)] == [
        "New items, by their features alone",
        "The compared items, by features and answers",
        "Fresh pairs or repeated answers",
        "What to ask next",
        "How to read this",
    ]
    assert html.count("<svg") == 2
    # 9/n = .005 at n = 1,800: 1,200 more than the 600 at hand, at 4 cents each.
    needed = found.new_items.needed
    assert needed is not None
    assert needed.estimate == pytest.approx(1200, rel=0.25)
    for part in (
        "of new items are classified correctly",
        f"91.5% takes {needed.estimate:,.0f} [",
        f"at a cost of {0.04 * needed.estimate:,.2f} [",
        "30 new pairs to ask next: 24 chosen",
        "The first 20.",
        "now: 600",
        "target 91.5%",
    ):
        assert part in text, part


@pytest.mark.parametrize(
    ("target", "state", "said"),
    [
        (0.85, "reached", "The target of 85.0% is reached."),
        (0.99, "unreachable", "99.0% cannot be reached with these features."),
    ],
)
def test_every_state_has_its_sentence(target: float, state: str, said: str) -> None:
    found = plan_result(target)
    assert found.new_items.state == state
    text = words_of(plan_report(found, IDS))
    assert said in text
    assert "What to ask next" not in text
    assert {"reached": "Good.", "unreachable": "Problem."}[state] in text


def test_a_standing_doubt_is_said_and_nothing_is_called_good() -> None:
    found = plan_result(0.85)
    goals = {
        name: replace(getattr(found, name), state="doubtful")
        for name in ("new_items", "these_items")
    }
    text = words_of(plan_report(replace(found, doubts=("one class more fits",), **goals), IDS))
    assert "Caution. Doubtful: One class more fits." in text
    assert "That is above the target of 85.0%, but doubtful: see below." in text
    assert "Good." not in text
    assert "is reached" not in text


def test_a_reached_target_is_shown_beside_the_largest_class() -> None:
    text = words_of(plan_report(plan_result(0.85), IDS))
    assert "is reached. Always predicting the largest class would get 60%." in text


def test_the_curve_says_how_far_it_is_from_its_points() -> None:
    found = plan_result(0.85)
    text = words_of(plan_report(found, IDS))
    for law in found.forecasts:
        assert f"It is at most {law.miss:.1f} standard errors from a dot" in text
    assert "may lie beside" not in text


def test_the_curve_goes_on_to_the_answers_that_are_needed(monkeypatch) -> None:
    drawn: list[float] = []
    draw = charts.learning_curve

    def watched(*curve, fitted, **more) -> str:
        drawn.append(fitted[0][-1])
        return draw(*curve, fitted=fitted, **more)

    monkeypatch.setattr(charts, "learning_curve", watched)
    found = plan_result(0.915)
    plan_report(found, IDS)
    needed = found.new_items.needed
    assert needed is not None
    everything = found.n_answers + needed.estimate
    assert everything < drawn[0] < min(1.3 * everything, 4.0 * found.n_answers)


def test_nearly_all_is_not_called_all() -> None:
    found = plan_result(0.85)
    sure = Interval(0.9996, 0.9951, 0.9999, 0.9)
    goal = replace(found.new_items, now=sure, ceiling=sure)
    assert "now about >0.999 [0.995, >0.999]" in statement(goal, 0.85)
    text = words_of(plan_report(replace(found, new_items=goal), IDS))
    assert "about >99.9% of new items are classified correctly (99.5 to >99.9%)" in text


def test_what_cannot_be_told_is_said_so() -> None:
    found = plan_result(0.9)
    unclear = replace(found.new_items, state="open", needed=None, reachable=0.4)
    text = words_of(plan_report(replace(found, new_items=unclear), IDS))
    assert "These answers do not show whether" in text
    assert "above the target with probability 40%" in text


def test_the_band_is_the_accuracy_at_every_size() -> None:
    law = plan_result().forecasts[0]
    middle, low, high = law.band(np.array([200.0, 900.0]))
    assert middle[1] == pytest.approx(0.91, abs=0.003)
    for k, n in enumerate((200, 900)):
        one = law.accuracy(n)
        assert (one.estimate, one.low, one.high) == (middle[k], low[k], high[k])


def test_ids_cannot_break_out_of_the_page() -> None:
    found = plan_result()
    html = plan_report(found, [HOSTILE] * 40, None, found.next_pairs(3))
    assert "<script>alert" not in html
    check_page(html)


def test_prices_and_infinite_ends() -> None:
    goal = replace(
        plan_result(0.915).new_items,
        state="more",
        needed=Interval(100.0, 50.0, float("inf"), level=0.9),
    )
    assert "takes about 100 [50, no limit] further answers, at a cost of 5.00 [2.50, no limit]" in (
        statement(goal, 0.915, 0.05)
    )
    assert price_of(goal, None) is None
    data = as_dict(replace(plan_result(0.915), new_items=goal), 0.05, IDS, None)
    assert data["new_items"]["cost"] == {"estimate": 5.0, "low": 2.5, "high": None}
    assert data["noise"]["similar_flip"] == 0.1
    assert data["next"] is None
