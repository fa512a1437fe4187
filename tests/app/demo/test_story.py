"""The words of the demo."""

from __future__ import annotations

from dataclasses import replace

from noisypairs.app import demo


def test_when_the_joint_learner_refuses_the_words_say_so(result):
    silent = replace(
        result,
        cancer=replace(result.cancer, learnt=None),
        crowd=replace(result.crowd, worst=()),
    )
    tumours, crowd = demo.stories(silent)
    assert "nothing was learnt" in tumours.after
    assert crowd.title == "2. A crowd"


def test_methods_that_refuse_for_one_reason_share_a_footnote(result):
    refused = [row for row in result.cancer.rows if row.refusal]
    twice = replace(result.cancer, rows=(*result.cancer.rows, replace(refused[0], method="U")))
    footnotes = demo.stories(replace(result, cancer=twice))[0].footnotes
    assert footnotes[-1].startswith(f"{refused[0].method}, U: 46.8% of the answers are 'same'")
