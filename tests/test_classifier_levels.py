"""Answers of several levels in the joint learner."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import JointPairClassifier, PairingNoise, Pairs, WeightedPairClassifier
from noisypairs.noise import LevelNoise
from noisypairs.pairs.levels import Scale
from noisypairs.pairs.pairs import words_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::noisypairs.errors.ClassNamesWarning"),
    pytest.mark.filterwarnings("ignore::noisypairs.errors.NotIdentifiableWarning"),
    pytest.mark.filterwarnings("ignore::noisypairs.errors.UnpredictedAnswersWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
SCALE = Scale(("1", "2", "3", "4"), "0", 2)
NAMES = np.array(["1", "2", "3", "4", "0"])
ONE, TWO = np.array([0.05, 0.1, 0.25, 0.55, 0.05]), np.array([0.5, 0.25, 0.1, 0.05, 0.1])
NOISE = LevelNoise(np.where(np.eye(2), ONE[:, None, None], TWO[:, None, None]), SCALE)


def problem(n_pairs=900, seed=0, n_items=120, apart=1.2):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_items)
    X = rng.normal(size=(n_items, 3)) + apart * y[:, None]
    left = rng.integers(n_items, size=n_pairs)
    right = (left + rng.integers(1, n_items, n_pairs)) % n_items
    level = NAMES[NOISE.draw_levels(y, left, right, random_state=seed)]
    return X, y, Pairs.from_levels(left, right, level, [1, 2, 3, 4], 0, n_items)


@pytest.fixture(scope="module")
def fitted():
    X, y, pairs = problem()
    return (
        X,
        y,
        pairs,
        JointPairClassifier(n_classes=2, random_state=0).fit(X, pairs),
    )


def test_the_table_comes_back(fitted):
    *_, model = fitted
    table = model.noise_.response(2)
    np.testing.assert_allclose(table[:, 0, 0], ONE, atol=0.06)
    np.testing.assert_allclose(table[:, 0, 1], TWO, atol=0.06)
    assert model.noise_.scale == SCALE


def test_levels_say_more_than_the_same_answers_cut():
    """Over eight draws of few answers: more items right, by their posteriors."""
    right = np.zeros(2)
    for seed in range(8):
        X, y, pairs = problem(360, seed, apart=0.9)
        for k, answers in enumerate((pairs, pairs.yes_or_no())):
            model = JointPairClassifier(n_classes=2, random_state=0).fit(X, answers)
            p = model.item_proba_[np.arange(len(y)), y]
            right[k] += max((p > 0.5).mean(), (p < 0.5).mean()) / 8
    assert right[0] > right[1]


def test_chances_of_levels_sum_to_one_and_agree_with_same(fitted):
    X, _, pairs, model = fitted
    chance = model.level_proba(X, pairs)
    assert chance.shape == (900, 5)
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    view = chance[:, 2:4].sum(axis=1) / chance[:, :4].sum(axis=1)
    assert np.corrcoef(view, model.answer_proba(X, pairs))[0, 1] > 0.99


def test_an_unsure_answer_is_never_wrong(fitted):
    _, _, pairs, model = fitted
    unsure = pairs.level == 4
    assert unsure.any()
    assert (model.wrong_proba_[unsure] == 0).all()
    assert (model.wrong_proba_[~unsure] > 0.5).any()


def test_everything_that_follows_a_fit_takes_levels(fitted):
    X, _, pairs, model = fitted
    assert len(model.next_pairs(5)) == 5
    found = model.intervals(X, pairs, n_bootstrap=4)
    assert 0 < found["similar_flip"].estimate < 0.3


def test_learners_of_yes_and_no_see_the_view():
    X, y, pairs = problem(3000)
    labels = {int(np.argmin(y)): 0, int(np.argmax(y)): 1}
    settings = {"noise": PairingNoise(0.16, 0.17), "prior": 0.3, "random_state": 0}
    seen = WeightedPairClassifier(**settings).fit(X, pairs.with_labels(labels))
    plain = WeightedPairClassifier(**settings).fit(X, pairs.yes_or_no().with_labels(labels))
    np.testing.assert_array_equal(seen.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"noise": PairingNoise(0.1, 0.1)}, "is about the answers different < same"),
        ({"noise": "labeling"}, "'labeling' is about yes and no"),
    ],
)
def test_a_noise_of_yes_and_no_is_refused(settings, message):
    X, _, pairs = problem()
    with pytest.raises(ValueError, match=message):
        JointPairClassifier(**settings).fit(X, pairs)


def test_people_who_use_the_scale_differently_are_found():
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=80)
    left, right = np.triu_indices(80, 1)
    who = rng.integers(2, size=len(left))
    level = NOISE.draw_levels(y, left, right, random_state=4)
    level = np.where((who == 1) & (level < 3), level + 1, level)  # bob is one grade higher
    X = rng.normal(size=(80, 3)) + 2 * y[:, None]
    names = np.array(["ann", "bob"])[who]
    pairs = Pairs.from_levels(left, right, NAMES[level], [1, 2, 3, 4], 0, 80, names)
    model = JointPairClassifier(n_classes=2, random_state=0).fit(X, pairs)
    assert model.people_.bias[1] - model.people_.bias[0] > 0.7


def test_thresholds_lie_within_their_stated_errors():
    """Five crowds with eight thresholds each: at 90 % fewer than 30 of 40 come in 1 of 1,000."""
    inside = []
    for seed in range(5):
        X, _, pairs = problem(seed=seed, apart=2.0)
        model = JointPairClassifier(LogisticRegression(), n_classes=2, random_state=0).fit(X, pairs)
        found = model.intervals(X, pairs, n_bootstrap=20)
        for share, kind in ((ONE, "same"), (TWO, "different")):
            for k, name in enumerate("234", 1):
                inside.append(
                    share[k:4].sum() / share[:4].sum() in found[f"{name} or more, {kind}"]
                )
            inside.append(share[4] in found[f"0, {kind}"])
    assert np.sum(inside) >= 30


def test_suspect_answers_show_their_level(fitted):
    *_, pairs, model = fitted
    frame = model.suspects(5)
    rows = model.suspect_pairs(5)[0]
    assert frame["level"].tolist() == words_of(pairs)[rows].tolist()


def test_unsure_answers_never_make_classes_worse():
    """Three draws in which unsure says nothing: with it as many items are right as without."""
    right = np.zeros(2)
    for seed in range(3):
        X, y, pairs = problem(700, seed, apart=1.0)
        hm = np.random.default_rng(seed).random(pairs.n_pairs) < 0.3
        said = np.where(hm, "0", np.where(pairs.same, "yes", "no"))
        both = Pairs.from_levels(pairs.left, pairs.right, said, ["no", "yes"], "0", pairs.n_items)
        for k, given in enumerate((both, both.yes_or_no())):
            model = JointPairClassifier(LogisticRegression(), n_classes=2, random_state=0)
            found = model.fit(X, given).item_proba_.argmax(axis=1)
            right[k] += max((found == y).mean(), (found != y).mean()) / 3
    assert right[0] > right[1] - 0.01


@pytest.mark.parametrize("parts", [[], ["people"]])
def test_two_levels_give_the_numbers_of_yes_and_no(parts):
    """With and without a part: the fit, what it finds, and what it predicts."""
    rng = np.random.default_rng(5)
    X, y, _ = problem()
    left = rng.integers(120, size=900)
    right = (left + rng.integers(1, 120, 900)) % 120
    same, who = (y[left] == y[right]) ^ (rng.random(900) < 0.2), np.arange(900) % 3
    plain = Pairs(left, right, same, n_items=120, annotator=who)
    said = np.where(same, "yes", "no")
    levels = Pairs.from_levels(left, right, said, ["no", "yes"], None, 120, who)
    found = []
    for pairs in (plain, levels):
        how = {"n_classes": 2, "answer_model": parts, "random_state": 0}
        model = JointPairClassifier(LogisticRegression(), **how).fit(X, pairs)
        S = model.noise_.same_probability()
        found.append([model.item_proba_, S, model.predict_proba(X), model.answer_proba(X, pairs)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)


def test_a_judge_who_abstains_is_heard_at_no_cost():
    """One of three leaves 60 % of the different pairs open and 20 % of the same ones.

    Where the rows say "unsure" as many items are right as where they are left out, and who abstains
    is seen. Left out, they are the answers without them: nobody knows who was asked.
    """
    right = np.zeros(2)
    for seed in range(2):
        X, y, _ = problem(seed=seed, apart=0.8)
        rng = np.random.default_rng(seed)
        left = rng.integers(120, size=600)
        other = (left + rng.integers(1, 120, 600)) % 120
        truth, who = y[left] == y[other], np.arange(600) % 3
        same = truth ^ (rng.random(600) < 0.2)
        open_ = (who == 0) & (rng.random(600) < np.where(truth, 0.2, 0.6))
        said = np.where(open_, "hm", np.where(same, "yes", "no"))
        rows = Pairs.from_levels(left, other, said, ["no", "yes"], "hm", 120, who)
        for k, given in enumerate((rows, rows.select(~open_).yes_or_no())):
            model = JointPairClassifier(LogisticRegression(), n_classes=2, random_state=0)
            found = model.fit(X, given).item_proba_.argmax(axis=1)
            right[k] += max((found == y).mean(), (found != y).mean()) / 2
            if k == 0:
                assert model.people_.doubt[0] > model.people_.doubt[1:].max() + 0.5
    assert right[0] > right[1] - 0.01
