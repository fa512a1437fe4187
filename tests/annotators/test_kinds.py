"""Kinds of annotators: evidence against quadrature, kinds and rates from clear counts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from noisypairs.annotators.kinds import (
    KINDS,
    SLIPS,
    honest_evidence,
    kind_probability,
    log_evidence,
    rate_posterior,
)


def test_evidence_is_the_integral_of_the_likelihood_over_the_rate():
    for a, b in ((2.0, 2.0), SLIPS, (3.0, 17.0)):
        law = stats.beta(a, b)
        value, _ = integrate.quad(lambda x, law=law: x**7 * (1 - x) ** 4 * law.pdf(x), 0, 1)
        assert log_evidence(np.array(7.0), np.array(4.0), a, b) == pytest.approx(np.log(value))


def test_honest_evidence_mixes_the_alike_and_the_odd():
    wrong, right = np.array([[3.0], [1.0]]), np.array([[5.0], [6.0]])
    mean, strength = np.array([[0.1], [0.2]]), np.array([[40.0], [30.0]])
    total = 0.0
    for share, m in ((0.99, strength[:, 0]), (0.01, np.array([5.0, 5.0]))):
        product = share
        for k in range(2):
            law = stats.beta(m[k] * mean[k, 0], m[k] * (1 - mean[k, 0]))
            w, r = wrong[k, 0], right[k, 0]
            product *= law.expect(lambda x, w=w, r=r: x**w * (1 - x) ** r)
        total += product
    assert honest_evidence(wrong, right, mean, strength)[0] == pytest.approx(np.log(total))


def test_kinds_follow_from_clear_counts_and_longer_records_say_more():
    n = np.array([2.0, 60.0])
    patterns = {  # (ρ_S, ρ_D) of each kind
        "honest": (0.1, 0.2),
        "spammer": (0.5, 0.5),
        "always-same": (0.0, 1.0),
        "always-different": (1.0, 0.0),
        "reversed": (0.9, 0.9),
    }
    crowd = np.tile([[0.1], [0.15]], 20) * 50
    for kind, rates in patterns.items():
        few, many = (np.outer(rates, [size]) for size in n)
        wrong = np.concatenate([crowd, few, many], axis=1)
        total = np.concatenate(
            [np.full((2, 20), 50.0), np.full((2, 1), n[0]), np.full((2, 1), n[1])], axis=1
        )
        proba, shares = kind_probability(wrong, total)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
        assert shares.sum() == pytest.approx(1.0)
        k = KINDS.index(kind)
        assert proba[-1].argmax() == k
        assert proba[-1, k] > 0.99
        assert proba[-1, k] > proba[-2, k]


def test_a_leaning_coin_is_a_spammer_and_a_weak_but_real_eye_is_honest():
    crowd = np.tile([[0.1], [0.1]], 20) * 100
    leaning, weak = np.array([[30.0], [70.0]]), np.array([[70.0], [70.0]])
    wrong = np.concatenate([crowd, leaning, weak], axis=1)
    total = np.concatenate([np.full((2, 21), 100.0), np.full((2, 1), 200.0)], axis=1)
    proba, _ = kind_probability(wrong, total)
    assert KINDS[proba[-2].argmax()] == "spammer"
    assert KINDS[proba[-1].argmax()] == "honest"  # J = .3, five standard errors above 0


def test_rates_are_shrunk_towards_the_others_who_are_honest():
    rng = np.random.default_rng(0)
    total = rng.integers(5, 80, size=(2, 12)).astype(float)
    wrong = rng.binomial(total.astype(int), 0.2).astype(float)
    honest = np.array([1.0] * 10 + [0.3, 0.0])
    a, b = rate_posterior(wrong, total, honest)
    for k in range(2):
        for r in range(12):
            rest = np.arange(12) != r
            n, w = honest[rest] @ total[k, rest], honest[rest] @ wrong[k, rest]
            strength = a[k, r] + b[k, r] - total[k, r]
            if honest[r] == 0:
                assert (a[k, r], strength) == pytest.approx((wrong[k, r] + 0.5, 1.0))
                continue
            assert strength <= 20 * honest[r]
            prior = (a[k, r] - wrong[k, r]) / strength
            assert prior == pytest.approx((w + 0.5) / (n + 1.0), rel=1e-9)
