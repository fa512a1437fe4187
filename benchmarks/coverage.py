"""How often the intervals of the joint learner hold the truth.

    python benchmarks/coverage.py [--label 0.3.0] [--runs 100] [--only "three classes" …] [--print]

Every run draws 200 items of overlapping classes and 1,200 answers with flip rates between .05 and
.3, fits `JointPairClassifier`, and asks `clf.intervals` at 90 %. The truth is what the answers were
drawn with: both rates, the share of the last class in the population, and the share of 4,000 new
items that the model puts in the right class. A configuration says how many classes there are and
how the answers are given: `CONFIGURATIONS`. A run is "refused" where `fit` raises, and "raised"
where `intervals` does, which it never should. Runs what ``records/coverage.jsonl`` lacks and prints
the table of docs/wrong-answers.md. --quick makes ten runs of each configuration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from draws import true_names
from noisypairs import Pairs
from noisypairs.metrics import accuracy_up_to_names
from protocol import attempt, machine, options, read, run, select, versions

NAME = "coverage"
N_ITEMS, N_ANSWERS, N_NEW, LEVEL = 200, 1200, 4000, 0.9
QUANTITIES = ("similar_flip", "dissimilar_flip", "prior", "accuracy")


def draw_items(share, size, rng):
    """Draw Gaussian classes that overlap: of two the best rule gets about 89 % right."""
    y = (rng.random((size, 1)) > np.cumsum(share)[:-1]).sum(axis=1)
    if len(share) == 2:
        centres = 1.2 * np.outer([-1.0, 1.0], [0.7, 0.7, 0.0, 0.0])
    else:
        centres = 2.0 * np.eye(len(share), 4)
    return rng.normal(size=(size, 4)) + centres[y], y


def draw_pairs(n_items, n_pairs, rng):
    """Draw pairs of distinct items, with replacement."""
    left, other = rng.integers(n_items, size=n_pairs), rng.integers(n_items - 1, size=n_pairs)
    return left, other + (other >= left)


def answer(y, left, right, rates, rng):
    """Answer each pair; ``rates`` are (similar_flip, dissimilar_flip), numbers or one per pair."""
    same = y[left] == y[right]
    return same ^ (rng.random(len(left)) < np.where(same, rates[0], rates[1]))


def plain(y, rates, rng, n_answers=N_ANSWERS):
    left, right = draw_pairs(len(y), n_answers, rng)
    return Pairs(left, right, answer(y, left, right, rates, rng), len(y)), rates


def four(y, rates, rng):
    """Give four answers per item."""
    return plain(y, rates, rng, 4 * len(y))


def weights(y, rates, rng):
    pairs, rates = plain(y, rates, rng)
    return pairs.reweighted(rng.choice([0.5, 1.0, 2.0], pairs.n_pairs)), rates


def repeated(y, rng, times=3):
    left, right = draw_pairs(len(y), N_ANSWERS // times, rng)
    return np.tile(left, times), np.tile(right, times)


def repeats(y, rates, rng):
    left, right = repeated(y, rng)
    return Pairs(left, right, answer(y, left, right, rates, rng), len(y)), rates


def votes(y, rates, rng):
    left, right = repeated(y, rng)
    said = answer(y, left, right, rates, rng).reshape(3, -1).sum(axis=0)
    size = len(said)
    return Pairs.from_votes(left[:size], right[:size], said, 3 - said, len(y)), rates


def annotators(y, rates, rng):
    """Ten people whose rates lie between half and one and a half times the mean."""
    left, right = draw_pairs(len(y), N_ANSWERS, rng)
    who = rng.integers(10, size=N_ANSWERS)
    own = np.outer(rates, np.linspace(0.5, 1.5, 10))
    same = answer(y, left, right, own[:, who], rng)
    return Pairs(left, right, same, len(y), annotator=who), own[:, who].mean(axis=1)


def agreeing(y, rates, rng, rho=0.5):
    """Three people answer each pair; two of their answers on a pair correlate by ρ."""
    left, right = repeated(y, rng)
    own = answer(y, left, right, rates, rng).reshape(3, -1)
    shared = answer(y, left[: own.shape[1]], right[: own.shape[1]], rates, rng)
    same = np.where(rng.random(own.shape) < np.sqrt(rho), shared, own)
    return Pairs(left, right, same.ravel(), len(y)), rates


def copies(y, rates, rng):
    """Record 600 answers three times, without saying by whom."""
    pairs, rates = plain(y, rates, rng)
    return pairs.select(np.tile(np.arange(N_ANSWERS // 2), 3)), rates


@dataclass(frozen=True)
class Configuration:
    """How answers are given, the share of each class or None for two drawn ones, how many items."""

    answers: Callable[..., Any] = plain
    share: tuple[float, ...] | None = None
    n_items: int = N_ITEMS
    highest_rate: float = 0.3

    def shares(self, rng):
        """Return the share of each class in the population."""
        smaller = rng.uniform(0.25, 0.4)
        return np.array([1 - smaller, smaller] if self.share is None else self.share)


EVEN_THREE, TINY_TWO, TINY_THREE = (0.3, 0.3, 0.4), (0.97, 0.03), (0.03, 0.37, 0.6)
#: The place in this list is part of a run's seed: new ones go to the end.
CONFIGURATIONS = {
    "plain": Configuration(),
    "weights": Configuration(weights),
    "repeats": Configuration(repeats),
    "votes": Configuration(votes),
    "annotators": Configuration(annotators),
    "agreeing": Configuration(agreeing),
    "copies": Configuration(copies),
    "4 answers per item": Configuration(four),
    "three classes": Configuration(share=EVEN_THREE),
    "three classes, 4 answers per item": Configuration(four, EVEN_THREE),
    # The smallest class has about six items, then one or two of 30: some redraws lose it.
    "a tiny class of two": Configuration(share=TINY_TWO),
    "a tiny class of three": Configuration(share=TINY_THREE),
    "one or two items of 30": Configuration(four, (0.95, 0.05), 30, 0.15),
}


def task(version: str, configuration: str, seed: int) -> dict[str, Any]:  # noqa: ARG001
    """Return for each quantity the truth, the estimate and the ends of its interval."""
    rng = np.random.default_rng([seed, list(CONFIGURATIONS).index(configuration)])
    chosen = CONFIGURATIONS[configuration]
    share, rates = chosen.shares(rng), rng.uniform(0.05, chosen.highest_rate, size=2)
    X, y = draw_items(share, chosen.n_items, rng)
    X_new, y_new = draw_items(share, N_NEW, rng)
    pairs, rates = chosen.answers(y, rates, rng)
    done = attempt(X, pairs, LogisticRegression(), len(share))
    if done.model is None:
        return {"error": f"fit: {done.error}"}
    try:
        found = done.model.intervals(X, pairs, LEVEL)
    except Exception as raised:  # never to raise is part of what is measured
        return {"error": f"intervals: {type(raised).__name__}: {raised}"}
    last = true_names(y, done.model.item_proba_)[-1]
    accuracy = accuracy_up_to_names(y_new, done.model.predict(X_new))
    truth = dict(zip(QUANTITIES, [*rates, share[last], accuracy], strict=True))
    ends = {
        name: [float(truth[name]), found[name].estimate, found[name].low, found[name].high]
        for name in QUANTITIES
    }
    return {"error": None, **ends}


def covered(records, quantity):
    """Return the share of intervals that hold the truth, its standard error, the mean width."""
    ends = [record[quantity] for record in records]
    share = float(np.mean([low <= truth <= high for truth, _, low, high in ends]))
    width = float(np.mean([high - low for *_, low, high in ends]))
    return share, float(np.sqrt(share * (1 - share) / len(ends))), width


def table(records: list[dict[str, Any]]) -> None:
    print("\nShare of intervals that hold the truth ± standard error (mean width).\n")
    print(f"| version | answers | runs | {' | '.join(QUANTITIES)} | refused | raised |")
    print(f"|{'---|' * (len(QUANTITIES) + 5)}")
    for version in versions(records):
        for name in CONFIGURATIONS:
            mine = select(records, version=version, configuration=name)
            well = [r for r in mine if r["error"] is None]
            cells = [
                "{:.1%} ± {:.1%} ({:.2f})".format(*covered(well, quantity)) if well else "—"
                for quantity in QUANTITIES
            ]
            errors = [r["error"] for r in mine if r["error"] is not None]
            raised = sum(error.startswith("intervals") for error in errors)
            if mine:
                counts = [str(len(errors) - raised), str(raised)]
                print(f"| {' | '.join([version, name, str(len(mine)), *cells, *counts])} |")
    for error in dict.fromkeys(record["error"] for record in records):
        if error is not None and error.startswith("intervals"):
            print(f"\n{error}")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--runs", type=int, default=100, help="runs of each configuration")
    parser.add_argument("--only", nargs="+", default=list(CONFIGURATIONS), metavar="CONFIGURATION")
    given = parser.parse_args()
    cells = [
        {"version": given.label, "configuration": name, "seed": seed}
        for seed in range(10 if given.quick else given.runs)
        for name in given.only
    ]
    records = read(NAME) if given.only_print else run(task, cells, NAME)
    print(machine())
    table(records)


if __name__ == "__main__":
    main()
