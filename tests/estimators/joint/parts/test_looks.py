"""The sign that answers follow looks: the score against its definition, and on simulated crowds."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import PairingNoise, Pairs, datasets, sample_pairs
from noisypairs.estimators.joint.parts import looks
from noisypairs.estimators.joint.parts.looks import (
    SIGN_OF_LOOKS,
    efficient_score,
    follow_looks,
    score_of_likeness,
)
from noisypairs.estimators.joint.parts.parts import PartChoice
from noisypairs.estimators.joint.problem import JointProblem
from tests.estimators.joint.builders import joint


def test_the_score_is_that_of_the_information_matrix() -> None:
    """z = (U_l − I_lD I_DD⁻¹ U_D) / √(I_ll − I_lD I_DD⁻¹ I_Dl), the scores U and information I."""
    rng = np.random.default_rng(0)
    p, slope, D = rng.uniform(0.1, 0.9, 500), rng.standard_normal(500), rng.random((500, 2))
    residual, v = (rng.random(500) < p) - p, p * (1 - p)
    by_all = np.column_stack([slope * v, D])  # derivatives of p
    U, information = by_all.T @ (residual / v), by_all.T @ (by_all / v[:, None])
    b = np.linalg.solve(information[1:, 1:], information[1:, 0])
    expected = (U[0] - b @ U[1:]) / np.sqrt(information[0, 0] - b @ information[1:, 0])
    assert efficient_score(residual, p, slope, D) == pytest.approx(expected, rel=1e-9)


def test_the_score_is_standard_normal_whatever_the_nuisance() -> None:
    """Rates off by .1 do not matter. The mean of 1,000 is known to .03, the spread to .02."""
    rng, scores = np.random.default_rng(0), []
    for _ in range(1000):
        one_class = rng.random(200)
        p, truth = 0.2 + 0.5 * one_class, 0.1 + 0.7 * one_class
        residual = (rng.random(200) < truth) - p
        nuisance = np.column_stack([one_class, 1 - one_class])
        scores.append(efficient_score(residual, p, one_class + rng.standard_normal(200), nuisance))
    assert np.mean(scores) == pytest.approx(0.0, abs=0.12)
    assert np.std(scores) == pytest.approx(1.0, abs=0.15)


def begun(X, pairs, n_classes=2, **options):
    """Return a problem and its classes, inferred without parts."""
    problem = JointProblem(X, pairs, [n_classes], "auto", 0)
    search = joint(n_classes=n_classes, **options).search(problem)
    return search, search.choose_family(search.choose_classes([n_classes]))


def crowd(slope, seed=0, n_items=300, per_item=15):
    """Three classes, 5,000 answers or so that follow looks with this slope, or plain ones."""
    effects = {"slope": slope} if slope else {}
    return datasets.simulated_crowd(
        n_items,
        3,
        20,
        per_item,
        spammer_share=0.0,
        similar_flip=0.2,
        dissimilar_flip=0.2,
        spread=0.0,
        lean=0.0,
        random_state=seed,
        **effects,
    )


@pytest.mark.parametrize(("slope", "shows"), [(0.0, False), (1.0, True)])
def test_answers_that_follow_looks_show_it_and_plain_ones_do_not(slope, shows) -> None:
    for seed in range(3):
        drawn = crowd(slope, seed)
        search, found = begun(drawn.data, drawn.pairs, 3)
        assert follow_looks(search.problem, found) == shows


@pytest.mark.parametrize("parts", [{"people"}, {"clarity"}, {"people", "clarity"}])
def test_people_and_hard_items_may_be_known(parts) -> None:
    for slope in (0.0, 1.5):
        drawn = crowd(slope)
        search, found = begun(drawn.data, drawn.pairs, 3)
        wanted = {part: part in parts for part in ("people", "clarity", "similarity")}
        with_parts = PartChoice(search, found, wanted).choose()
        assert follow_looks(search.problem, with_parts) == bool(slope)


def test_few_answers_for_an_item_are_no_sign() -> None:
    """Two answers for an item: P(class | x) is too flat, and beliefs have heard the answer."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8000, 20))
    y = (X[:, 0] + 0.3 * rng.standard_normal(8000) > 0.4).astype(int)
    pairs = sample_pairs(y, 8000, PairingNoise(0.2, 0.2), random_state=0)
    search, found = begun(X, pairs)
    assert abs(score_of_likeness(search.problem, found)) < SIGN_OF_LOOKS - 1.0


def test_self_pairs_do_not_count_and_some_answers_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = crowd(1.5)
    pairs, own = drawn.pairs, np.arange(40)
    more = Pairs(
        np.r_[own, pairs.left],
        np.r_[own, pairs.right],
        np.r_[np.ones(40, dtype=bool), pairs.same],
        pairs.n_items,
    )
    scores = []
    for answers in (Pairs(pairs.left, pairs.right, pairs.same, pairs.n_items), more):
        search, found = begun(drawn.data, answers, 3)
        scores.append(score_of_likeness(search.problem, found))
    assert scores[0] == pytest.approx(scores[1], rel=0.05)
    monkeypatch.setattr(looks, "ENOUGH_ANSWERS", pairs.n_pairs // 4)
    assert score_of_likeness(search.problem, found) == pytest.approx(scores[1] / 2, rel=0.3)


def test_features_that_are_no_numbers_show_nothing() -> None:
    drawn = crowd(1.5)
    search, found = begun(drawn.data, drawn.pairs, 3)
    search.problem.X = np.full((300, 1), "word", dtype=object)
    assert score_of_likeness(search.problem, found) == 0.0
