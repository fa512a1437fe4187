"""Fit every learner on small problems and print a digest of all numbers that come out.

    python benchmarks/fingerprint.py [--only NAME ...] [--verbose]
    python benchmarks/fingerprint.py --save benchmarks/records/fingerprint.json
    python benchmarks/fingerprint.py --compare benchmarks/records/fingerprint.json

For changes that must change no number, such as moving modules: record before, compare after, on
the same machine with the same packages and OMP_NUM_THREADS=1. Numbers are rounded to 10 significant
digits, and to multiples of 1e-12. Only public names and the command line are used.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import hashlib
import importlib.util
import io
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge

from noisypairs import (
    CleanPairs,
    ComposedNoise,
    COPKMeans,
    JointPairClassifier,
    LabelingNoise,
    LossCorrectionClassifier,
    MatrixNoise,
    NoiseModel,
    PairingNoise,
    PairKMeans,
    Pairs,
    PairTable,
    WeightedPairClassifier,
    algebra,
    annotators,
    datasets,
    estimation,
    metrics,
    model_selection,
    sample_pairs,
    theory,
)
from noisypairs.cli import main as command_line

DIGITS, SMALLEST = 10, 12
NOISE, LABELING = PairingNoise(0.2, 0.1), LabelingNoise(0.15, 0.1)
#: What a fitted learner is asked for, where it has it.
FITTED = [
    "classes_",
    "prior_",
    "item_proba_",
    "oof_proba_",
    "annotator_noise_",
    "wrong_proba_",
    "log_likelihood_",
    "start_",
    "starts_",
    "n_classes_",
    "noise_model_",
    "noise_models_",
    "candidates_",
    "converged_",
    "n_iter_",
    "history_",
    "alpha_",
    "gain_",
    "rate_choice_",
    "prior_estimate_",
    "labels_",
    "cluster_centers_",
    "inertia_",
    "variance_",
    "violated_",
    "n_violations_",
    "violation_weight_",
    "n_contradictory_pairs_",
    "n_frustrated_items_",
]
#: Keys of JSON output that name the time, the machine or the place.
UNSTEADY = {"seconds", "versions", "version", "date", "sources", "checksums", "written"}
#: More pairs than this are streamed, or sampled first; no table here is as large.
ENOUGH = 2_000_000
PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "duckdb", "ibis-framework", "torch")

Problem = Callable[[], Any]
PROBLEMS: dict[str, Problem] = {}
XY = tuple[NDArray[np.float64], NDArray[np.int64]]


def problem(function: Problem) -> Problem:
    """Add a function to the problems, under its own name."""
    PROBLEMS[function.__name__] = function
    return function


# --- data -----------------------------------------------------------------------------------


@cache
def items(n_classes: int = 2, n_items: int = 120, seed: int = 0) -> XY:
    """Return items of overlapping Gaussian classes, the first the largest: X (n, 3) and y."""
    rng = np.random.default_rng(seed)
    share = np.linspace(3.0, 1.0, n_classes)
    y = rng.choice(n_classes, n_items, p=share / share.sum())
    centres = 2.5 * np.random.default_rng(7).normal(size=(n_classes, 3))
    return centres[y] + rng.normal(size=(n_items, 3)), y


def answers(
    noise: NoiseModel = NOISE, n_classes: int = 2, n_pairs: int = 900, seed: int = 1
) -> Pairs:
    """Return noisy pairs of `items`."""
    return sample_pairs(items(n_classes)[1], n_pairs, noise, random_state=seed)


def crowd(n_classes: int = 2, weights: bool = False, n_pairs: int = 900) -> Pairs:
    """Return the answers of three annotators, of whom one guesses; weights if wanted."""
    rng = np.random.default_rng(3)
    pairs = answers(n_classes=n_classes, n_pairs=n_pairs)
    who = rng.choice(["ann", "bob", "coin"], pairs.n_pairs, p=[0.4, 0.4, 0.2])
    same = np.where(who == "coin", rng.random(pairs.n_pairs) < 0.5, pairs.same)
    weight = rng.uniform(0.5, 2.0, pairs.n_pairs) if weights else None
    return Pairs(pairs.left, pairs.right, same, pairs.n_items, annotator=who, weight=weight)


def with_some_labels(pairs: Pairs, y: NDArray[np.int64]) -> Pairs:
    """Return the pairs with the names of two items of every class."""
    known = np.concatenate([np.flatnonzero(y == k)[:2] for k in np.unique(y)])
    return pairs.with_labels({int(i): f"class {y[i]}" for i in known})


@contextlib.contextmanager
def table_of(pairs: Pairs) -> Iterator[PairTable]:
    """Write the pairs to Parquet and yield them as a table that stays there."""
    columns = {"left": pairs.left, "right": pairs.right, "same": pairs.same}
    if pairs.annotator_names is not None:
        columns["annotator"] = np.asarray(pairs.annotator_names)[pairs.annotator]
    if pairs.weight is not None:
        columns["weight"] = pairs.weight
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.parquet"
        pd.DataFrame(columns).to_parquet(path)
        yield PairTable.from_parquet(path, n_items=pairs.n_items, threads=1)


@contextlib.contextmanager
def enough_pairs(number: int) -> Iterator[None]:
    """Let the joint learner take more pairs than this for many, whichever module says so."""
    loaded = [module for key, module in sys.modules.items() if key.startswith("noisypairs")]
    found = [
        (home, name)
        for home in loaded
        for name, value in vars(home).items()
        if name.isupper() and isinstance(value, int) and value == ENOUGH
    ]
    if not found:
        raise LookupError(f"no constant of any module is {ENOUGH:,}: say in ENOUGH what it is now")
    try:
        for home, name in found:
            setattr(home, name, number)
        yield
    finally:
        for home, name in found:
            setattr(home, name, ENOUGH)


# --- what is asked of a fitted learner ------------------------------------------------------


def told(model: Any, X: Any) -> dict[str, Any]:
    """Return all numbers of a fitted learner: noise, what it keeps, what it predicts of X."""
    kept = {name: getattr(model, name) for name in FITTED if hasattr(model, name)}
    kept["same"] = model.noise_.same_probability(len(model.classes_))
    kept["predict"] = model.predict(X)
    if hasattr(model, "predict_proba"):
        kept["predict_proba"] = model.predict_proba(X)
    return kept


def fitted(model: Any, pairs: Any, n_classes: int = 2) -> dict[str, Any]:
    """Fit a learner to items and pairs; predict these items and new ones."""
    X = items(n_classes)[0]
    new = items(n_classes, 40, seed=9)[0]
    model.fit(X, pairs)
    return {"old": told(model, X), "new": model.predict(new)}


def joint(estimator: Any = "logistic", **settings: Any) -> JointPairClassifier:
    """Return a joint learner; with logistic regression unless other candidates are wanted."""
    chosen = LogisticRegression() if estimator == "logistic" else estimator
    settings = {"positive": "minority"} | settings
    return JointPairClassifier(chosen, random_state=0, **settings)


# --- the joint learner ----------------------------------------------------------------------


@problem
def joint_default_candidates() -> Any:
    return fitted(joint(None), answers())


@problem
def joint_three_classes() -> Any:
    return fitted(joint(None, n_classes=3, positive=None), answers(n_classes=3), 3)


@problem
def joint_four_classes() -> Any:
    return fitted(joint(n_classes=4, positive=None), answers(n_classes=4, n_pairs=1500), 4)


@problem
def joint_open_number_of_classes() -> Any:
    return fitted(joint(n_classes=[2, 3, 4], positive=None), answers(n_classes=3), 3)


@problem
def joint_noise_families() -> Any:
    families = ("pairing", "labeling", "free", "auto")
    return {name: fitted(joint(noise_model=name), answers(LABELING)) for name in families}


@problem
def joint_free_noise_of_three_classes() -> Any:
    return fitted(joint(n_classes=3, noise_model="free", positive=None), answers(n_classes=3), 3)


@problem
def joint_given_noise() -> Any:
    return [
        fitted(joint(noise=NOISE), answers()),
        fitted(joint(noise=LABELING, prior=0.25, positive=None), answers(LABELING)),
        fitted(joint(noise=CleanPairs()), answers(CleanPairs())),
    ]


@problem
def joint_starts() -> Any:
    starts = ("aligned", "answers", "kmeans", "spectral", "random")
    each = {name: fitted(joint(starts=(name,)), answers()) for name in starts}
    return each | {"random besides": fitted(joint(n_init=2), answers())}


@problem
def joint_annotators() -> Any:
    return [
        fitted(joint(annotators=True), crowd()),
        fitted(joint(annotators=True, n_classes=3, positive=None), crowd(3), 3),
    ]


@problem
def joint_weights() -> Any:
    return [
        fitted(joint(), crowd(weights=True)),
        fitted(joint(annotators=True), crowd(weights=True)),
    ]


@problem
def joint_labels() -> Any:
    two = with_some_labels(answers(), items()[1])
    three = with_some_labels(answers(n_classes=3), items(3)[1])
    return [
        fitted(joint(positive=None), two),
        fitted(joint(n_classes=3, positive=None), three, 3),
    ]


@problem
def joint_items_in_no_pair() -> Any:
    pairs = answers()
    alone = (pairs.left >= 10) & (pairs.right >= 10)
    return fitted(joint(), pairs.select(alone))


@problem
def joint_repeated_pairs() -> Any:
    _, y = items()
    once = answers(CleanPairs(), n_pairs=300)
    left, right = np.repeat(once.left, 3), np.repeat(once.right, 3)
    same = NOISE.corrupt(y, left, right, random_state=5)
    return fitted(joint(), Pairs(left, right, same, once.n_items))


@problem
def joint_several_estimators() -> Any:
    few = [LogisticRegression(C=0.1), LogisticRegression(C=10.0)]
    return fitted(joint(few, cv=3, max_iter=4, tol=1e-2), answers())


@problem
def joint_sampled_in_memory() -> Any:
    with enough_pairs(800):
        return fitted(joint(max_iter=20), answers(n_pairs=4000))


@problem
def joint_table_loaded() -> Any:
    with table_of(crowd(weights=True)) as table:
        return fitted(joint(annotators=True), table)


def streamed(pairs: Pairs, n_classes: int = 2, **settings: Any) -> dict[str, Any]:
    """Fit a joint learner to a table too large to load, and ask for the worst answers."""
    model = joint(max_iter=20, n_classes=n_classes, **settings)
    with table_of(pairs) as table, enough_pairs(600):
        found = fitted(model, table, n_classes)
        suspects = model.stream_suspects(table, 20)
    if model.wrong_proba_ is not None:
        raise RuntimeError("the pairs were loaded, not streamed")
    return found | {"suspects": suspects}


@problem
def joint_streamed() -> Any:
    return [streamed(answers()), streamed(answers(n_classes=3), 3, positive=None)]


@problem
def joint_streamed_annotators() -> Any:
    return streamed(crowd(), annotators=True)


@problem
def joint_streamed_weights() -> Any:
    return streamed(crowd(weights=True))


@problem
def joint_suspects_and_intervals() -> Any:
    X, _ = items()
    model = joint().fit(X, answers())
    found = model.intervals(X, answers(), n_bootstrap=4)
    with table_of(answers()) as table:
        of_table = model.intervals(X, table, n_bootstrap=2)
    three = joint(n_classes=3, positive=None).fit(items(3)[0], answers(n_classes=3))
    more = three.intervals(items(3)[0], answers(n_classes=3), n_bootstrap=2)
    return [model.suspect_pairs(), model.suspect_pairs(7), found, of_table, more]


# --- the point-wise learners ----------------------------------------------------------------


def correction(**settings: Any) -> LossCorrectionClassifier:
    """Return a loss correction learner whose class 1 is the smaller one."""
    return LossCorrectionClassifier(**{"positive": "minority", "random_state": 0} | settings)


def many(noise: NoiseModel = NOISE) -> Pairs:
    """Return as many pairs as rates and prior take that are estimated point by point."""
    return answers(noise, n_pairs=4000)


def weighted(**settings: Any) -> WeightedPairClassifier:
    """Return a weighted learner whose class 1 is the smaller one."""
    return WeightedPairClassifier(**{"positive": "minority", "random_state": 0} | settings)


@problem
def correction_given() -> Any:
    given = {"noise": NOISE, "prior": 0.25}
    losses = ("squared", "logistic", "brier", "sigmoid")
    each = {loss: fitted(correction(loss=loss, **given), many()) for loss in losses}
    kept = {"non_negative": True} | given
    others = {
        "squared_hinge": correction(loss="squared_hinge", **kept),
        "ridge": correction(estimator=Ridge(), **kept),
        "printed": correction(formula="printed", loss="logistic", **given),
    }
    return each | {name: fitted(model, many()) for name, model in others.items()}


@problem
def correction_estimated() -> Any:
    return {
        "prior": fitted(correction(noise=NOISE), many()),
        "pairing": fitted(correction(), many()),
        "labeling": fitted(correction(noise_model="labeling"), many(LABELING)),
        "given labeling": fitted(correction(noise=LABELING, prior=0.25), many(LABELING)),
    }


@problem
def weighted_given() -> Any:
    given = {"noise": NOISE, "prior": 0.25}
    return {
        "default": fitted(weighted(**given), many()),
        "logistic": fitted(weighted(estimator=LogisticRegression(), **given), many()),
        "number": fitted(weighted(alpha=0.55, **given), many()),
        "unweighted": fitted(weighted(alpha=0.5, **given), many()),
        "weights": fitted(weighted(**given), crowd(weights=True, n_pairs=4000)),
    }


@problem
def weighted_estimated() -> Any:
    return {
        "prior": fitted(weighted(noise=NOISE), many()),
        "all": fitted(weighted(), many()),
        "labeling": fitted(weighted(noise_model="labeling"), many(LABELING)),
        "alpha": fitted(weighted(alpha="cv"), many()),
    }


@problem
def pointwise_labels() -> Any:
    pairs = with_some_labels(many(), items()[1])
    given = {"noise": NOISE, "positive": None}
    return [fitted(correction(**given), pairs), fitted(weighted(**given), pairs)]


@problem
def pointwise_tables() -> Any:
    models = [correction(noise=NOISE), correction(), weighted(noise=NOISE), weighted(alpha="cv")]
    with table_of(crowd(weights=True, n_pairs=4000)) as table:
        return [fitted(model, table) for model in models]


# --- clustering, networks -------------------------------------------------------------------


@problem
def kmeans() -> Any:
    return {
        "two": fitted(PairKMeans(positive="minority", random_state=0), answers()),
        "equal": fitted(
            PairKMeans(3, random_state=0, item_weight="equal"), answers(n_classes=3), 3
        ),
    }


@problem
def constrained_kmeans() -> Any:
    clean = answers(CleanPairs(), n_pairs=150)
    three = answers(CleanPairs(), n_classes=3, n_pairs=200)
    return {
        "clean": fitted(COPKMeans(positive="minority", random_state=0), clean),
        "noisy": fitted(COPKMeans(positive="minority", random_state=0), crowd(weights=True)),
        "three": fitted(COPKMeans(3, random_state=0), three, 3),
        "noisy three": fitted(COPKMeans(3, random_state=0), answers(n_classes=3), 3),
    }


def networks() -> Any:
    from noisypairs import nn

    settings: dict[str, Any] = {"max_epochs": 5, "learning_rate": 0.05, "random_state": 0}
    adam = nn.TorchClassifier(loss="logistic", optimizer="adam", **settings)
    given: dict[str, Any] = {"noise": NOISE, "prior": 0.25}
    X, y = items()
    regressor = nn.TorchRegressor(**settings)
    return {
        "regressor": fitted(correction(estimator=regressor, **given), answers()),
        "risk": fitted(correction(estimator=adam, loss="logistic", **given), answers()),
        "weighted": fitted(weighted(estimator=nn.TorchClassifier(**settings), **given), answers()),
        "alone": nn.TorchClassifier(early_stopping=True, **settings).fit(X, y).predict_proba(X),
    }


if importlib.util.find_spec("torch"):
    problem(networks)


# --- functions ------------------------------------------------------------------------------


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


# --- the command line -----------------------------------------------------------------------


def write_files(folder: Path, n_pairs: int) -> dict[str, Path]:
    """Write items with columns of several kinds, the crowd's answers and a few known classes."""
    X, y = items()
    rng, pairs = np.random.default_rng(4), crowd(n_pairs=n_pairs)
    ids = np.array([f"p{k:03d}" for k in range(len(y))])
    table = pd.DataFrame({"id": ids, "width": X[:, 0], "height": X[:, 1], "depth": X[:, 2]})
    table["colour"] = rng.choice(["red", "blue"], len(y))
    table["about"] = [" ".join(rng.choice(["round", "soft", "old", "big"], 3)) for _ in ids]
    table.loc[::11, "height"] = np.nan
    told_by = np.asarray(pairs.annotator_names)[pairs.annotator]
    answered = pd.DataFrame({"left": ids[pairs.left], "right": ids[pairs.right]})
    answered = answered.assign(same=np.where(pairs.same, "yes", "no"), annotator=told_by)
    known = pd.DataFrame({"id": ids[:10], "class": np.where(y[:10] == 1, "yew", "ash")})
    frames = {"items": table, "pairs": answered, "labels": known}
    paths = {name: folder / f"{name}.csv" for name in frames}
    for name, frame in frames.items():
        frame.to_csv(paths[name], index=False)
    return paths


