"""The report of a fit: the answer first, every part in its place, every reservation stated."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape

import pytest

from noisypairs.app.encoding import ColumnPlan
from noisypairs.app.fit.result import Calibration, ClassNumber, ReliabilityBin
from noisypairs.app.model_card import card
from noisypairs.app.report.advice import by_suspicion
from noisypairs.app.report.page import LONGEST_CELL, is_generated
from noisypairs.app.report.pages import fit_report
from noisypairs.assess.verdict import Check
from noisypairs.estimation import Interval
from tests.app.page_reader import check_page, rows_of, section_of, tables_of, text_of, words_of
from tests.app.report.report_problems import HOSTILE, fit_result, with_fields

ORDER = [
    "The classes",
    "The data",
    "How wrong the answers are",
    "How good the model is",
    "Are its probabilities right?",
    "Who answered",
    "Answers to look at again",
    "How to read this",
]


@pytest.fixture(scope="module")
def html() -> str:
    return fit_report(fit_result())


def lead_of(html: str) -> str:
    return text_of(re.search(r'<p class="lead">.*?</p>', html, re.DOTALL)[0])


def people(**fields) -> str:
    """Return the section on annotators, where these fields of the table are replaced."""
    found = replace(fit_result().evidence.annotators, **fields)
    return fit_report(with_fields(fit_result(), annotators=found))


def test_the_answer_comes_first_then_the_parts_in_order(html):
    text = words_of(html)
    found = [m.strip() for m in re.findall(r"<h2[^>]*>([^<]*)</h2>", html)]
    assert found == ORDER
    parts = ("right (estimated) 93%", "answers imply 2 groups", "90 to 96%")
    places = [text.index(part) for part in parts]
    assert max(places) < text.index("How wrong the answers are")
    assert is_generated(html, "noisypairs fit")


def test_the_numbers_of_the_result_are_on_the_page(html):
    result, text = fit_result(), words_of(html)
    for part in (
        f"{result.data.n_pairs:,} answers",
        "20% (18 to 23%) are called different",
        "10% (8 to 13%) are called same",
        "Share of class other: 55 to 65% at 95% confidence",
        f"{result.data.audit.contradictions:,}",
        "From left-out items.",
        "77 answers are more likely wrong than right",
        "321 held-out answers",
        "“item” is same",
        "SHA-256: items ab12; pairs cd34",
        "seed 3",
    ):
        assert part in text, part


def test_every_picture_is_there_and_described(html):
    assert html.count("<svg") == html.count("<figcaption") == 4
    assert len(re.findall(r'role="img" aria-label="[^"]{40,}"', html)) == 4


def test_words_from_files_cannot_break_out():
    html = fit_report(fit_result(HOSTILE))
    page = check_page(html)
    assert [tag for tag, _ in page.tags].count("script") == 1  # our own
    assert "".join(page.text).count("<script>alert") > 10
    assert "\x00" not in html
    assert "\x1b" not in html


def test_a_report_is_the_same_every_time(html):
    assert fit_report(fit_result()) == html


# ---------------------------------------------------------------- may it be trusted?


def test_the_verdict_opens_the_page(html):
    said = words_of(html)
    assert re.search(r"Consistent\W+The answers imply 2 groups", said)
    assert "name 2 items that were drawn at random" in said
    bad = Check("held-out items", False, "do not rely on this model yet", "problem")
    result = replace(fit_result(), verdict=fit_result().verdict.with_checks([bad]))
    assert re.search(r"Problem\W+Do not rely on this model yet.", words_of(fit_report(result)))
    assert "**Problem**: Do not rely" in card({"noisypairs_model": 1, **result.facts})


def test_no_accuracy_is_said_on_the_page():
    result = with_fields(fit_result(), accuracy=None, accuracy_how="the prior is near ½")
    html = fit_report(result)
    assert lead_of(html).endswith("cannot be estimated from these answers.")
    assert "No estimate: The prior is near ½." in section_of(html, "How good the model is")
    check_page(html)


def test_nearly_all_is_not_called_all():
    result = with_fields(fit_result(), accuracy=Interval(0.996, 0.9951, 0.9996, 0.9))
    html = fit_report(result)
    shown = lead_of(html), card({"noisypairs_model": 1, **result.facts})
    for text in (*shown, *re.findall(r"<figcaption>Estimated.*?</figcaption>", html)):
        assert "100" not in text.replace("SHA", "")
    found = "Estimated accuracy 99.6% (99.5 to >99.9% at 90% confidence)"
    assert found in words_of(html)
    assert "of new items right (estimated) 99.6% 99.5 to >99.9%" in words_of(fit_report(result))


# ---------------------------------------------------------------- parts that may be missing


def test_without_bins_annotators_and_suspects_the_page_says_so():
    bare = with_fields(
        fit_result(),
        reliability=(),
        annotators=None,
        suspects=(),
        n_suspects=0,
        notes=(),
        features=(),
        prior=None,
    )
    text = words_of(fit_report(bare))
    for part in (
        "too few held-out answers for this",
        "do not say who gave them",
        "No answer is more likely wrong than right",
    ):
        assert part in text, part


def test_one_test_decides_whether_the_probabilities_hold():
    off = ReliabilityBin(0.5, Interval(0.7, 0.6, 0.8), 50)
    found = fit_result().evidence
    bins = (*found.reliability, off)

    def said_of(**fields) -> str:
        html = fit_report(with_fields(fit_result(), reliability=bins, **fields))
        return section_of(html, "Are its probabilities right?")

    held = said_of()
    assert "No sign of miscalibration" in held  # a group that is off does not decide
    assert "p = 0.549" in held
    assert "raises a false alarm in at most 5% of cases" in held
    failed = Calibration(statistic=20.0, degrees=2, p_value=4.5e-5, level=0.05)
    said = said_of(calibration=failed)
    assert "The probabilities are miscalibrated" in said
    assert "differ by up to 20%" in said
    assert "p = below 0.001" in said


def test_answers_that_say_next_to_nothing_are_called_so():
    noise = fit_result().model.noise
    useless = replace(
        noise, similar_flip=Interval(0.6, 0.5, 0.7), dissimilar_flip=noise.similar_flip
    )
    weak = replace(useless, dissimilar_flip=Interval(0.4, 0.3, 0.5), has_interval=False)
    text = words_of(fit_report(with_fields(fit_result(), noise=weak)))
    assert "carry almost no information" in text
    assert "60% are called different" in text  # and no interval where there is none
    assert "no interval" in text


def test_named_classes_are_said_to_be_named():
    known = with_fields(fit_result(), names_known=True, n_labels=4)
    text = words_of(fit_report(known))
    assert "named after 4 items of known class" in text
    assert "--labels" not in text


# ---------------------------------------------------------------- annotators and suspects


def test_suspect_annotators_come_first_and_the_crowd_last(html):
    found = fit_result().evidence.annotators
    rows = rows_of(html, "annotator", "verdict", "answers")
    assert {row[0] for row in rows[: len(found.suspects)]} == set(map(str, found.suspects))
    worth = [found.rows[r].informativeness.estimate for r in by_suspicion(found)]
    assert worth[len(found.suspects) :] == sorted(worth[len(found.suspects) :])
    assert rows[-1][0] == "all together"
    assert len(rows) == len(found) + 1


def test_a_crowd_without_suspects_is_said_to_have_none():
    found = fit_result().evidence.annotators
    honest = people(rows=tuple(replace(row, verdict="honest") for row in found))
    assert "Nobody stands out" in section_of(honest, "Who answered")


def test_of_a_long_crowd_everybody_is_in_the_table_and_some_in_the_picture():
    (first, *_) = fit_result().evidence.annotators.rows
    html = people(rows=tuple(replace(first, name=k, verdict="spammer") for k in range(30)))
    assert len(rows_of(html, "annotator", "verdict", "answers")) == 30 + 1
    assert "20 of the 30 annotators" in section_of(html, "Who answered")
    assert "30 stand out: 30 spammers (0, 1, 2, 3, 4 and 25 more)." in words_of(html)


def test_those_with_too_few_answers_are_counted_not_judged():
    found = fit_result().evidence.annotators
    few = people(rows=tuple(replace(row, verdict="too few answers") for row in found))
    said = "Nobody stands out. 8 of 8 gave too few answers to be judged one by one."
    assert said in section_of(few, "Who answered")


def test_many_columns_treated_alike_share_a_line():
    many = tuple(ColumnPlan(f"f{k:02d}", "number", "scaled") for k in range(40))
    text = words_of(fit_report(with_fields(fit_result(), features=many)))
    assert "f00, f01, f02, f03, f04, …, f39 (40 columns)" in text
    assert "f20" not in text


def card_of(suspect, **fields) -> tuple[str, list[list[str]], str, list[str]]:
    """Return heading, rows, words and values to sort by of the one card of a suspect answer."""
    html = fit_report(with_fields(fit_result(), suspects=(suspect,), **fields))
    (article,) = re.findall(r"<article.*?</article>", html, re.DOTALL)
    keys = json.loads(unescape(re.search(r'data-keys="([^"]*)"', article)[1]))
    heading = unescape(re.search(r"<h3>(.*?)</h3>", article)[1])
    return heading, tables_of(article)[0], text_of(article), [text for text, _ in keys]


def test_suspect_answers_show_both_items_who_answered_and_never_certainty():
    (suspect,) = fit_result().evidence.suspects
    heading, rows, text, keys = card_of(suspect)
    assert heading == "Called same by item: over 99% likely wrong"
    assert rows == [["", "item", "b"], ["item", "1.5", "1.5"], ["colour", "item", "item"]]
    assert text.endswith("2 of 2 other answers to this pair say different.")
    assert keys == ["over 99%", "wrong", "same", "item", "others disagree", "item"]
    heading, rows, *_ = card_of(replace(suspect, annotator=None, left_features={}))
    assert heading == "Called same: over 99% likely wrong"
    assert rows[1] == ["item", "–", "1.5"]


def test_a_hard_pair_is_not_called_wrong():
    (suspect,) = fit_result().evidence.suspects
    hard = replace(suspect, verdict="hard", expected_error=0.45)
    heading, *_, keys = card_of(hard)
    assert heading == "Called same by item: a hard pair"
    assert keys[1] == "hard"
    html = fit_report(with_fields(fit_result(), suspects=(hard,), n_hard=3))
    said = "3 of them are about hard pairs, on which most people err"
    assert said in words_of(html)


def test_items_of_many_columns_are_cut_and_the_rest_counted():
    wide = {f"f{k}": "x" * 500 for k in range(20)}
    (suspect,) = fit_result().evidence.suspects
    _, (_, *rows), *_ = card_of(replace(suspect, left_features=wide))
    assert len(rows) == 12 + 1
    assert rows[-1] == ["10 more columns", "…", "…"]
    assert len(rows[0][1]) == LONGEST_CELL


def test_what_the_rates_cannot_show_is_said_beside_them():
    result = fit_result()
    assert "agree more than independent errors would" not in words_of(fit_report(result))
    tiny = Interval(0.001, 0.0, 0.004, 0.9)
    rates = {"similar_flip": tiny, "dissimilar_flip": tiny}
    noise = replace(result.model.noise, repeat_correlation=0.4, **rates)
    doubtful = with_fields(result, noise=noise)
    text = words_of(fit_report(doubtful))
    assert "agree more than independent errors would (correlation 0.40)" in text
    assert "answers alone cannot show it" in text


def test_copies_are_in_the_table_of_the_data():
    result = fit_result()
    audit = replace(result.data.audit, copies=3, copies_removed=12)
    text = words_of(fit_report(with_fields(result, audit=audit)))
    assert "copied answers 15 12 left out, 3 kept" in text


def test_how_the_number_of_classes_was_chosen_stands_with_the_classes():
    result = fit_result()
    number = ClassNumber(2, {"2": -50.0, "3": -52.0})
    page = words_of(fit_report(with_fields(result, class_number=number)))
    start, end = page.rindex("The classes"), page.rindex("How good the model is")
    assert "2 classes: a third is not supported by held-out answers." in page[start:end]


def test_the_first_screen_says_who_answers_badly_and_what_to_do_next():
    commands = ["noisypairs predict m.skops NEW_ITEMS.csv -o predicted.csv"]
    html = fit_report(fit_result(), commands=commands)
    start = words_of(html).partition("How wrong the answers are")[0]
    assert "Annotators to look at. 1 stands out: 1 spammer" in start
    assert f"What to do next. {commands[0]}" in start
    alone = fit_report(with_fields(fit_result(), annotators=None))
    assert "Annotators to look at" not in alone
    assert "What to do next" not in alone
