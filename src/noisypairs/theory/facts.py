"""All that follows from one noise and prior, line by line: derived, and as the paper prints it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from noisypairs import algebra
from noisypairs.algebra import Formula
from noisypairs.errors import NotIdentifiable
from noisypairs.noise import NoiseModel
from noisypairs.theory import bounds, rules
from noisypairs.theory.complexity import ModelClass


class Fact(NamedTuple):
    """One line: as derived and as the paper prints it; an exception says why it is missing."""

    key: str
    label: str
    derived: Any
    printed: Any = None


def known_facts(
    noise: NoiseModel, prior: float, n: int, delta: float, epsilon: float, model: ModelClass
) -> list[Fact]:
    """Return every fact; one that does not exist holds the exception with its reason.

    >>> from noisypairs.noise import CleanPairs
    >>> facts = known_facts(CleanPairs(), 0.2, 1000, 0.05, 0.1, ModelClass.linear())
    >>> next(fact.derived for fact in facts if fact.key == "alpha")
    0.5
    """
    return [
        *_algebra_facts(noise, prior),
        *_bound_facts(noise, prior, n, delta, model),
        _pairs_needed(noise, prior, epsilon, delta, model),
    ]


def _fact(
    key: str, label: str, derive: Callable[[], Any], printed: Callable[[], Any] | None = None
) -> Fact:
    def attempt(compute: Callable[[], Any]) -> Any:
        try:
            value = compute()
        except NotIdentifiable as reason:
            return reason
        return value.tolist() if hasattr(value, "tolist") else value

    return Fact(key, label, attempt(derive), attempt(printed) if printed else None)


def _both(key: str, label: str, compute: Callable[[Formula], Any]) -> Fact:
    return _fact(key, label, lambda: compute("unbiased"), lambda: compute("printed"))


def _algebra_facts(noise: NoiseModel, prior: float) -> list[Fact]:
    S = noise.same_probability()
    T, T_printed = algebra.transition(S, prior), noise.printed_transition(prior)
    rate = algebra.same_rate(S, prior)
    return [
        _fact("S", "S: P(same | classes), rows and columns -, +", lambda: S),
        _fact("T", "T: rows same, different; columns +, -", lambda: T, lambda: T_printed),
        _fact(
            "T_inverse",
            "inverse of T",
            lambda: algebra.invert_transition(T, "printed"),
            lambda: algebra.invert_transition(T_printed, "printed"),
        ),
        _both(
            "coefficients",
            "corrected loss: rows same, different; columns +, -",
            lambda formula: noise.corrected_coefficients(prior, formula),
        ),
        _fact("alpha", "weight alpha", lambda: algebra.alpha(S, prior)),
        _fact("gain", "gain A", lambda: algebra.gain(S, prior)),
        _fact(
            "threshold",
            "threshold of the noisy Bayes rule",
            lambda: algebra.threshold(S, prior),
            lambda: noise.printed_threshold(prior),
        ),
        _fact(
            "bayes_rules",
            "noisy and clean Bayes rule are",
            lambda: rules.compare_bayes_rules(noise, prior),
        ),
        _both("convex", "corrected loss convex", lambda f: rules.is_convex(noise, prior, f)),
        _fact("same_rate", "P(same)", lambda: rate),
        _fact(
            "prior_roots",
            "priors with this P(same)",
            # At the flattest prior rounding may leave no real root; the given one always is one.
            lambda: algebra.prior_roots(S, rate) or (prior,),
        ),
    ]


def _bound_facts(
    noise: NoiseModel, prior: float, n: int, delta: float, model: ModelClass
) -> list[Fact]:
    given = (n, delta, model)
    return [
        _fact(
            "noise_inflation",
            "noise inflation: bound over that of clean labels",
            lambda: bounds.noise_inflation(noise, prior),
        ),
        _both(
            "uniform_deviation",
            "uniform deviation (Lemma 1)",
            lambda f: bounds.uniform_deviation_bound(noise, prior, *given, formula=f),
        ),
        _both(
            "excess_risk",
            "excess risk, loss correction (Theorem 1)",
            lambda f: bounds.excess_risk_bound(noise, prior, *given, formula=f),
        ),
        _both(
            "clean_excess_risk",
            "the same without noise",
            lambda f: bounds.clean_bound(prior, *given, formula=f),
        ),
        _both(
            "weighted_excess_risk",
            "excess 0-1 risk, weighted (approximation error 0)",
            lambda f: bounds.weighted_bound(noise, prior, *given, formula=f),
        ),
    ]


def _pairs_needed(
    noise: NoiseModel, prior: float, epsilon: float, delta: float, model: ModelClass
) -> Fact:
    return _both(
        "pairs_needed",
        f"pairs for an excess risk of {epsilon:g} (Theorem 1)",
        lambda formula: bounds.sample_size(noise, prior, epsilon, delta, model, formula),
    )


def as_json(facts: Sequence[Fact]) -> dict[str, Any]:
    """Return derived values by key, printed ones under "printed", reasons under "missing"."""

    def plain(value: Any) -> Any:
        return None if isinstance(value, Exception) else value

    return {
        **{fact.key: plain(fact.derived) for fact in facts},
        "printed": {f.key: plain(f.printed) for f in facts if f.printed is not None},
        "missing": {f.key: str(f.derived) for f in facts if isinstance(f.derived, Exception)},
    }