def command(*words: object) -> str:
    """Run one command in this process and return what it prints."""
    printed, noted = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["noisypairs", *map(str, words)]
    code: Any = None
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(noted):
            command_line()
    except SystemExit as stop:
        code = stop.code
    finally:
        sys.argv = before
    if code:
        raise RuntimeError(f"noisypairs {words[0]} failed: {noted.getvalue()}")
    return printed.getvalue()


def only_numbers(facts: Any) -> Any:
    """Return JSON data without text and without what changes from run to run."""
    if isinstance(facts, dict):
        steady = {key: value for key, value in facts.items() if key not in UNSTEADY}
        return {key: only_numbers(value) for key, value in steady.items()}
    if isinstance(facts, list):
        return [only_numbers(value) for value in facts]
    return None if isinstance(facts, str) else facts


def numbers_of(*words: object) -> Any:
    """Run one command with ``--json`` and return the numbers it tells."""
    return only_numbers(json.loads(command(*words, "--json")))


@contextlib.contextmanager
def written_files(n_pairs: int = 900) -> Iterator[tuple[Path, dict[str, Path]]]:
    """Yield a temporary folder and the files of `write_files` in it."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name), write_files(Path(name), n_pairs)


def fit_and_predict(*options: str, labels: bool = False, n_pairs: int = 900) -> list[Any]:
    """Run fit, then predict and inspect the model file; return all numbers."""
    with written_files(n_pairs) as (folder, files):
        model, out = folder / "m.skops", folder / "out.csv"
        words: list[object] = ["fit", files["items"], files["pairs"], "-o", model, "--quiet"]
        words += ["--labels", files["labels"]] if labels else []
        fit = numbers_of(*words, *options)
        predict = numbers_of("predict", model, files["items"], "-o", out, "--quiet")
        return [fit, predict, pd.read_csv(out).to_dict("list"), numbers_of("inspect", model)]


@problem
def command_fit() -> Any:
    return fit_and_predict()


@problem
def command_fit_labels() -> Any:
    return fit_and_predict("--method", "joint", "--estimator", "logistic", labels=True)


@problem
def command_fit_methods() -> Any:
    plain = ("--estimator", "logistic", "--no-annotators", "--method")
    methods = ("weighted", "correction")
    return [fit_and_predict(*plain, method, n_pairs=4000) for method in methods]


@problem
def command_check() -> Any:
    with written_files() as (_, files):
        return numbers_of("check", files["items"], files["pairs"], "--quiet")


@problem
def command_annotators() -> Any:
    with written_files() as (_, files):
        alone = numbers_of("annotators", files["pairs"], "--quiet")
        gold = ("--gold", files["labels"])
        return [alone, numbers_of("annotators", files["pairs"], files["items"], *gold, "--quiet")]


@problem
def command_plan() -> Any:
    with written_files() as (folder, files):
        out = folder / "next.csv"
        words = ["plan", files["items"], files["pairs"], "--target", 0.95, "--cost", 0.04]
        facts = numbers_of(*words, "--next", 10, "-o", out, "--quiet")
        return [facts, pd.read_csv(out).to_dict("list")]


@problem
def command_theory() -> Any:
    words = ("theory", "--prior", "0.3", "--noise")
    return [numbers_of(*words, kind, "0.2", "0.1") for kind in ("pairing", "labeling")]


# --- the digest -----------------------------------------------------------------------------


def rounded(value: float) -> str:
    """Return a number as text with 10 significant digits, none beyond the 12th decimal.

    >>> rounded(2 / 3), rounded(1e-13), rounded(12345678.123456)
    ('0.6666666667', '0', '12345678.12')
    """
    near = round(float(value), SMALLEST)
    return f"{near + 0.0:.{DIGITS}g}"  # adding zero turns -0.0 to 0.0


def lines(thing: Any, name: str = "") -> Iterator[str]:
    """Yield ``name value`` for every number in nested data; a name says where it stands."""
    parts = inner(thing)
    if parts is not None:
        for key, part in parts:
            yield from lines(part, f"{name}/{key}")
    elif isinstance(thing, bool | np.bool_ | str | None):
        yield f"{name} {thing}"
    elif isinstance(thing, int | np.integer | float | np.floating):
        yield f"{name} {rounded(thing)}"
    else:
        raise TypeError(f"{name} is a {type(thing).__name__}, of which no number can be taken")


def inner(thing: Any) -> list[tuple[Any, Any]] | None:
    """Return the named parts of what has parts: mappings, sequences, arrays, dataclasses."""
    if isinstance(thing, Pairs):
        return [("left", thing.left), ("right", thing.right), ("same", thing.same)]
    if isinstance(thing, Mapping):
        return sorted(((str(key), value) for key, value in thing.items()), key=lambda kv: kv[0])
    if dataclasses.is_dataclass(thing):
        return [(field.name, getattr(thing, field.name)) for field in dataclasses.fields(thing)]
    if isinstance(thing, list | tuple) or (isinstance(thing, np.ndarray) and thing.ndim):
        return list(enumerate(thing))
    return None


def digest(text: str) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def solved(name: str, verbose: bool) -> str:
    """Solve one problem, print its line, and its numbers if wanted; return its digest."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(lines(PROBLEMS[name]()))
    result = digest("\n".join(found))
    seconds = time.perf_counter() - start
    print(f"{name:36} {result}  {len(found):6} numbers  {seconds:5.1f} s", flush=True)
    if verbose:
        print("\n".join(f"    {line}" for line in found))
    return result


