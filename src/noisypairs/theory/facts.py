"""All that follows from one noise and prior, line by line: derived, and as the paper prints it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from noisypairs import algebra
from noisypairs.algebra import Formula
from noisypairs.errors import NotIdentifiable
from noisypairs.noise import NoiseModel
from noisypairs.theory import bounds, rules
from noisypairs.theory.bounds import ModelClass

#: What each fact is called, by its key in JSON, in the order in which they are shown.
LABELS = {
    "S": "S: P(same | classes), rows and columns -, +",
    "T": "T: rows same, different; columns +, -",
    "T_inverse": "inverse of T",
    "coefficients": "corrected loss: rows same, different; columns +, -",
    "alpha": "weight alpha",
    "gain": "gain A",
    "threshold": "threshold of the noisy Bayes rule",
    "bayes_rules": "noisy and clean Bayes rule are",
    "convex": "corrected loss convex",
    "same_rate": "P(same)",
    "prior_roots": "priors with this P(same)",
    "noise_inflation": "noise inflation: bound over that of clean labels",
    "uniform_deviation": "uniform deviation (Lemma 1)",
    "excess_risk": "excess risk, loss correction (Theorem 1)",
    "clean_excess_risk": "the same without noise",
    "weighted_excess_risk": "excess 0-1 risk, weighted (approximation error 0)",
    "pairs_needed": "pairs for an excess risk of {epsilon:g} (Theorem 1)",
}


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
    S, problem = noise.same_probability(), (noise, prior)
    T, T_printed = algebra.transition(S, prior), noise.printed_transition(prior)
    rate = algebra.same_rate(S, prior)
    derived: Mapping[str, Callable[[], Any]] = {
        "S": lambda: S,
        "T": lambda: T,
        "T_inverse": lambda: algebra.invert_transition(T, "printed"),
        "alpha": lambda: algebra.alpha(S, prior),
        "gain": lambda: algebra.gain(S, prior),
        "threshold": lambda: algebra.threshold(S, prior),
        "bayes_rules": lambda: rules.compare_bayes_rules(*problem),
        "same_rate": lambda: rate,
        # At the flattest prior rounding may leave no real root; the given one always is one.
        "prior_roots": lambda: algebra.prior_roots(S, rate) or (prior,),
        "noise_inflation": lambda: bounds.noise_inflation(*problem),
    }
    as_printed: Mapping[str, Callable[[], Any]] = {
        "T": lambda: T_printed,
        "T_inverse": lambda: algebra.invert_transition(T_printed, "printed"),
        "threshold": lambda: noise.printed_threshold(prior),
    }
    both: Mapping[str, Callable[[Formula], Any]] = {
        "coefficients": lambda f: noise.corrected_coefficients(prior, f),
        "convex": lambda f: rules.is_convex(*problem, f),
        "uniform_deviation": lambda f: bounds.uniform_deviation_bound(*problem, n, delta, model, f),
        "excess_risk": lambda f: bounds.excess_risk_bound(*problem, n, delta, model, f),
        "clean_excess_risk": lambda f: bounds.clean_bound(prior, n, delta, model, f),
        "weighted_excess_risk": lambda f: bounds.weighted_bound(
            *problem, n, delta, model, formula=f
        ),
        "pairs_needed": lambda f: bounds.sample_size(*problem, epsilon, delta, model, f),
    }

    def attempt(key: str, others: Mapping[str, Callable[[], Any]], formula: Formula) -> Any:
        value: Any
        try:
            value = both[key](formula) if key in both else others[key]() if key in others else None
        except NotIdentifiable as reason:
            return reason
        return value.tolist() if hasattr(value, "tolist") else value

    return [
        Fact(
            key,
            label.format(epsilon=epsilon),
            attempt(key, derived, "unbiased"),
            attempt(key, as_printed, "printed"),
        )
        for key, label in LABELS.items()
    ]


def as_json(facts: Sequence[Fact]) -> dict[str, Any]:
    """Return derived values by key, printed ones under "printed", reasons under "missing"."""

    def plain(value: Any) -> Any:
        return None if isinstance(value, Exception) else value

    return {
        **{fact.key: plain(fact.derived) for fact in facts},
        "printed": {f.key: plain(f.printed) for f in facts if f.printed is not None},
        "missing": {f.key: str(f.derived) for f in facts if isinstance(f.derived, Exception)},
    }
