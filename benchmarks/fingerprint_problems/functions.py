"""What is computed without a learner: annotators, rates, metrics, bounds, noise, audits."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from noisypairs import (
    CleanPairs,
    ComposedNoise,
    LabelingNoise,
    MatrixNoise,
    PairingNoise,
    algebra,
    annotators,
    datasets,
    estimation,
    metrics,
    model_selection,
    sample_pairs,
    theory,
)

from .problem import (
    LABELING,
    NOISE,
    answers,
    crowd,
    enough_pairs,
    items,
    many,
    problem,
    table_of,
)


def whole(table: annotators.AnnotatorTable) -> list[Any]:
    """Return a table of annotators with the beliefs behind it."""
    return [table.to_dict(), table.item_proba]


@problem
def annotator_tables() -> Any:
    pairs, X = crowd(), items()[0]
    gold = {i: int(items()[1][i]) for i in range(12)}
    model = LogisticRegression()
    return [
        whole(annotators.annotator_table(pairs, random_state=0)),
        whole(annotators.annotator_table(pairs, X, estimator=model, random_state=0)),
        whole(annotators.annotator_table(pairs, gold=gold, level=0.8, random_state=0)),
        whole(annotators.annotator_table(crowd(3), n_classes=3, n_drop=0, random_state=0)),
    ]


@problem
def annotator_tables_streamed() -> Any:
    X = items()[0]
    settings: dict[str, Any] = {"estimator": LogisticRegression(), "random_state": 0}
    with table_of(crowd()) as table, enough_pairs(600):
        found = [annotators.annotator_table(table, given, **settings) for given in (X, None)]
    return [whole(one) for one in found]


@problem
def annotator_counts() -> Any:
    wrong, total = np.array([[2.0, 40.0, 20.0], [3.0, 60.0, 1.0]]), np.full((2, 3), 100.0)
    kind, shares = annotators.kind_probability(wrong, total)
    same = np.array([[[30.0, 4.0], [4.0, 25.0]], [[18.0, 15.0], [15.0, 14.0]]])
    different = np.array([[[3.0, 28.0], [28.0, 2.0]], [[17.0, 16.0], [16.0, 15.0]]])
    names, counts = np.array(["a", "b"]), np.array([124, 126])
    beliefs = np.full((4, 2), 0.5)
    table = annotators.table_from_counts(names, counts, same, different, beliefs)
    return [kind, shares, annotators.rate_posterior(wrong, total, np.ones(3)), whole(table)]


@problem
def estimates() -> Any:
    _, y = items()
    repeated = answers(n_pairs=8000)
    return [
        estimation.wilson(30, 100),
        [estimation.same_share(answers(), interval=how) for how in ("wilson", "items")],
        [estimation.estimate_prior(answers(), NOISE, interval=how) for how in ("wilson", "items")],
        estimation.rates_from_gold(answers(), y),
        estimation.rates_from_gold(answers(), {i: y[i] for i in range(60)}, level=0.8),
        estimation.rates_from_repeats(repeated, n_bootstrap=20),
        estimation.rates_from_repeats(repeated, equal_rates=True, n_bootstrap=20),
        estimation.dyadic_mean(answers(), answers().same.astype(float)),
    ]


@problem
def scores() -> Any:
    _, y = items()
    guess = (items()[0][:, 0] > 0).astype(int)
    beliefs = np.column_stack([0.8 - 0.6 * y, 0.2 + 0.6 * y])
    return [
        metrics.accuracy_up_to_names(y, guess),
        metrics.contingency(y, guess),
        metrics.pair_agreement(answers(), guess),
        metrics.corrected_pair_agreement(answers(), y, NOISE),
        metrics.estimate_accuracy(answers(), y, NOISE),
        metrics.pair_log_likelihood(answers(), beliefs, NOISE),
    ]


@problem
def chosen_rates() -> Any:
    X, _ = items()
    found = []
    for noise, family in ((NOISE, "pairing"), (LABELING, "labeling")):
        pairs = many(noise)
        share = model_selection.out_of_fold_share(LogisticRegression(), X, pairs, random_state=0)
        rates = model_selection.choose_rates(share, family)
        found.append([share, rates, model_selection.choose_alpha(share)])
    return found


@problem
def bounds() -> Any:
    model = theory.ModelClass(2.0, 1.5, "hinge")
    of_noise = (theory.uniform_deviation_bound, theory.excess_risk_bound, theory.weighted_bound)
    noises, formulas = (NOISE, LABELING), ("unbiased", "printed")
    found = [
        [f(noise, 0.3, 5000, 0.1, model, formula=formula) for f in of_noise]
        for noise in noises
        for formula in formulas
    ]
    sizes = [theory.sample_size(noise, 0.3, 0.2) for noise in noises]
    inflation = [theory.noise_inflation(noise, 0.3) for noise in noises]
    rademacher = theory.empirical_rademacher(items()[0], n_draws=50, random_state=0)
    return [found, sizes, inflation, rademacher, theory.clean_bound(0.3, 5000)]


@problem
def rules() -> Any:
    eta = np.linspace(0.0, 1.0, 11)
    of_eta = (theory.noisy_posterior, theory.noisy_bayes_rule, theory.weighted_bayes_rule)
    of_noise = (theory.is_convex, theory.compare_bayes_rules)
    noises = (NOISE, LABELING, PairingNoise(0.1, 0.45), ComposedNoise(LABELING, NOISE))
    return [
        [f(noise, 0.3, eta) for f in of_eta] + [f(noise, 0.3) for f in of_noise] for noise in noises
    ]


@problem
def equations() -> Any:
    two = (algebra.alpha, algebra.corrected_coefficients, algebra.density_weights, algebra.gain)
    two += (algebra.same_given_class, algebra.same_rate, algebra.signal, algebra.threshold)
    two += (algebra.transition, algebra.pair_density_weights)
    matrices = [noise.same_probability(2) for noise in (NOISE, LABELING)]
    roots = [algebra.prior_roots(S, 0.5) for S in matrices]
    branches = [algebra.prior_branches(S, 0.5) for S in matrices]
    posterior = algebra.pair_posterior(matrices[0], [[0.3, 0.7]], [[0.6, 0.4]])
    return [[f(S, 0.3) for f in two for S in matrices], roots, branches, posterior]


@problem
def noise_models() -> Any:
    y, rng = items(3)[1], np.random.default_rng(2)
    left, right = rng.integers(len(y), size=(2, 60))
    matrix = MatrixNoise(((0.9, 0.2, 0.1), (0.2, 0.8, 0.3), (0.1, 0.3, 0.7)))
    flip = LabelingNoise(flip=((0.8, 0.1, 0.1), (0.2, 0.7, 0.1), (0.0, 0.1, 0.9)), per="item")
    models = [NOISE, CleanPairs(), matrix, flip, ComposedNoise(flip, NOISE)]
    answered = [one.corrupt(y, left, right, n_classes=3, random_state=0) for one in models]
    return [answered, [one.same_probability(3) for one in models]]


@problem
def simulated_data() -> Any:
    drawn = sample_pairs(items()[1], 50, NOISE, same_share=0.3, random_state=0)
    people = datasets.simulated_crowd(60, 3, 8, random_state=0)
    numeric = {key: value for key, value in people.items() if isinstance(value, np.ndarray)}
    pairs = [(one.left, one.right, one.same) for one in (drawn, people.pairs)]
    return [datasets.gaussians(50, 0.3, random_state=0), numeric, pairs]


@problem
def audits() -> Any:
    with table_of(crowd(weights=True)) as table:
        return [crowd(weights=True).audit().to_dict(), table.audit().to_dict()]
