"""One refit: from answers to a batch, an estimate and a word on everybody."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs.app.ask import learning
from noisypairs.app.ask.answers import Said
from noisypairs.app.ask.fits import Estimate, Fit
from noisypairs.app.ask.learning import Learner, pairs_of
from noisypairs.app.ask.questions import CHOSEN, RANDOM
from noisypairs.errors import NotIdentifiable
from noisypairs.estimators import JointPairClassifier
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
def shown(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learning")
    write_items(folder, N_ITEMS)
    return open_site(folder, n_classes=2).project


def test_too_few_answers_or_answers_all_alike_teach_nothing(shown):
    learner = Learner(shown.settings)
    few = said_about(shown.shown, 19)
    alike = [Said(one.left, one.right, True, "ann", RANDOM) for one in few * 3]
    for said in ([], few, alike):
        (found,) = learner.learn(shown.shown, said, None)
        assert (found.batch, found.estimate.state) == ([], "learning")
        assert "begins to learn with 20 answers" in found.estimate.note


def test_a_batch_is_chosen_with_a_share_at_random_and_what_the_model_thinks(shown, monkeypatch):
    called = []
    estimate = Estimate(0.95, "more", (0.9, 0.8, 0.95), n_answers=120)
    monkeypatch.setattr(learning, "estimate_of", lambda *given: called.append(given) or estimate)
    said = said_about(shown.shown, 120)
    first, judged = Learner(shown.settings).learn(shown.shown, said, None)
    assert (first.estimate.state, judged.estimate) == ("learning", estimate)
    kinds = [pick.kind for pick in first.batch]
    assert (kinds.count(CHOSEN), kinds.count(RANDOM)) == (80, 20)
    assert RANDOM in kinds[:10]  # spread over the batch, not at its end
    asked = {tuple(sorted((one.left, one.right))) for one in said}
    chosen = {pick[:2] for pick in first.batch if pick.kind == CHOSEN}
    assert len(chosen) == 80
    assert not chosen & asked
    assert all(pick.low < pick.high for pick in first.batch)
    row = shown.shown.row_of
    truly = [row[pick.low] % 2 == row[pick.high] % 2 for pick in first.batch]
    thought = [pick.chance > 0.5 for pick in first.batch]
    assert np.mean(np.equal(truly, thought)) > 0.9
    assert {one["name"] for one in judged.people} == {"ann", "bob"}
    # The estimate is kept until there are a fifth more answers.
    last = Fit(1, 120, estimate, judged.people)
    (again,) = Learner(shown.settings).learn(shown.shown, said[:110], last)
    assert (again.estimate, again.people) == (estimate, judged.people)
    assert len(called) == 1


def test_answers_that_say_nothing_are_called_that(shown, monkeypatch):
    def refuse(*_):
        raise NotIdentifiable("these pairs say nothing")

    monkeypatch.setattr(JointPairClassifier, "fit", refuse)
    monkeypatch.setattr(learning, "JointPairClassifier", JointPairClassifier)
    said = said_about(shown.shown, 24, wrong=0.5)
    (found,) = Learner(shown.settings).learn(shown.shown, said, None)
    assert "no classes are seen in the answers yet: these pairs say nothing" in found.estimate.note


def test_answers_about_items_that_are_gone_are_left_out(shown):
    said = said_about(shown.shown, 30)
    gone = [Said(1000, 1001, True, "ann", RANDOM)]
    assert pairs_of(shown.shown, said + gone).n_pairs == 30


def test_the_estimate_is_that_of_the_plan_for_these_items(shown, monkeypatch):
    from types import SimpleNamespace

    from noisypairs.app.plan.goal import Goal
    from noisypairs.estimation import Interval

    now = Interval(0.9, 0.85, 0.94, 0.9)
    goal = Goal("these items", now, now, "more", Interval(40.0, 20.0, float("inf"), 0.9), 1.0)
    plan = SimpleNamespace(these_items=goal, doubts=("hm",))
    monkeypatch.setattr(learning, "plan", lambda *_, **__: plan)
    model = SimpleNamespace(n_classes_=2, estimator_=None)
    pairs = pairs_of(shown.shown, said_about(shown.shown, 30))
    found = learning.estimate_of(np.zeros((N_ITEMS, 1)), pairs, model, shown.settings)
    assert found == Estimate(0.95, "more", (0.9, 0.85, 0.94), 0.9, (40.0, 20.0, None), 2, 30, "hm")


def test_items_without_any_feature_are_learnt_from_answers_alone(tmp_path, monkeypatch):
    (tmp_path / "items.csv").write_text("id\n" + "\n".join(f"i{k:02d}" for k in range(N_ITEMS)))
    project = open_site(tmp_path, n_classes=2).project
    monkeypatch.setattr(learning, "estimate_of", lambda *_: Estimate(0.95, "open", (0.9, 0.8, 1.0)))
    found = list(
        Learner(project.settings).learn(project.shown, said_about(project.shown, 200), None)
    )
    row = project.shown.row_of
    sure = [pick for pick in found[0].batch if abs(pick.chance - 0.5) > 0.3]
    right = [(row[p.low] % 2 == row[p.high] % 2) == (p.chance > 0.5) for p in sure]
    assert len(sure) > 20
    assert np.mean(right) > 0.9
