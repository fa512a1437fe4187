"""Answers: kept once, undone by their owner alone, counted, listed and exported."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from noisypairs.app.ask.learning import pairs_of
from noisypairs.app.ask.people import Refused
from noisypairs.app.files import BadFile, read_dataset
from tests.app.ask.ask_problems import answer, open_site


@pytest.fixture
def site(tmp_path):
    return open_site(tmp_path)


def asked(site, person):
    shown = site.project.shown
    return site.questions.current(person, shown.numbers, shown.row_of)


def test_an_answer_keeps_who_when_how_long_and_what_the_model_thought(site):
    ann = site.people.add("ann")
    question = asked(site, ann)
    site.project.database.run("UPDATE questions SET chance = 0.75, kind = 'chosen'")
    site.answers.record(ann, question.number, "same", 2.5, True)
    (row,) = site.answers.csv().splitlines()[1:]
    left, right, said, who, when, seconds, chance, shown, *kind = row.split(",")
    ids = {site.project.shown.row_of[n]: n for n in (question.left, question.right)}
    assert {left, right} == {site.project.shown.ids[r] for r in ids}
    assert (said, who, seconds, chance, shown) == ("same", "ann", "2.5", "0.75", "1")
    assert kind == ["chosen", "1"]
    assert when.endswith("+00:00")


@pytest.mark.parametrize("seconds", [None, -1, float("nan"), "3", 1e9, 10**400, True])
def test_a_time_that_is_none_is_counted_since_the_question(site, seconds):
    ann = site.people.add("ann")
    site.answers.record(ann, asked(site, ann).number, "same", seconds, False)
    ((kept,),) = site.project.database.rows("SELECT seconds FROM answers")
    assert 0 <= kept <= 5


def test_the_same_answer_again_changes_nothing_and_another_one_is_refused(site):
    ann = site.people.add("ann")
    number = asked(site, ann).number
    first = site.answers.record(ann, number, "same", 1.0, False)
    assert site.answers.record(ann, number, "same", 9.0, False) == first
    with pytest.raises(Refused, match="answered already") as refusal:
        site.answers.record(ann, number, "different", 1.0, False)
    assert refusal.value.status == 409
    assert site.answers.count() == 1


@pytest.mark.parametrize(
    ("question", "said", "status"),
    [
        (1, "yes", 400),
        (1, ["same"], 400),
        ("1", "same", 400),
        (True, "same", 400),
        (99, "same", 404),
        (-1, "same", 400),
        (2**63, "same", 400),
    ],
)
def test_what_is_no_answer_to_an_open_question_is_refused(site, question, said, status):
    asked(site, site.people.add("ann"))
    ann = site.people.named("ann")
    with pytest.raises(Refused) as refusal:
        site.answers.record(ann, question, said, 1.0, False)
    assert refusal.value.status == status
    assert site.answers.count() == 0


def test_nobody_answers_or_undoes_for_another(site):
    ann, bob = site.people.add("ann"), site.people.add("bob")
    with pytest.raises(Refused, match="no such question for you"):
        site.answers.record(bob, asked(site, ann).number, "same", 1.0, False)
    number, *_ = answer(site, ann, "same")
    with pytest.raises(Refused, match="no such answer of yours"):
        site.answers.undo(bob, number, site.questions)
    assert site.answers.count(ann) == 1


@pytest.mark.parametrize(("answer", "status"), [("1", 400), (True, 400), (2**63, 400), (9, 404)])
def test_what_is_no_own_answer_cannot_be_undone(site, answer, status):
    with pytest.raises(Refused) as refusal:
        site.answers.undo(site.people.add("ann"), answer, site.questions)
    assert refusal.value.status == status


def test_any_own_answer_is_undone_and_its_pair_asked_again_at_once(site):
    ann = site.people.add("ann")
    numbers = [answer(site, ann, "same") for _ in range(4)]
    waiting = asked(site, ann)
    number, left, right = numbers[1]
    site.answers.undo(ann, number, site.questions)
    again = asked(site, ann)
    assert {again.left, again.right} == {left, right}
    assert site.answers.count() == 3
    site.answers.undo(ann, number, site.questions)  # twice is once
    site.answers.record(ann, again.number, "different", 1.0, False)
    assert asked(site, ann) == waiting
    said = [row[4] for row in site.answers.history(ann)]
    assert said == ["different", "same", "same", "same"]


def test_history_lists_the_last_first_in_pages(tmp_path):
    site = open_site(tmp_path)
    ann = site.people.add("ann")
    numbers = [answer(site, ann, "skip")[0] for _ in range(25)]
    first = [row[0] for row in site.answers.history(ann)]
    rest = [row[0] for row in site.answers.history(ann, first[-1])]
    assert first + rest == numbers[::-1]
    assert len(first) == 20


def test_the_store_and_its_export_are_read_alike_without_skips_and_undone_answers(site, tmp_path):
    ann, bob = site.people.add("=ann"), site.people.add("bob")
    given = [
        answer(site, (ann, bob)[k % 2], ("same", "different", "unsure", "skip")[k % 4])
        for k in range(24)
    ]
    site.answers.undo(ann, given[0][0], site.questions)
    assert site.answers.count() == 11
    exported = tmp_path / "answers.csv"
    exported.write_text(site.answers.csv(), encoding="utf-8")
    items = tmp_path / "items.csv"
    stored, written = (read_dataset(items, path) for path in (tmp_path / "answers.db", exported))
    assert stored.format == "ask"
    for data in (stored, written):
        assert data.pairs.n_pairs == 11
        assert set(data.annotator_names) == {"=ann", "bob"}
        assert any("6 answers missing or unsure, left out" in note for note in data.notes)
    assert stored.pairs.left.tolist() == written.pairs.left.tolist()
    assert stored.pairs.same.tolist() == written.pairs.same.tolist()


def test_tallies_count_everybody_also_who_has_said_nothing(site):
    ann = site.people.add("ann")
    site.people.add("bob")
    for said in ("same", "same", "different", "unsure", "skip"):
        number, *_ = answer(site, ann, said)
    site.answers.undo(ann, number, site.questions)
    assert site.answers.tallies() == [(1, 2, 1, 1, 0, 1, 1.0), (2, 0, 0, 0, 0, 0, None)]


@pytest.mark.parametrize(("ago", "kept"), [(100.0, 100.0), (-100.0, 0.0)])
def test_the_time_since_the_question_is_kept_and_never_negative(site, ago, kept):
    """A clock may have been put back since."""
    ann = site.people.add("ann")
    question = asked(site, ann).number
    at = (datetime.now(UTC) - timedelta(seconds=ago)).isoformat(timespec="milliseconds")
    site.project.database.run("UPDATE questions SET asked_at = ?", at)
    site.answers.record(ann, question, "same", None, False)
    ((seconds,),) = site.project.database.rows("SELECT seconds FROM answers")
    assert seconds == pytest.approx(kept, abs=3.0)


def test_grades_are_kept_exported_and_read_as_levels(tmp_path):
    site = open_site(tmp_path, scale="4")
    ann = site.people.add("ann")
    said = ["4", "1", "unsure", "3", "skip"]
    numbers = [answer(site, ann, one)[0] for one in said]
    with pytest.raises(Refused, match="one of 1, 2, 3, 4, unsure, skip"):
        answer(site, ann, "same")
    assert [row[4] for row in site.answers.history(ann)] == said[::-1]
    assert [(one.same, one.grade) for one in site.answers.telling()] == [
        (True, "4"),
        (False, "1"),
        (True, "3"),
    ]
    with pytest.raises(Refused, match="answered already"):
        site.answers.record(ann, 1, "3", 1.0, False)  # a grade of the same side is another answer
    assert site.answers.record(ann, 1, "4", 1.0, False) == numbers[0]
    data = read_dataset(tmp_path / "items.csv", tmp_path / "answers.db")
    assert str(data.pairs.scale) == "1 < 2 < 3 < 4 (same from 3 on), unsure for unsure"
    assert data.pairs.level.tolist() == [3, 0, 4, 2]
    assert data.mapping["unsure"] == "unsure"
    pairs = pairs_of(site.project.shown, site.answers.telling(), site.project.settings.levels)
    assert pairs.level.tolist() == [3, 0, 2]


def test_a_store_goes_on_with_the_scale_that_it_has(tmp_path):
    site = open_site(tmp_path, scale="no<rather|yes")
    answer(site, site.people.add("ann"), "rather")
    site.project.database.close()
    with pytest.raises(BadFile, match=r'levels no<rather\|yes: give --scale "no<ra'):
        open_site(tmp_path)
    assert open_site(tmp_path, scale="no<rather|yes").answers.count() == 1


def test_answers_of_yes_and_no_get_no_scale_afterwards(tmp_path):
    site = open_site(tmp_path)
    answer(site, site.people.add("ann"), "same")
    site.project.database.close()
    with pytest.raises(BadFile, match="another kind, same or different: leave --scale out"):
        open_site(tmp_path, scale="4")
