"""The page of a crowd: who stands out as what, who cannot be judged, and what to do about it."""

from __future__ import annotations

import re
from dataclasses import replace

from noisypairs.annotators import ANOTHER, KINDS, UNDECIDED
from noisypairs.annotators.crowd import Crowd
from noisypairs.app.report.advice import MEANINGS, by_suspicion, crowd_answer, meanings
from noisypairs.app.report.page import is_generated
from noisypairs.app.report.pages import annotators_report
from tests.app.page_reader import check_page, words_of
from tests.app.report.report_problems import HOSTILE, crowd


def with_verdicts(*verdicts: str) -> Crowd:
    """Return the crowd with these verdicts given to its first annotators, the rest honest."""
    found = crowd()
    given = [*verdicts, *["honest"] * (len(found.table) - len(verdicts))]
    rows = zip(found.table.rows, given, strict=True)
    table = replace(found.table, rows=tuple(replace(row, verdict=v) for row, v in rows))
    return replace(found, table=table)


def test_the_page_has_its_parts_in_order() -> None:
    html = annotators_report(crowd(), ["a note"])
    assert is_generated(html, "noisypairs annotators")
    assert [heading.strip() for heading in re.findall(r"<h2[^>]*>([^<]*)</h2>", html)] == [
        "Annotators",
        "Model behind the verdicts",
        "What the verdicts mean",
        "Agreement with others on the same pairs",
        "If an annotator were dropped",
        "Errors on pairs of known truth",
        "Annotators with the same errors",
        "How to read this",
        "Notes",
    ]
    assert "20 annotators gave 3,000 answers" in words_of(html)


def test_every_verdict_has_a_meaning() -> None:
    assert list(MEANINGS) == [*KINDS, ANOTHER, UNDECIDED]


def test_people_who_answer_another_question_are_named_and_do_not_stand_out() -> None:
    found = with_verdicts("spammer", ANOTHER, ANOTHER)
    told = crowd_answer(found)
    assert "2 people answer another question: they agree with each other" in told
    assert "1 stands out: 1 spammer (0)." in told


def test_those_who_stand_out_are_named_by_what_they_do() -> None:
    found = with_verdicts("spammer", "always-same", "spammer", "reversed", UNDECIDED, UNDECIDED)
    told = crowd_answer(found)
    assert "4 stand out: 2 spammers (0 and 2), 1 always-same (1) and 1 reversed (3)." in told
    assert "2 gave too few answers to be judged one by one." in told
    rows = {verdict: n for verdict, n, *_ in meanings(found.table)}
    assert rows == {"honest": 14, "spammer": 2, "always-same": 1, "reversed": 1, UNDECIDED: 2}
    first = [found.table.rows[r].verdict for r in by_suspicion(found.table)[:4]]
    assert sorted(first) == ["always-same", "reversed", "spammer", "spammer"]


def test_a_crowd_that_cannot_be_judged_is_not_accused() -> None:
    found = replace(with_verdicts(*[UNDECIDED] * 20), without_suspects=None)
    told = crowd_answer(found)
    assert told.endswith("Nobody stands out. All gave too few answers to be judged one by one.")


def test_everybody_of_a_long_crowd_is_in_every_table() -> None:
    found = crowd()
    rows = (replace(row, name=f"w{k}") for k, row in enumerate(found.table.rows * 3))
    many = replace(found.table, rows=tuple(rows))
    long = replace(
        found,
        table=many,
        agreement=found.agreement * 3,
        rest_accuracy=found.rest_accuracy * 3,
        gold=None,
    )
    html = annotators_report(long)
    assert all(html.count(f">w{k}</th>") == 3 for k in range(60))


def test_names_cannot_break_out_of_the_page() -> None:
    found = crowd()
    rows = tuple(replace(row, name=f"{HOSTILE}{k}") for k, row in enumerate(found.table.rows))
    html = annotators_report(replace(found, table=replace(found.table, rows=rows)), [HOSTILE])
    assert "<script>alert" not in html
    check_page(html)
