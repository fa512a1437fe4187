"""Whether "enough" is true: simulated projects that ask until the stopping rule says so.

    python benchmarks/stopping.py --projects 50       go on with the record and print
    python benchmarks/stopping.py --print             print the record

A project: 150 items in two to five Gaussian classes of unequal size, near or far apart, and people
who err at two rates from .05 to .3, all drawn at random. It begins with `first_pairs`, one answer
per item, and goes on with `next_pairs`, a quarter of an answer per item, a fifth of them at random,
until `enough` says that 95 % is reached, or for 20 answers per item. The number of classes is
unknown. The learner is that of `active.py`.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from active import learner
from noisypairs import NotIdentifiable, PairingNoise, Pairs, first_pairs
from noisypairs.assess import enough
from noisypairs.errors import collected_warnings
from noisypairs.metrics import accuracy_up_to_names
from protocol import machine, read, run

N_ITEMS, MOST, TARGET = 150, 20, 0.95


def project(number):
    """Return items, classes and noise of a project."""
    rng = np.random.default_rng([16, number])
    K = int(rng.integers(2, 6))
    share = rng.dirichlet(np.full(K, 8.0))
    y = rng.choice(K, N_ITEMS, p=share)
    means = rng.uniform(0.8, 1.8) * rng.normal(size=(K, 6))
    X = means[y] + rng.normal(size=(N_ITEMS, 6))
    return X, y, PairingNoise(*rng.uniform(0.05, 0.3, size=2)), rng


def task(number):
    X, y, noise, rng = project(number)
    model, steps = learner(X, "auto", number), []
    begun = time.process_time()
    ask = first_pairs(X, N_ITEMS, random_state=rng)
    pairs = Pairs([], [], [], n_items=N_ITEMS)
    while True:
        same = noise.corrupt(y, ask.left, ask.right, int(y.max()) + 1, rng)
        pairs = pairs.with_answers(ask.left, ask.right, same, chosen=ask.chosen)
        step = {"answers": pairs.n_pairs}
        try:
            with collected_warnings():
                model.fit(X, pairs)
        except NotIdentifiable:
            asked = pairs.left, pairs.right
            ask = first_pairs(X, N_ITEMS // 4, asked=asked, random_state=rng)
            done = False
        else:
            found = enough(model, X, pairs, TARGET)
            right = accuracy_up_to_names(y, model.item_proba_.argmax(axis=1))
            step |= {"accuracy": right, "low": found.accuracy.low, "left": found.answers_left}
            step["one_more"] = found.one_more
            step |= {"estimate": found.accuracy.estimate, "classes": int(model.n_classes_)}
            done = found.enough and not model.verdict().doubts
            ask = model.next_pairs(N_ITEMS // 4, random_state=rng)
        steps.append(step)
        if done or pairs.n_pairs >= MOST * N_ITEMS:
            truth = {
                "n_classes": len(np.unique(y)),
                "noise": [noise.similar_flip, noise.dissimilar_flip],
            }
            seconds = round(time.process_time() - begun, 1)
            return {"steps": steps, "stopped": done, "seconds": seconds, **truth}


def report() -> None:
    records = read("stopping")
    stopped = [record["steps"][-1] for record in records if record["stopped"]]
    right = np.array([step["accuracy"] for step in stopped])
    good = int((right >= TARGET).sum())
    spent = np.array([step["answers"] for step in stopped]) / N_ITEMS
    print(
        f"{len(records)} projects, {len(stopped)} of which said that {TARGET:.0%} is reached, "
        f"after {np.median(spent):.1f} answers per item (median; {spent.min():.1f} to "
        f"{spent.max():.1f}).\nTrue in {good} of {len(stopped)} ({good / len(stopped):.0%}); the "
        f"accuracies then: lowest {right.min():.3f}, median {np.median(right):.3f}."
    )
    needless, ratio = [], []
    for record in records:
        if not record["stopped"]:
            continue
        last = record["steps"][-1]["answers"]
        judged = [step for step in record["steps"] if "accuracy" in step]
        true = [step["answers"] for step in judged if step["accuracy"] >= TARGET]
        needless += [(last - true[0]) / N_ITEMS] if true else []
        said = [(s["left"], last - s["answers"]) for s in judged if s["left"]]
        ratio += [np.log2(left / true) for left, true in said if true > 0]
    print(
        f"Asked after 95 % was first true: {np.median(needless):.2f} answers per item (median).\n"
        f"Answers said to be left over answers that were: median {2 ** np.median(ratio):.2f}, "
        f"middle half {2 ** np.quantile(ratio, 0.25):.2f} to {2 ** np.quantile(ratio, 0.75):.2f}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--projects", type=int, default=50)
    parser.add_argument("--print", action="store_true", dest="only_print")
    given = parser.parse_args()
    if not given.only_print:
        run(task, [{"number": number} for number in range(given.projects)], "stopping")
        print(machine())
    report()


if __name__ == "__main__":
    main()
