"""Whether answers that the joint learner refuses say anything about the classes at all.

    python benchmarks/detectable.py [dataset] [--noise labeling] [--rates 0.3 0.3] [--density 2]

For each split, what could be seen in the answers, from what is known to what must be found:

truth       nats by which the true classes and rates explain the answers better than blindly, and
            how many standard deviations that is beyond 200 permutations of the answers
oracle      the same of P(class | x) by a forest on the true labels, out of fold: by features alone
            no learner can know more. Expected nats: ½ n r² with r the correlation of the answers
            with P(same class | x, x')
alignment   standard deviations by which the answers follow the best direction of the features
            beyond chance; the learner asks for 2.5
start       nats of the best start, and what shuffled answers reach; the learner asks for 3
            standard deviations
unrefused   accuracy on new items if it went on nevertheless, beside that of the larger class

Prints one line per split and the means.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

from joint_stages import begin, finish
from noisypairs.app.experiments.problem import Problem, noise_of
from noisypairs.estimators.joint.beliefs.alignment import Alignment
from noisypairs.estimators.joint.search.evidence import N_SHUFFLES
from protocol import machine, mean_error
from tree_tables import problem

N_PERMUTATIONS = 200
COLUMNS = ("answers", "wrong", "truth nats", "truth sd", "oracle nats", "oracle sd")
COLUMNS = (*COLUMNS, "alignment sd", "start nats", "shuffled nats", "unrefused", "larger class")


def beyond_chance(score: np.ndarray, same: np.ndarray, rng: np.random.Generator) -> float:
    """Return by how many standard deviations Σ score · same exceeds that of permuted answers."""
    chance = [float(score @ rng.permutation(same)) for _ in range(N_PERMUTATIONS)]
    return (float(score @ same) - float(np.mean(chance))) / float(np.std(chance, ddof=1))


def truth(data: Problem, rng: np.random.Generator) -> tuple[float, float]:
    """Return the nats of the true classes and rates over blind guessing, and beyond chance."""
    pairs, S = data.pairs, data.noise.same_probability(2)
    chance = S[data.y[pairs.left], data.y[pairs.right]]
    share = pairs.same.mean()
    said = np.where(pairs.same, np.log(chance / share), np.log((1 - chance) / (1 - share)))
    return float(said.sum()), beyond_chance(np.log(chance / (1 - chance)), pairs.same, rng)


def oracle(data: Problem, seed: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the same of a forest that learnt from the true labels of the other folds."""
    forest = RandomForestClassifier(random_state=seed)
    phi = cross_val_predict(forest, data.X, data.y, cv=5, method="predict_proba")
    alike = np.einsum("nk,nk->n", phi[data.pairs.left], phi[data.pairs.right])
    r = float(np.corrcoef(alike, data.pairs.same)[0, 1])
    return 0.5 * data.pairs.n_pairs * r * abs(r), beyond_chance(alike, data.pairs.same, rng)


def wrong(data: Problem) -> float:
    alike = data.y[data.pairs.left] == data.y[data.pairs.right]
    return float((alike != data.pairs.same).mean())


def one(data: Problem, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    begun = begin(data, seed)
    known = begun.problem
    shuffles = [known.shuffled() for _ in range(N_SHUFFLES)]
    by_chance = [
        max(shuffled.gain(run) for run in begun.search._run_starts(shuffled, 2).values())
        for shuffled in shuffles
    ]
    return [
        data.pairs.n_pairs,
        100 * wrong(data),
        *truth(data, rng),
        *oracle(data, seed, rng),
        Alignment(known.Z, known.pairs).excess(known.random_state),
        known.gain(begun.found),
        float(np.mean(by_chance)),
        100 * finish(begun, begun.chosen()),
        100 * data.larger_class,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset", nargs="?", default="ionosphere")
    parser.add_argument("--noise", default="labeling")
    parser.add_argument("--rates", nargs=2, type=float, default=(0.3, 0.3))
    parser.add_argument("--density", type=float, default=2.0)
    parser.add_argument("--splits", type=int, default=10)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine(), "\n\n| split |", " | ".join(COLUMNS), "|\n|" + "---|" * (len(COLUMNS) + 1))
    rows = []
    for seed in range(given.splits):
        noise = noise_of(given.noise, given.rates)
        rows.append(one(problem(given.dataset, noise, given.density, seed), seed))
        print(f"| {seed} |", " | ".join(f"{value:.1f}" for value in rows[-1]), "|", flush=True)
    means = ("{:.1f} ± {:.1f}".format(*mean_error(column)) for column in zip(*rows, strict=True))
    print("| mean |", " | ".join(means), "|")


if __name__ == "__main__":
    main()