def environment() -> dict[str, str]:
    """Return the versions on which the last digits depend."""
    found = {"python": sys.version.split()[0]}
    for package in PACKAGES:
        with contextlib.suppress(ImportError):
            found[package] = version(package)
    return found


def differing(found: Mapping[str, str], path: Path, whole_run: bool) -> list[str]:
    """Return the problems whose digests are not those recorded; say if the packages changed."""
    record = json.loads(path.read_text())
    if record["environment"] != environment():
        print(f"recorded with other packages: {record['environment']}")
    names = set(found) | (set(record["problems"]) if whole_run else set())
    return sorted(name for name in names if found.get(name) != record["problems"].get(name))


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", metavar="NAME", choices=sorted(PROBLEMS))
    parser.add_argument("--verbose", action="store_true", help="print the rounded numbers")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the digests as JSON")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="exit with 1 if any differs")
    return parser.parse_args()


def main() -> int:
    """Solve the problems, print, save and compare; return the exit code."""
    given = arguments()
    found = {name: solved(name, given.verbose) for name in given.only or PROBLEMS}
    total = digest("\n".join(f"{name} {found[name]}" for name in sorted(found)))
    print(f"{'total':36} {total}")
    if given.save:
        record = {"total": total, "environment": environment(), "problems": found}
        given.save.write_text(json.dumps(record, indent=2) + "\n")
    if not given.compare:
        return 0
    different = differing(found, given.compare, whole_run=not given.only)
    print("differs: " + ", ".join(different) if different else "equal to the record")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
