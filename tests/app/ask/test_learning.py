"""One refit: from answers to a batch, an estimate and a word on everybody."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs.app.ask import learning
from noisypairs.app.ask.answers import Said
from noisypairs.app.ask.fits import Estimate, Fit
from noisypairs.app.ask.learning import Learner, pairs_of
from noisypairs.app.ask.questions import CHOSEN, RANDOM
from noisypairs.assess.stopping import Enough
from noisypairs.classifier import JointPairClassifier
from noisypairs.errors import NotIdentifiable
from noisypairs.estimation import Interval
from tests.app.ask.ask_problems import open_site, write_items

N_ITEMS = 40


def said_about(shown, n, seed=0, wrong=0.05):
    """Return answers on random pairs: even and odd rows are the classes."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        left, right = rng.choice(N_ITEMS, 2, replace=False)
        same = bool(left % 2 == right % 2) != (rng.random() < wrong)
        ends = shown.numbers[left], shown.numbers[right]
        found.append(Said(*ends, same, ("ann", "bob")[len(found) % 2], RANDOM))
    return found


@pytest.fixture(autouse=True)
def one_classifier(monkeypatch):
    """Let the learner choose among no classifiers: that is tested where it is at home."""

    class Quick(JointPairClassifier):
        def fit(self, X, pairs):
            return self.set_params(estimator=LogisticRegression()).fit_as_it_is(X, pairs)

        fit_as_it_is = JointPairClassifier.fit

    monkeypatch.setattr(learning, "JointPairClassifier", Quick)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learning")
    write_items(folder, N_ITEMS)
    return open_site(folder, n_classes=2).project


def test_before_there_are_classes_near_pairs_and_random_ones_are_asked(project):
    learner, shown = Learner(project.settings), project.shown
    few = said_about(shown, 19)
    alike = [Said(one.left, one.right, True, "ann", RANDOM) for one in few * 3]
    for said in ([], few, alike):
        (found,) = learner.learn(shown, said, None)
        assert found.estimate.state == "learning"
        assert "begins to learn with 20 answers" in found.estimate.note
        assert {pick.kind for pick in found.batch} == {CHOSEN, RANDOM}
        assert {pick.chance for pick in found.batch} == {None}
        asked = {tuple(sorted((one.left, one.right))) for one in said}
        assert not {pick[:2] for pick in found.batch} & asked


def test_a_batch_is_chosen_with_a_share_at_random_and_what_the_model_thinks(project):
    shown, said = project.shown, said_about(project.shown, 120)
    learner = Learner(project.settings)
    first, judged = learner.learn(shown, said, None)
    assert first.estimate.state == "learning"
    kinds = [pick.kind for pick in first.batch]
    assert (kinds.count(CHOSEN), kinds.count(RANDOM)) == (80, 20)
    assert RANDOM in kinds[:10]  # spread over the batch, not at its end
    asked = {tuple(sorted((one.left, one.right))) for one in said}
    assert len({pick[:2] for pick in first.batch}) == 100
    assert not {pick[:2] for pick in first.batch} & asked
    assert all(pick.low < pick.high for pick in first.batch)
    truly = [shown.row_of[pick.low] % 2 == shown.row_of[pick.high] % 2 for pick in first.batch]
    thought = [pick.chance > 0.5 for pick in first.batch]
    assert np.mean(np.equal(truly, thought)) > 0.9
    assert {one["name"] for one in judged.people} == {"ann", "bob"}
    low, high = judged.estimate.accuracy[1:]
    assert 0.8 < low <= high <= 1
    assert (judged.estimate.n_classes, judged.estimate.n_answers) == (2, 120)
    # The estimate is kept until there are a tenth more answers.
    last = Fit(1, 120, judged.estimate, judged.people)
    (again,) = learner.learn(shown, said[:115], last)
    assert (again.estimate, again.people) == (judged.estimate, judged.people)


def test_an_estimate_from_before_a_restart_or_of_other_items_is_made_again(project, monkeypatch):
    """The target may be another one, and new items nobody was asked about count, too."""
    judged = []
    found = Enough(0.95, Interval(0.97, 0.96, 0.99, 0.9), 0, None)
    monkeypatch.setattr(learning, "enough", lambda *given: judged.append(given[3]) or found)
    shown, said = project.shown, said_about(project.shown, 60)
    gone = Said(1000, 1001, True, "ann", RANDOM)
    last = Fit(1, 61, Estimate(0.9, "reached", (0.97, 0.96, 0.99), 0.9, None, 2, 61))
    learner = Learner(project.settings)
    *_, first = learner.learn(shown, [*said, gone], last)
    assert (first.estimate.target, first.estimate.n_answers, judged) == (0.95, 61, [0.95])
    last = Fit(2, 61, first.estimate, first.people)
    list(learner.learn(shown, [*said, gone], last))
    assert len(judged) == 1  # nothing has changed
    list(learner.learn(replace(shown), [*said, gone], last))
    assert len(judged) == 2


@pytest.mark.parametrize(
    ("low", "left", "more", "doubts", "state"),
    [
        (0.96, 0, None, (), "reached"),
        (0.96, 0, None, ("Copied answers.",), "doubtful"),
        (0.96, 0, 9.0, (), "open"),
        (0.9, 40, None, (), "more"),
        (0.9, None, None, (), "open"),
    ],
)
def test_the_estimate_is_that_of_the_stopping_rule(monkeypatch, low, left, more, doubts, state):
    found = Enough(0.95, Interval(0.97, low, 0.99, 0.9), left, more)
    monkeypatch.setattr(learning, "enough", lambda *_: found)
    verdict = SimpleNamespace(doubts=doubts)
    model = SimpleNamespace(n_classes_=2, verdict=lambda: verdict)
    pairs = SimpleNamespace(n_pairs=30)
    told = learning.estimate_of(model, np.zeros((4, 1)), pairs, 0.95)
    note = " ".join(doubts)
    if more:
        note = "There may be one more class than was found. More answers will show it."
    claimed = low > 0.95 and not more
    assert told == Estimate(0.95, state, (0.97, low, 0.99), 0.9, left or None, 2, 30, note, claimed)


def test_answers_that_say_nothing_are_called_that(project, monkeypatch):
    def refuse(*_):
        raise NotIdentifiable("these pairs say nothing")

    monkeypatch.setattr(JointPairClassifier, "fit", refuse)
    monkeypatch.setattr(learning, "JointPairClassifier", JointPairClassifier)
    said = said_about(project.shown, 24, wrong=0.5)
    (found,) = Learner(project.settings).learn(project.shown, said, None)
    assert "no classes are seen in the answers yet: these pairs say nothing" in found.estimate.note


def test_answers_about_items_that_are_gone_are_left_out(project):
    said = said_about(project.shown, 30)
    gone = [Said(1000, 1001, True, "ann", RANDOM)]
    assert pairs_of(project.shown, said + gone).n_pairs == 30


def test_items_without_any_feature_are_learnt_from_answers_alone(tmp_path):
    (tmp_path / "items.csv").write_text("id\n" + "\n".join(f"i{k:02d}" for k in range(N_ITEMS)))
    project = open_site(tmp_path, n_classes=2).project
    found = list(
        Learner(project.settings).learn(project.shown, said_about(project.shown, 200), None)
    )
    row = project.shown.row_of
    sure = [pick for pick in found[0].batch if abs(pick.chance - 0.5) > 0.3]
    right = [(row[p.low] % 2 == row[p.high] % 2) == (p.chance > 0.5) for p in sure]
    assert len(sure) > 20
    assert np.mean(right) > 0.9
