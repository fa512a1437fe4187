"""Which pair comes next: never the same twice but on purpose, and never a wait."""

from __future__ import annotations

import collections
from datetime import timedelta

import pytest

from noisypairs.app.ask import questions
from noisypairs.app.ask.fits import Estimate
from noisypairs.app.ask.questions import CHOSEN, RANDOM, REPEAT, Pick
from tests.app.ask.ask_problems import answer, open_site, write_items


def asked(site, person):
    shown = site.project.shown
    return site.questions.current(person, shown.numbers, shown.row_of)


def pair_of(question):
    return tuple(sorted((question.left, question.right)))


def test_the_same_question_stays_until_it_is_answered(tmp_path):
    site = open_site(tmp_path)
    ann = site.people.add("ann")
    first = asked(site, ann)
    assert asked(site, ann) == first
    assert first.kind == RANDOM
    assert first.chance is None
    site.answers.record(ann, first.number, "same", 1.0, False)
    assert pair_of(asked(site, ann)) != pair_of(first)


def test_every_pair_is_asked_once_and_then_none_is_left(tmp_path):
    write_items(tmp_path, 5)
    site = open_site(tmp_path)
    ann, bob = site.people.add("ann"), site.people.add("bob")
    seen = [answer(site, (ann, bob)[k % 2], "same")[1:] for k in range(10)]
    assert len({tuple(sorted(pair)) for pair in seen}) == 10
    assert asked(site, ann) is None
    assert asked(site, bob) is None


def test_what_somebody_skips_is_asked_of_others_and_not_of_them(tmp_path):
    write_items(tmp_path, 3)
    site = open_site(tmp_path)
    ann, bob = site.people.add("ann"), site.people.add("bob")
    for _ in range(3):
        answer(site, ann, "skip")
    assert asked(site, ann) is None
    assert asked(site, bob) is not None


def test_two_people_have_two_pairs_open_and_neither_waits(tmp_path):
    write_items(tmp_path, 3)
    site = open_site(tmp_path)
    people = [site.people.add(name) for name in "abc"]
    assert len({pair_of(asked(site, one)) for one in people}) == 3
    assert asked(site, site.people.add("d")) is None  # all three are with somebody


def test_a_pair_that_somebody_left_open_is_asked_of_others(tmp_path, monkeypatch):
    write_items(tmp_path, 3)
    site = open_site(tmp_path)
    for name in "abc":
        asked(site, site.people.add(name))
    monkeypatch.setattr(questions, "ABANDONED", -questions.ABANDONED)
    assert asked(site, site.people.add("d")) is not None


def test_the_queue_is_followed_in_its_order_and_passes_over_what_is_answered(tmp_path):
    site = open_site(tmp_path)
    ann = site.people.add("ann")
    _, left, right = answer(site, ann, "same")
    known = tuple(sorted((left, right)))
    fresh = [(1, k) for k in range(2, 9) if (1, k) != known][:3]
    batch = [Pick(*known, CHOSEN, 0.5), *(Pick(*pair, CHOSEN, 0.25) for pair in fresh)]
    site.fits.add(1, Estimate(0.95), [], batch)
    found = []
    for _ in fresh:
        question = asked(site, ann)
        found.append((pair_of(question), question.kind, question.chance))
        site.answers.record(ann, question.number, "different", 1.0, False)
    assert found == [(pair, CHOSEN, 0.25) for pair in fresh]
    assert asked(site, ann).kind == RANDOM


def test_a_new_batch_takes_the_place_of_the_old_one(tmp_path):
    site = open_site(tmp_path)
    site.fits.add(0, Estimate(0.95), [], [Pick(1, 2, CHOSEN), Pick(1, 3, CHOSEN)])
    site.fits.add(0, Estimate(0.95), [], [Pick(4, 5, CHOSEN)])
    assert site.fits.waiting() == 1
    assert pair_of(asked(site, site.people.add("ann"))) == (4, 5)


def test_pairs_of_items_that_are_gone_are_not_asked(tmp_path):
    site = open_site(tmp_path)
    ann = site.people.add("ann")
    site.fits.add(0, Estimate(0.95), [], [Pick(1, 2, CHOSEN), Pick(3, 4, CHOSEN)])
    shown = site.project.shown
    left = [number for number in shown.numbers if number != 2]
    assert pair_of(site.questions.current(ann, left, set(left))) == (3, 4)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_stated_share_is_asked_of_a_second_person(tmp_path, share):
    """With share p over 100 questions a count beyond 3.3 standard deviations: under 1 in 1000."""
    write_items(tmp_path, 60)
    site = open_site(tmp_path, repeated=share)
    site.questions = questions.Questions(site.project.database, share, seed=1)
    ann, bob = site.people.add("ann"), site.people.add("bob")
    for _ in range(100):
        answer(site, ann, "same")
    kinds = collections.Counter()
    for _ in range(100):
        kinds[asked(site, bob).kind] += 1
        answer(site, bob, "same")
    assert abs(kinds[REPEAT] - 100 * share) <= 3.3 * (100 * share * (1 - share)) ** 0.5
    assert site.answers.agreement() == (kinds[REPEAT],) * 2


def test_nobody_is_asked_their_own_pair_again(tmp_path):
    site = open_site(tmp_path, repeated=1.0)
    ann = site.people.add("ann")
    seen = [tuple(sorted(answer(site, ann, "same")[1:])) for _ in range(20)]
    assert len(set(seen)) == 20


def test_either_item_may_come_first(tmp_path):
    site = open_site(tmp_path)
    ann = site.people.add("ann")
    orders = {left < right for _, left, right in (answer(site, ann, "same") for _ in range(20))}
    assert orders == {True, False}  # one in 500,000 to fail


@pytest.fixture
def site(tmp_path):
    return open_site(tmp_path)


def test_a_chosen_pair_that_nobody_answers_is_asked_of_others(site, monkeypatch):
    site.fits.add(0, Estimate(0.95), [], [Pick(4, 5, CHOSEN, 0.5)])
    ann, bob, eve = (site.people.add(name) for name in ("ann", "bob", "eve"))
    assert pair_of(asked(site, ann)) == (4, 5)
    assert asked(site, bob).kind == RANDOM  # ann has it
    site.project.database.run("UPDATE questions SET open = 0 WHERE person = ?", bob.number)
    monkeypatch.setattr(questions, "ABANDONED", timedelta(seconds=-1))
    again = asked(site, bob)
    assert (pair_of(again), again.kind, again.chance) == ((4, 5), CHOSEN, 0.5)
    monkeypatch.undo()
    assert asked(site, eve).kind == RANDOM  # now bob has it


def test_a_pair_that_somebody_blocked_has_open_is_asked_of_others_at_once(site):
    site.fits.add(0, Estimate(0.95), [], [Pick(4, 5, CHOSEN, 0.5)])
    ann, bob = site.people.add("ann"), site.people.add("bob")
    assert pair_of(asked(site, ann)) == (4, 5)
    site.people.change(ann.number, "block")
    assert pair_of(asked(site, bob)) == (4, 5)


def test_pairs_of_answers_that_are_left_out_are_asked_again(tmp_path):
    write_items(tmp_path, 3)
    site = open_site(tmp_path)
    ann, bob = site.people.add("ann"), site.people.add("bob")
    for _ in range(3):
        answer(site, ann, "same")
    assert asked(site, bob) is None
    site.people.change(ann.number, "leave out")
    assert site.answers.count() == 0
    assert asked(site, bob) is not None
    site.people.change(ann.number, "restore")
    assert site.answers.count() == 3
