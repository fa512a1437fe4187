"""Methods side by side on held-out pairs: the splits, the scores, the choice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from noisypairs import NotIdentifiable, PairingNoise, Pairs, metrics, sample_pairs
from noisypairs.app.fit.comparison import (
    CURVE,
    N_FOLDS,
    HeldOutAnswers,
    HeldOutResult,
    behind,
    choose,
    compare,
    learner,
)
from noisypairs.app.fit.request import Request, class_numbers, pair_classifier
from noisypairs.app.fit.result import Candidate
from noisypairs.errors import collected_warnings
from noisypairs.estimation import dyadic_mean

N = 60


@pytest.fixture(scope="module")
def held_out() -> HeldOutAnswers:
    rng = np.random.default_rng(0)
    y = (np.arange(N) % 4 == 0).astype(int)
    features = pd.DataFrame({"a": rng.normal(size=N) + 4.0 * y, "b": rng.normal(size=N)})
    pairs = sample_pairs(y, 2400, PairingNoise(0.1, 0.1), random_state=0)
    return HeldOutAnswers(features, pairs.with_labels({0: "x", 1: "y"}), seed=0)


def test_folds_part_the_items_and_hold_out_the_answers_inside_them(
    held_out: HeldOutAnswers,
) -> None:
    assert np.bincount(held_out.item_fold).tolist() == [N // N_FOLDS] * N_FOLDS
    left, right = held_out.item_fold[held_out.pairs.left], held_out.item_fold[held_out.pairs.right]
    assert (left == right).all()
    for X, pairs, new in held_out.folds:
        assert len(X) == pairs.n_items == N - len(new)
        assert not pairs.labels
        np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-9)  # scaled without the fold
        assert np.abs(new.mean(axis=0)).max() > 1e-3


def test_predicted_answers_are_those_of_each_folds_own_model(held_out: HeldOutAnswers) -> None:
    noise, seen = PairingNoise(0.2, 0.1), []

    def learn(X, pairs, new):
        eta = np.random.default_rng(len(seen)).dirichlet([1, 1, 1], len(new))
        seen.append(eta)
        return noise.same_probability(3), eta

    chance, classes = held_out.predict(learn)
    scores, sizes = [], []
    for k, eta in enumerate(seen):
        items = np.flatnonzero(held_out.item_fold == k)
        inside = held_out.pairs[items]
        scores.append(metrics.pair_log_likelihood(inside, eta, noise))
        sizes.append(inside.n_pairs)
        np.testing.assert_array_equal(classes[items], eta.argmax(axis=1))
    assert sum(sizes) == held_out.pairs.n_pairs
    score = held_out.held.gain(held_out.log_chance(chance))
    assert score.mean == pytest.approx(np.average(scores, weights=sizes))
    _, low, high = dyadic_mean(held_out.pairs, held_out.log_chance(chance), 0.95)
    assert score.mean_error == pytest.approx((high - low) / 2 / 1.959964, rel=1e-5)


def test_majority_is_the_share_of_same_in_the_other_folds(held_out: HeldOutAnswers) -> None:
    chance, _ = held_out.predict(learner("majority", Request()))
    for k, (_, pairs, _) in enumerate(held_out.folds):
        np.testing.assert_allclose(chance[held_out.answer_fold == k], pairs.same.mean())


def test_kmeans_predicts_by_how_often_its_groups_were_called_same(held_out: HeldOutAnswers) -> None:
    with collected_warnings():
        S, eta = learner("k-means", Request(n_classes=2))(*held_out.folds[0])
    assert S.shape == (2, 2)
    assert set(np.unique(eta)) == {0.0, 1.0}
    assert S[0, 0] == S[1, 1] > 0.6 > 0.5 > S[0, 1] == S[1, 0]


def test_the_joint_learner_beats_baselines_and_the_curve_ends_at_its_score(
    held_out: HeldOutAnswers,
) -> None:
    request = Request(method="joint", estimator="logistic", n_classes=2, annotators=False)
    steps: list[str] = []
    tried = compare(held_out, request, steps.append)
    assert list(tried) == ["joint", "k-means", "majority"]
    assert len(steps) == 3
    joint, majority = tried["joint"].row, tried["majority"].row
    assert joint.log_likelihood > majority.log_likelihood + 5 * majority.standard_error
    assert tried["joint"].chance is not None
    with collected_warnings() as noted:
        curve = held_out.curve(learner("joint", request), tried["joint"].chance)
    assert noted == []
    assert [point.share for point in curve] == [*CURVE, 1.0]
    last = curve[-1]
    assert (last.log_likelihood, last.standard_error) == (
        joint.log_likelihood,
        joint.standard_error,
    )
    assert last.log_likelihood > curve[0].log_likelihood - 0.05
    name, why = choose(held_out, tried, request)
    assert (name, why.startswith("Joint learner was asked for: -0.")) == ("joint", True)


def trial(name: str, chance: float | np.ndarray | None, held_out: HeldOutAnswers) -> HeldOutResult:
    if chance is None:
        return HeldOutResult(Candidate(name, name, False, refusal="no signal"))
    odds = np.where(held_out.pairs.same, chance, 1.0 - np.asarray(chance))
    score = held_out.held.gain(held_out.log_chance(odds))
    mean, error = score.mean, score.mean_error
    return HeldOutResult(Candidate(name, name, False, mean, error), odds)


@pytest.mark.parametrize(
    ("joint", "weighted", "correction", "winner", "said"),
    [
        (0.8, 0.7, 0.6, "joint", "predicts the answers about unseen items best"),
        (0.7, 0.8, 0.6, "weighted", "Weighted pairs predicts"),
        (None, 0.6, 0.7, "correction", "Not possible here, as the table explains: Joint learner."),
        (None, None, None, "joint", "without a test on held-out items: expect little"),
        (0.501, 0.3, 0.2, "joint", "0.002 ± 0.000 more than “majority”"),
        (0.499, 0.3, 0.2, "joint", "not clearly better than no model at all: expect little"),
    ],
)
def test_the_best_on_held_out_answers_is_chosen(
    held_out: HeldOutAnswers,
    joint: object,
    weighted: object,
    correction: object,
    winner: str,
    said: str,
) -> None:
    given = {"joint": joint, "weighted": weighted, "correction": correction, "majority": 0.5}
    tried = {name: trial(name, chance, held_out) for name, chance in given.items()}
    name, why = choose(held_out, tried, Request())
    assert name == winner
    assert said in why


def test_a_tie_goes_to_the_joint_learner(held_out: HeldOutAnswers) -> None:
    odd = np.arange(held_out.pairs.n_pairs) % 2 == 1
    tried = {
        "joint": trial("joint", np.where(odd, 0.9, 0.6), held_out),
        "weighted": trial("weighted", np.where(odd, 0.61, 0.91), held_out),
        "correction": trial("correction", None, held_out),
        "majority": trial("majority", 0.5, held_out),
    }
    assert tried["weighted"].row.log_likelihood > tried["joint"].row.log_likelihood
    name, why = choose(held_out, tried, Request())
    assert name == "joint"
    assert "no other method is clearly better" in why
    rows = {row.name: row for row in behind(held_out, tried, "joint")}
    assert rows["majority"].behind == pytest.approx(
        tried["joint"].row.log_likelihood - tried["majority"].row.log_likelihood
    )
    assert rows["correction"].behind is None


@pytest.mark.parametrize("text", ["3", "2-5", " 4 - 4 "])
def test_numbers_of_classes(text: str) -> None:
    assert class_numbers(text) in (3, (2, 3, 4, 5), 4)


@pytest.mark.parametrize("text", ["", "1", "two", "5-2", "2-", "-3", "2-99", "2.5"])
def test_wrong_numbers_of_classes_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        class_numbers(text)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({"method": "jiont"}, "did you mean 'joint'"),
        ({"estimator": "forrest"}, "did you mean 'forest'"),
        ({"noise_model": "labelling"}, "did you mean 'labeling'"),
    ],
)
def test_misspelt_names_are_refused(given: dict[str, str], meant: str) -> None:
    with pytest.raises(ValueError, match=meant):
        Request(**given)


def test_what_is_left_open_is_read_off_the_pairs() -> None:
    plain = Pairs([0, 1], [1, 2], [True, False])
    assert Request().settled(plain) == Request(n_classes="auto", annotators=False)
    crowd = Pairs([0, 1], [1, 2], [True, False], annotator=["a", "b"])
    assert Request().settled(crowd).annotators
    assert not Request(annotators=False).settled(crowd).annotators
    alone = Pairs([0, 1], [1, 2], [True, False], annotator=["a", "a"])
    assert not Request(annotators=True).settled(alone).annotators
    named = plain.with_labels({0: "x", 1: "y", 2: "z"})
    assert Request().settled(named).n_classes == 3
    with pytest.raises(ValueError, match="no column says who"):
        Request(annotators=True).settled(plain)
    with pytest.raises(ValueError, match="name 3 classes, but 2 were"):
        Request(n_classes=2).settled(named)
    assert Request(n_classes=(2, 3, 4)).settled(named).n_classes == (3, 4)
    with pytest.raises(ValueError, match="name 3 classes, but at most 2"):
        Request(n_classes=(2,)).settled(named)
    assert Request().settled(plain.with_labels({0: "x"})).n_classes == "auto"


@pytest.mark.parametrize(
    "request_", [Request(n_classes=3), Request(n_classes=2, noise_model="free")]
)
def test_point_wise_methods_refuse_what_they_cannot(request_: Request) -> None:
    for name in ("weighted", "correction"):
        with pytest.raises(NotIdentifiable):
            pair_classifier(name, request_)


def test_too_few_items_are_refused() -> None:
    with pytest.raises(ValueError, match="there are 5 items: too few"):
        HeldOutAnswers(pd.DataFrame({"a": range(5)}), Pairs([0], [1], [True], n_items=5), 0)
