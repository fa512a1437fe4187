"""Bias and skill against scipy's optimum of the penalised likelihood, quadrature and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit, logit

from noisypairs.noise.people import NARROWEST, SHIFT_PRECISION, People
from noisypairs.noise.people import fit_people as fit_levels
from noisypairs.pairs.levels import Scale

CROWD = np.array([[0.8, 0.3, 0.2], [0.3, 0.7, 0.25], [0.2, 0.25, 0.9]])
ALIKE = np.eye(3)


def table(S):
    """The response table of "different" and "same"."""
    return np.stack([1 - S, S])


def fit_people(same, different, crowd, *args, **more):
    """The fit to yes and no."""
    return fit_levels(np.stack([different, same], axis=1), table(crowd), *args, **more)


def matrices(people, crowd):
    """S of everybody."""
    return people.responses(table(crowd), np.eye(len(crowd)))[:, 1]


def simulated(n_people, answers, bias_spread, skill_spread, seed=0, alike=ALIKE):
    """Counts of answers by people whose bias and skill are drawn, and both."""
    rng = np.random.default_rng(seed)
    bias = bias_spread * rng.standard_normal(n_people)
    skill = skill_spread * rng.standard_normal(n_people)
    odds = logit(CROWD) + bias[:, None, None] + skill[:, None, None] * (alike - 0.5)
    total = rng.poisson(answers / 9, (n_people, 3, 3))
    same = rng.binomial(total, expit(odds))
    return same.astype(float), (total - same).astype(float), bias, skill


def penalised(numbers, same, different, spreads, alike=ALIKE):
    """Minus the log-likelihood of bias, skill and shifts, with their normal priors."""
    n = len(same)
    bias, skill, shift = numbers[:n], numbers[n : 2 * n], numbers[2 * n :]
    odds = logit(CROWD) + bias[:, None, None] + skill[:, None, None] * (alike - 0.5)
    odds = odds + shift[0] * (alike == 0) + shift[1] * (alike == 1)
    fit = (same * np.log(expit(odds)) + different * np.log(expit(-odds))).sum()
    prior = (bias**2).sum() / spreads[0] ** 2 + (skill**2).sum() / spreads[1] ** 2
    return -fit + 0.5 * (prior + SHIFT_PRECISION * (shift**2).sum())


@pytest.mark.parametrize("linked", [False, True])
def test_the_fit_is_the_optimum_of_the_penalised_likelihood(linked):
    alike = np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 1]]) if linked else ALIKE
    same, different, *_ = simulated(5, 300, 0.9, 0.7, alike=alike)
    found = fit_people(same, different, CROWD, alike, steps=300)
    spreads = found.bias_spread, found.skill_spread
    options = {"ftol": 1e-14, "gtol": 1e-8, "maxfun": 100_000}
    best = minimize(
        penalised, np.zeros(12), (same, different, spreads, alike), "L-BFGS-B", options=options
    ).x
    mine = np.concatenate([found.bias, found.skill, found.shift])
    assert_allclose(mine, best, atol=2e-3)
    assert np.abs(mine[:5]).max() > 0.3


def hessian_of(same, different, found, who):
    """Minus the second derivatives at (bias, skill) of one person, by finite differences."""
    step = 1e-3

    def value(more):
        numbers = np.array([found.bias[who] + more[0], found.skill[who] + more[1], *found.shift])
        spreads = found.bias_spread, found.skill_spread
        return penalised(numbers, same[who : who + 1], different[who : who + 1], spreads)

    unit = np.eye(2) * step
    return np.array(
        [
            [
                (value(i + j) - value(i - j) - value(j - i) + value(-i - j)) / (4 * step**2)
                for j in unit
            ]
            for i in unit
        ]
    )


def test_errors_are_those_of_the_curvature():
    same, different, *_ = simulated(6, 60, 0.8, 0.6, seed=1)
    found = fit_people(same, different, CROWD, steps=300)
    for who in range(6):
        variance = np.diag(np.linalg.inv(hessian_of(same, different, found, who)))
        errors = found.bias_error[who], found.skill_error[who]
        assert_allclose(errors, np.sqrt(variance), rtol=1e-3)


def test_spreads_come_back():
    """500 people of 90 answers: both spreads within a fifth."""
    same, different, bias, skill = simulated(500, 90, 0.8, 0.6, seed=3)
    found = fit_people(same, different, CROWD, steps=60)
    assert found.bias_spread == pytest.approx(0.8, rel=0.2)
    assert found.skill_spread == pytest.approx(0.6, rel=0.2)
    for mine, truth, error in (
        (found.bias, bias, found.bias_error),
        (found.skill, skill, found.skill_error),
    ):
        # 500 intervals: the share within has a standard error of 1.3 %.
        assert (np.abs(mine - truth) < 1.645 * error).mean() == pytest.approx(0.9, abs=0.05)


def test_who_is_like_the_crowd_or_silent_has_the_crowds_matrix():
    silent = fit_people(np.zeros((3, 3, 3)), np.zeros((3, 3, 3)), CROWD)
    assert_allclose(matrices(silent, CROWD), [CROWD] * 3)
    counts = np.array([CROWD * 1e4] * 8)
    alike = fit_people(counts, 1e4 - counts, CROWD, steps=60)
    assert_allclose(matrices(alike, CROWD), [CROWD] * 8, atol=1e-4)
    assert alike.bias_spread == alike.skill_spread == NARROWEST


def test_many_answers_are_not_shrunk():
    rates = [(0.02, 0.03), (0.5, 0.5), (0.95, 0.9)]  # good, a coin, reversed
    crowd = np.where(ALIKE, 0.7, 0.3)
    S = np.array([np.where(ALIKE, 1 - similar, flip) for similar, flip in rates])
    found = matrices(fit_people(1e6 * S, 1e6 * (1 - S), crowd, steps=60), crowd)
    assert_allclose(found, S, atol=1e-3)


def test_matrices_by_hand():
    effects = np.array([[0.5, 1.0]])
    people = People(effects, effects, np.ones(2), shift=(-0.1, 0.2))
    odds = logit(matrices(people, np.full((2, 2), 0.5)))
    assert_allclose(odds, [[[0.5 + 0.5 + 0.2, 0.5 - 0.5 - 0.1], [-0.1, 1.2]]])


SCALE = Scale(("1", "2", "3", "4"), "0", 2)
ONE, TWO = np.array([0.05, 0.1, 0.25, 0.55, 0.05]), np.array([0.5, 0.25, 0.1, 0.05, 0.1])
GRADES = np.where(np.eye(2), ONE[:, None, None], TWO[:, None, None])


def grades(effects):
    """P(level) of people with these effects, (R, L, 2, 2), by hand."""
    found = np.empty((len(effects), 5, 2, 2))
    for (bias, skill, stretch, doubt), own in zip(effects, found, strict=True):
        for y, z in np.ndindex(2, 2):
            levels = GRADES[:, y, z]
            above = logit([levels[k:4].sum() / levels[:4].sum() for k in (1, 2, 3)])
            moved = above.mean() + np.exp(stretch) * (above - above.mean())
            above = expit(moved + bias + skill * (0.5 if y == z else -0.5))
            unsure = expit(logit(levels[4]) + doubt)
            own[:4, y, z] = -np.diff([1, *above, 0]) * (1 - unsure)
            own[4, y, z] = unsure
    return found


def test_grades_of_people_by_hand():
    effects = np.array([[0.5, 1.0, 0.3, -0.4], [-1.0, 0.2, -0.5, 0.8]])
    people = People(effects, effects, np.ones(4), SCALE)
    found = people.responses(GRADES, np.eye(2))
    assert_allclose(found, grades(effects), atol=1e-12)
    assert_allclose(people.stretch, [0.3, -0.5])
    assert_allclose(people.doubt, [-0.4, 0.8])


def test_the_fit_of_grades_is_the_optimum_of_the_penalised_likelihood():
    """Against scipy, with no slopes given; shift and spreads as the fit found them."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(5, 4)) * [0.8, 0.8, 0.3, 0.8]
    counts = rng.poisson(40 * grades(truth)).astype(float)
    found = fit_levels(counts, GRADES, start=People.unknown(5, SCALE), steps=300)

    def unlikely(numbers):
        effects = numbers.reshape(5, 4)
        people = People(effects, effects, found.spreads, SCALE, found.shift)
        fit = (counts * np.log(people.responses(GRADES, np.eye(2)))).sum()
        return -fit + 0.5 * ((effects / found.spreads) ** 2).sum()

    best = minimize(unlikely, np.zeros(20), method="L-BFGS-B", options={"ftol": 1e-13}).x
    assert_allclose(found.effects.ravel(), best, atol=5e-3)
    assert np.abs(found.effects - truth).max() < 4 * found.errors.max()


def test_effects_of_grades_lie_within_their_errors():
    """300 people of 120 grades: about nine in ten of every effect within 1.645 errors."""
    rng = np.random.default_rng(1)
    truth = rng.normal(size=(300, 4)) * [0.8, 0.6, 0.3, 0.7]
    counts = rng.poisson(30 * grades(truth)).astype(float)
    found = fit_levels(counts, GRADES, start=People.unknown(300, SCALE), steps=60)
    assert_allclose(found.spreads, [0.8, 0.6, 0.3, 0.7], rtol=0.25)
    inside = (np.abs(found.effects - truth) < 1.645 * found.errors).mean(axis=0)
    assert_allclose(inside, 0.9, atol=0.06)
