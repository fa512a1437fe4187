"""The worker's steps: when it refits, what it leaves, and that nothing stops it."""

from __future__ import annotations

import pytest

from noisypairs.app.ask.fits import Estimate
from noisypairs.app.ask.learning import Learned
from noisypairs.app.ask.questions import CHOSEN, Pick
from noisypairs.app.ask.worker import Worker
from tests.app.ask.ask_problems import answer, open_site, write_items


class Counting:
    """Stands for the learner: remembers what it was given, and yields what it was told to."""

    def __init__(self, *found):
        self.calls, self.found = [], found

    def learn(self, shown, said, _):
        self.calls.append((len(shown.ids), len(said)))
        yield from self.found


@pytest.fixture
def site(tmp_path):
    return open_site(tmp_path)


def test_it_refits_after_some_new_answers_and_not_before(site):
    ann, learner = site.people.add("ann"), Counting(Learned(Estimate(0.95)))
    worker = Worker(site.project.settings, learner)
    assert not worker.step()
    counts = []
    for k in range(1, 31):
        answer(site, ann, "same")
        if worker.step():
            counts.append(k)
    assert counts == [1, 6, 11, 16, 21, 26]  # the queue is empty: five are enough
    assert [said for _, said in learner.calls] == counts


def test_with_pairs_waiting_it_takes_more_answers(site):
    batch = [Pick(low, low + 1, CHOSEN) for low in range(1, 12)]
    ann, learner = site.people.add("ann"), Counting(Learned(Estimate(0.95), [], batch))
    worker = Worker(site.project.settings, learner)
    counts = [k for k in range(1, 13) if answer(site, ann, "same") and worker.step()]
    assert counts == [1, 11]


def test_the_batch_is_there_before_the_judgement(site):
    seen = []

    class Looking(Counting):
        def learn(self, *_):
            yield Learned(Estimate(0.95), [], [Pick(1, 2, CHOSEN, 0.5)])
            seen.append((site.fits.waiting(), site.fits.latest().estimate.state))
            yield Learned(Estimate(0.95, "more", (0.9, 0.8, 0.95)), [{"name": "ann"}])

    answer(site, site.people.add("ann"), "same")
    assert Worker(site.project.settings, Looking()).step()
    assert seen == [(1, "learning")]
    found = site.fits.latest()
    assert (found.estimate.accuracy, found.people) == ([0.9, 0.8, 0.95], [{"name": "ann"}])
    assert (found.number, site.fits.waiting()) == (1, 1)


def test_a_fit_that_fails_is_said_and_the_last_estimate_stays(site):
    class Failing(Counting):
        def learn(self, *_):
            raise RuntimeError("no luck")
            yield

    estimate = Estimate(0.95, "more", (0.9, 0.8, 0.95))
    site.fits.add(0, estimate, [{"name": "ann"}], [Pick(1, 2, CHOSEN)])
    answer(site, site.people.add("ann"), "same")
    assert Worker(site.project.settings, Failing()).step()
    found = site.fits.latest()
    assert "RuntimeError: no luck" in found.estimate.note
    assert (found.estimate.accuracy, found.people) == ([0.9, 0.8, 0.95], [{"name": "ann"}])


def test_new_items_are_learnt_at_once(site, tmp_path):
    learner = Counting(Learned(Estimate(0.95)))
    worker = Worker(site.project.settings, learner)
    write_items(tmp_path, 15)
    assert worker.step()
    assert learner.calls == [(15, 0)]
