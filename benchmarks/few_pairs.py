"""What was tried where pairs are few: each idea against the joint learner as it is.

    python benchmarks/few_pairs.py [--ways calibrated views …] [--tables 48] [--density 2]

Simulated tables (`simulated_tables`), so that nothing is chosen by the tables that results are
shown for. One search per table; then one thing differs:

families    every noise family from the start, not from where two rates led; the best score is kept
calibrated  P(class | x) of every round through the line that the choice is made with
fresh       the same, and the classifier learns from class shares times messages, not from beliefs
damped      P(class | x) averaged with that of the last round
averaged    the final classifier learns from the beliefs averaged over the rounds
starts      every start goes on; probabilities averaged with weights of the likelihood
steady      always the mean of ridge and small trees, of which the next two are made
columns     two views, halves of the columns: each learns from the beliefs of the other's view
learners    two views, ridge and small trees: each learns from the beliefs made with the other
relaxed     beliefs moved on by as much again as they differ from P(class | x)

Runs what benchmarks/records/few_pairs.jsonl lacks, and prints the mean change of the accuracy on
new items, in points ± standard error over tables, by how plainly the answers are explained.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from joint_stages import Begun, accuracy, begin, final, finish, rounds
from noisypairs.estimators.joint.beliefs.calibration import calibrated
from noisypairs.estimators.joint.choice import Choice
from noisypairs.estimators.joint.problem import JointProblem, reordered
from noisypairs.estimators.joint.search.selection import Search
from noisypairs.inference import em
from protocol import machine, mean_error, run
from simulated_tables import simulated

NAME = "few_pairs"
#: Bounds of nats per item over blind guessing, for the columns of the table.
BANDS = (0.0, 0.05, 0.15, np.inf)


def normal(values: np.ndarray) -> np.ndarray:
    return np.asarray(values / values.sum(axis=1, keepdims=True))


def clipped(phi: np.ndarray) -> np.ndarray:
    """Return potentials as the rounds use them."""
    return normal(np.clip(phi, em.CERTAIN, None))


#: The mean that two views are made of: {name: number of stages or None}.
STEADY = {"ridge": None, "small trees": 30}
#: From beliefs, evidence m and the last potentials, (n, 2) each, to new potentials.
Change = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def as_it_is(begun: Begun, choice: Choice) -> float:
    return finish(begun, choice)


@dataclass
class OwnFirst(Search):
    """A search whose starts have a noise family of their own."""

    first: str = "pairing"

    @property
    def _first_family(self) -> str:
        return self.first


def families(begun: Begun, _: Choice) -> float:
    found = {}
    old = begun.search
    for first in ("pairing", "labeling", "free"):
        search = OwnFirst(begun.problem, None, "auto", old.kinds, old.n_init, first=first)
        best = search.choose_family(search.choose_classes([2]))
        found[search._score(best, search.family)] = replace(begun, search=search, found=best)
    kept = found[max(found)]
    return finish(kept, kept.chosen())


def following(begun: Begun, change: Change) -> em.Potential:
    """Return a potential that also knows what the answers say of the items, and its last value."""
    last = [clipped(begun.found.potential)]

    def potential(beliefs: np.ndarray) -> np.ndarray:
        phi = change(beliefs, normal(beliefs / last[0]), last[0])
        last[0] = clipped(phi)
        return phi

    return potential


def through_a_line(begun: Begun, choice: Choice) -> float:
    inner = choice.potential(begun.problem.in_pairs, None)
    return finish(begun, choice, following(begun, lambda b, m, _: calibrated(inner(b), m)))


def fresh(begun: Begun, choice: Choice) -> float:
    inner, taught = choice.potential(begun.problem.in_pairs, None), []

    def change(beliefs: np.ndarray, evidence: np.ndarray, _: np.ndarray) -> np.ndarray:
        taught[:] = [normal(beliefs.mean(axis=0) * evidence)]
        return calibrated(inner(taught[0]), evidence)

    rounds(begun, choice, following(begun, change))
    return accuracy(begun, final(begun, choice, taught[0]).predict(begun.data.X_test))


def damped(begun: Begun, choice: Choice) -> float:
    inner = choice.potential(begun.problem.in_pairs, None)
    return finish(begun, choice, following(begun, lambda b, _, last: (inner(b) + last) / 2))


def relaxed(begun: Begun, choice: Choice) -> float:
    inner = choice.potential(begun.problem.in_pairs, None)

    def change(beliefs: np.ndarray, _: np.ndarray, last: np.ndarray) -> np.ndarray:
        return inner(clipped(2 * beliefs - last))

    return finish(begun, choice, following(begun, change))


def averaged(begun: Begun, choice: Choice) -> float:
    inner, seen = choice.potential(begun.problem.in_pairs, None), []

    def potential(beliefs: np.ndarray) -> np.ndarray:
        seen.append(beliefs)
        return inner(beliefs)

    last = rounds(begun, choice, potential)
    model = final(begun, choice, np.mean([*seen[1:], last.item_proba], axis=0))
    return accuracy(begun, model.predict(begun.data.X_test))


def starts(begun: Begun, choice: Choice) -> float:
    search, problem = begun.search, begun.problem
    probabilities, likelihoods = [], []
    for start in replace(search, every_start=True)._run_starts(problem, 2).values():
        run = search.go_on_with(problem, search.family, start)
        if (run.beliefs.item * begun.found.beliefs.item).sum() < len(run.beliefs.item) / 2:
            run = reordered(run, np.array([1, 0]))
        last = rounds(begun, choice, found=run)
        model = final(begun, choice, last.item_proba)
        probabilities.append(model.predict_proba(begun.data.X_test))
        likelihoods.append(last.log_likelihood)
    weight = np.exp(np.array(likelihoods) - max(likelihoods))
    return accuracy(begun, np.average(probabilities, axis=0, weights=weight).argmax(axis=1))


def two_views(begun: Begun, choices: list[Choice], columns: list[np.ndarray]) -> float:
    """Return the accuracy of the mean of two choices that learn from each other's beliefs."""
    inner = [choice.potential(begun.problem.in_pairs, None) for choice in choices]
    own, taught = [clipped(begun.found.potential)] * 2, []

    def change(_: np.ndarray, evidence: np.ndarray, __: np.ndarray) -> np.ndarray:
        taught[:] = [normal(phi * evidence) for phi in own[::-1]]
        own[:] = [clipped(one(beliefs)) for one, beliefs in zip(inner, taught, strict=True)]
        return np.mean(own, axis=0)

    rounds(begun, choices[0], following(begun, change))
    proba = [
        final(begun, choice, beliefs).predict_proba(begun.data.X_test[:, some])
        for choice, beliefs, some in zip(choices, taught, columns, strict=True)
    ]
    return accuracy(begun, np.mean(proba, axis=0).argmax(axis=1))


