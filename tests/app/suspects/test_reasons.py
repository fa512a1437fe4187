"""Reasons: what each says, when it speaks against an answer, and how to add one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from noisypairs.app.suspects import Clue, Reason, reasons
from noisypairs.app.suspects.reasons import HARD, NO_SINGLE, explained

NOTHING = Clue(True, 0, 0, 0, 0, None, None, None, None)


@pytest.mark.parametrize(
    ("known", "doubts", "said"),
    [
        ({"others_different": 1}, "others disagree", "The only other answer to this pair says"),
        ({"others_same": 1}, None, "The only other answer to this pair does not say different."),
        ({"others_same": 1, "others_different": 2}, "others disagree", "2 of 3 other answers"),
        ({"links_same": 1, "links_different": 1}, None, "1 of 2 items compared with both points"),
        ({"links_different": 3}, "links disagree", "3 of 3 items compared with both point to"),
        ({"features_same": 0.03}, "features disagree", "are of one class with 3%."),
        ({"features_same": 0.999}, None, "are of one class with over 99%."),
        (
            {"annotator": "p7", "annotator_answers": 40, "annotator_wrong": 0.6},
            "annotator often wrong",
            "Of the 40 answers of p7, 60% look wrong.",
        ),
        ({"annotator": "p7", "annotator_answers": 40, "annotator_wrong": 0.1}, None, "10% look"),
        ({"expected_error": 0.46}, "hard pair", "The pair is hard: by the model, 46% of all"),
    ],
)
def test_a_reason_says_what_is_known_and_doubts_what_contradicts(known, doubts, said):
    names, sentences = explained(replace(NOTHING, **known))
    assert names == (() if doubts is None else (doubts,))
    assert said in sentences[-1]
    assert (sentences[0] == NO_SINGLE) == (doubts is None)


def test_a_pair_is_hard_where_people_err_often_and_then_nobody_is_wrong():
    easy, hard = (replace(NOTHING, expected_error=error) for error in (HARD - 0.01, HARD))
    assert (NOTHING.verdict, easy.verdict, hard.verdict) == ("wrong", "wrong", "hard")
    assert explained(easy) == ((), (NO_SINGLE,))


def test_for_the_other_answer_the_same_clues_speak_the_other_way():
    clue = replace(NOTHING, same=False, others_same=2, links_same=1, features_same=0.9)
    assert explained(clue)[0] == ("others disagree", "links disagree", "features disagree")


def test_a_reason_of_ones_own_is_one_object(monkeypatch):
    mine = Reason("old pair", lambda clue: f"{clue.others_same} said same.", lambda _: True)
    monkeypatch.setattr(reasons, "REASONS", (*reasons.REASONS, mine))
    assert explained(NOTHING) == (("old pair",), ("0 said same.",))
