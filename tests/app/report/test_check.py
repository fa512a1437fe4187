"""The page of a check: what is wrong first, then methods, noise, answers, items and files."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from noisypairs import PairingNoise
from noisypairs.app.check import Feasibility, NoiseFound, check
from noisypairs.app.report.page import is_generated
from noisypairs.app.report.pages import check_report
from noisypairs.estimation import Interval
from tests.app.fit.fit_problems import write_files
from tests.app.page_reader import words_of


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return check(write_files(tmp_path_factory.mktemp("files"), 40, 200).read(), fit=False)


def test_the_page_says_what_is_wrong_before_what_it_was_found_in(found):
    html = check_report(replace(found, problems=("the first", "the second")))
    assert is_generated(html, "noisypairs check")
    assert re.findall(r"<h2[^>]*>([^<]*)</h2>", html) == [
        "Findings",
        "Which methods can work",
        "How wrong the answers are",
        "The answers",
        "The items",
        "The files",
    ]
    text = words_of(html)
    assert "answers about 40 items by 3 annotators. 2 findings." in text
    assert "The first. The second." in text
    assert f"{found.audit.contradictions}" in text
    assert "“yes” is same" in text
    assert "items.csv" in text
    assert str(found.dataset.sources[0]["path"]) not in html  # nobody's folders


@pytest.mark.parametrize(
    ("outlook", "word"),
    [
        ("works", "Consistent."),
        ("doubtful", "Caution."),
        ("fails", "Problem."),
        ("not tried", "Note."),
    ],
)
def test_the_outlook_of_the_joint_learner_is_the_verdict(found, outlook, word):
    joint = Feasibility("joint", outlook, "for this reason")
    text = words_of(check_report(replace(found, methods=(joint, *found.methods[1:]))))
    assert re.search(rf"{re.escape(word)} The joint learner [a-z ]+: For this reason\.", text)


def test_noise_that_was_found_is_shown_with_its_intervals(found):
    rate = Interval(0.2, 0.15, 0.26)
    prior = Interval(7 / 12, 0.5, 0.7, 0.9)
    noise = NoiseFound("joint learner", PairingNoise(0.2, 0.2), rate, rate, prior)
    text = words_of(check_report(replace(found, noise=noise, no_noise=None, problems=())))
    assert "same pairs called different 20% (15 to 26%)" in text
    assert (
        "0.100: for a point-wise method about 100 answers carry the information of one label"
        in text
    )
    assert "No findings." in text
    unknown = words_of(check_report(replace(found, noise=None, no_noise="too few pairs")))
    assert "cannot be identified from these pairs: Too few pairs." in unknown
