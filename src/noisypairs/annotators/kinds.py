"""What kind of annotator gives such answers, and at which rates: laws of counted errors.

Counts are W_S, W_D wrong answers of N_S, N_D on pairs truly same and truly different, shape (2, R)
each for R annotators. Pure functions of them; how they were counted is `noisypairs.annotators`.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, softmax

from noisypairs.algebra import Array
from noisypairs.noise.model import PSEUDO_ANSWERS, PSEUDO_RATE, SLIPS, strength

KINDS = ("honest", "spammer", "always-same", "always-different", "reversed")
#: Beta law of P("same") for annotators who toss a coin, however it is loaded.
COIN = (2.0, 2.0)
#: One honest annotator in a hundred is unlike the others: their law is worth so few answers.
ODD_SHARE, ODD_STRENGTH = 0.01, 5.0
#: In the rates the honest are never worth more than so many answers of one's own.
MOST_SHRINKAGE = 20.0
#: Annotators of each kind, in the order of `KINDS`, that are taken as seen beforehand.
KIND_PSEUDO = np.array([8.0, 0.5, 0.5, 0.5, 0.5])


def kind_probability(wrong: Array, total: Array) -> tuple[Array, Array]:
    """Return P(kind | answers) in the order of `KINDS`, shape (R, 5), and their shares, (5,).

    Each kind predicts the counts, (2, R) with W_S, W_D of N_S, N_D, its rates integrated out:

        honest            ρ_S, ρ_D ~ Beta laws fitted to those found honest (one in 100: wider)
        spammer           "same" at a rate θ whatever the pair, θ ~ Beta(2, 2)
        always-same       "different" only by slips, at a rate ~ Beta(1, 19)
        always-different  "same" only by slips
        reversed          1 − ρ_S, 1 − ρ_D ~ the laws of the honest

    Laws of the honest and shares are learnt from all annotators (EM). Ratios of evidence weigh the
    length of a record by themselves: no threshold on J is needed.

    >>> wrong = np.array([[2.0, 1.0, 10.0, 0.0], [3.0, 2.0, 9.0, 20.0]])
    >>> kind_probability(wrong, np.full((2, 4), 20.0))[0].argmax(axis=1).tolist()
    [0, 0, 1, 2]
    """
    right = total - wrong
    same, different = right[0] + wrong[1], wrong[0] + right[1]
    blind = [log_evidence(same, different, *COIN), log_evidence(different, same, *SLIPS)]
    blind.append(log_evidence(same, different, *SLIPS))
    shares, error = KIND_PSEUDO / KIND_PSEUDO.sum(), ((wrong + 1.0) / (total + 2.0)).sum(axis=0)
    honest = (error <= np.median(error)).astype(float)  # the better half, to begin with
    for _ in range(50):
        law = _honest_law(wrong, total, honest)
        good, bad = honest_evidence(wrong, right, *law), honest_evidence(right, wrong, *law)
        kinds = softmax(np.column_stack([good, *blind, bad]) + np.log(shares), axis=1)
        shares = (kinds.sum(axis=0) + KIND_PSEUDO) / (len(kinds) + KIND_PSEUDO.sum())
        moved, honest = np.abs(kinds[:, 0] - honest).max(), kinds[:, 0]
        if moved < 1e-6:
            break
    return kinds, shares


def _honest_law(wrong: Array, total: Array, honest: Array) -> tuple[Array, Array]:
    """Return mean and strength, (2, 1) each, of the rates of those ``honest`` with P (R,)."""
    pseudo, rate, sure = PSEUDO_ANSWERS, PSEUDO_RATE, honest > 0.5
    mean = (wrong @ honest + pseudo * rate) / (total @ honest + pseudo)
    counts = zip(wrong[:, sure], total[:, sure], mean.tolist(), strict=True)
    return mean[:, None], np.array([[strength(*three)] for three in counts])


def honest_evidence(wrong: Array, right: Array, mean: Array, strength: Array) -> Array:
    """Return the log-evidence (R,) of counts (2, R) for the honest, most alike and few odd."""
    alike, odd = (
        log_evidence(wrong, right, m * mean, m * (1.0 - mean)).sum(axis=0)
        for m in (strength, np.minimum(strength, ODD_STRENGTH))
    )
    return np.asarray(np.logaddexp(np.log1p(-ODD_SHARE) + alike, np.log(ODD_SHARE) + odd))


def log_evidence(hits: Array, misses: Array, a: Array | float, b: Array | float) -> Array:
    """Return log ∫ x^hits (1 − x)^misses Beta(x; a, b) dx."""
    evidence: Array = betaln(a + hits, b + misses) - betaln(a, b)
    return evidence


def rate_posterior(wrong: Array, total: Array, honest: Array) -> tuple[Array, Array]:
    """Return the Beta posteriors (a, b) of the rates, (2, R) each, shrunk towards the honest.

        a = wrong_r + m_r μ_r + j_r,   b = right_r + m_r (1 − μ_r) + j_r,   j_r = max(0, 1 − m_r)/2

    with μ_r the rate of all *other* honest annotators, from N_r answers, m what the spread between
    them says that honest people have in common (`shrinkage.strength`, at most 20 answers), and
    m_r = P(r is honest) · m N_r / (m + N_r). Nobody is shrunk towards themselves, nor a spammer
    towards the honest; where m_r = 0 Jeffreys' prior is left. ``honest`` (R,): P(r is honest).

    >>> a, b = rate_posterior(np.array([[3.0], [0.0]]), np.full((2, 1), 10.0), np.ones(1))
    >>> a.ravel(), b.ravel()
    (array([3.5, 0.5]), array([ 7.5, 10.5]))
    """
    others, wrong_others = ((honest * n).sum(axis=1)[:, None] - honest * n for n in (total, wrong))
    mean = (wrong_others + 0.5) / (others + 1.0)
    strength = np.minimum(_honest_law(wrong, total, honest)[1], MOST_SHRINKAGE)
    prior = honest * strength * others / (strength + others)
    rest = np.maximum(1.0 - prior, 0.0) / 2
    return wrong + prior * mean + rest, total - wrong + prior * (1.0 - mean) + rest