def learners(begun: Begun, _: Choice) -> float:
    choices = [begun.chosen({name: stages}) for name, stages in STEADY.items()]
    return two_views(begun, choices, [np.arange(begun.data.X.shape[1])] * 2)


def columns(begun: Begun, _: Choice) -> float:
    order = np.random.default_rng(begun.problem.seed).permutation(begun.data.X.shape[1])
    halves = [np.sort(order[0::2]), np.sort(order[1::2])]
    choices = []
    for half in halves:
        data = replace(begun.data, X=begun.data.X[:, half])
        problem = JointProblem(data.X, data.pairs, [2], "auto", begun.problem.seed)
        problem.folds = begun.problem.folds
        choices.append(replace(begun, data=data, problem=problem).chosen(STEADY))
    return two_views(begun, choices, halves)


def plain_mean(begun: Begun, _: Choice) -> float:
    return finish(begun, begun.chosen(STEADY))


WAYS: dict[str, Callable[[Begun, Choice], float]] = {
    "as it is": as_it_is,
    "families": families,
    "calibrated": through_a_line,
    "fresh": fresh,
    "damped": damped,
    "averaged": averaged,
    "starts": starts,
    "steady": plain_mean,
    "columns": columns,
    "learners": learners,
    "relaxed": relaxed,
}


@lru_cache(maxsize=1)
def begun_and_chosen(seed: int, density: float) -> tuple[Begun, Choice]:
    begun = begin(simulated(seed, density)[1], seed)
    return begun, begun.chosen()


def task(seed: int, density: float, way: str) -> dict:
    begun, choice = begun_and_chosen(seed, density)
    found = {"nats_per_item": begun.nats_per_item, "chosen": choice.name}
    return {"accuracy": WAYS[way](begun, choice), **found}


def changes(records: list[dict], key: str, names: list[str], density: float) -> None:
    """Print how the accuracy changes against the first name, in all tables and by their nats."""
    found: dict[str, dict[int, dict]] = {name: {} for name in names}
    for record in records:
        if record["cell"]["density"] == density:
            found[record["cell"][key]][record["cell"]["seed"]] = record
    base, bands = found[names[0]], list(pairwise(BANDS))
    heads = [f"{low:g} to {high:g} nats per item" for low, high in bands]
    print(f"\n{density:g} pairs per item\n\n| {key} | all |", " | ".join(heads), "|")
    print("|" + "---|" * (len(bands) + 2))
    for name in names[1:]:
        both = sorted(found[name].keys() & base.keys())
        if both:
            shown = [_change(found[name], base, both)]
            for low, high in bands:
                mine = [seed for seed in both if low <= base[seed]["nats_per_item"] < high]
                shown.append(_change(found[name], base, mine))
            print("|", " | ".join([name, *shown]), "|")


def _change(found: dict[int, dict], base: dict[int, dict], seeds: list[int]) -> str:
    if len(seeds) < 2:
        return "—"
    gained = (100 * (found[seed]["accuracy"] - base[seed]["accuracy"]) for seed in seeds)
    return "{:+.2f} ± {:.2f} ({})".format(*mean_error(gained), len(seeds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ways", nargs="*", choices=WAYS, default=list(WAYS))
    parser.add_argument("--tables", type=int, default=48, help="the first so many")
    parser.add_argument("--density", type=float, default=2.0, help="pairs per item")
    given = parser.parse_args()
    ways = list(dict.fromkeys(["as it is", *given.ways])) if given.ways else []
    cells = [
        {"seed": seed, "density": given.density, "way": way}
        for seed in range(given.tables)
        for way in ways
    ]
    print(machine())
    changes(run(task, cells, NAME), "way", list(WAYS), given.density)


if __name__ == "__main__":
    main()
