"""What levels and answers cost: ratios of the processor time of a round of EM.

    python benchmarks/levels_cost.py [--print]

Two classes of 40,000 items, 20 people. A round is five sweeps of belief propagation and an M-step
of the people. Ratios are to 400,000 answers of four levels.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from noisypairs import Pairs
from noisypairs.graph.propagation import PairGraph, edge_posteriors, propagate
from noisypairs.noise.people import People, fit_people
from protocol import run

N_ITEMS, N_PEOPLE, ROUNDS, SWEEPS = 40_000, 20, 3, 5


def task(n_answers, n_levels):
    """Return the processor seconds of the fastest round of some, after one that is not timed."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=N_ITEMS)
    left = rng.integers(N_ITEMS, size=n_answers)
    right = (left + rng.integers(1, N_ITEMS, n_answers)) % N_ITEMS
    share = np.exp(np.linspace(0.0, 2.0, n_levels))
    share /= share.sum()
    table = np.where(np.eye(2), share[:, None, None], share[::-1][:, None, None])
    below = np.cumsum(table[:, y[left], y[right]], axis=0)[:-1]
    level = (rng.random(n_answers) > below).sum(axis=0)
    names = [str(k) for k in range(n_levels)]
    who = rng.integers(N_PEOPLE, size=n_answers)
    pairs = Pairs.from_levels(
        left, right, level, names, None, N_ITEMS, who, same_from=names[n_levels // 2]
    )
    graph = PairGraph.from_pairs(pairs, annotators=True)
    phi = np.log(np.where(np.eye(2)[y] > 0, 0.7, 0.3))
    responses = np.broadcast_to(table, (N_PEOPLE, *table.shape))
    seconds = []
    for _ in range(ROUNDS + 1):
        start = time.process_time()
        beliefs = propagate(graph, phi, responses, tol=0.0, max_iter=SWEEPS)
        counts = np.zeros((graph.n_groups * graph.n_levels, 4))
        for block, joint in edge_posteriors(graph, beliefs, responses):
            counts += graph.evidence(block).T @ joint.reshape(-1, 4)
        by_level = counts.reshape(N_PEOPLE, n_levels, 2, 2)
        fit_people(by_level, table, start=People.unknown(N_PEOPLE, pairs.scale))
        seconds.append(time.process_time() - start)
    return {"seconds": min(seconds[1:])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--print", action="store_true", dest="only_print", help="run nothing")
    grid = [(n, 4) for n in (100_000, 400_000, 1_600_000)] + [(400_000, m) for m in (2, 16)]
    cells = [{"n_answers": n, "n_levels": m} for n, m in grid]
    found = run(task, [] if parser.parse_args().only_print else cells, "levels_cost")
    seconds = {tuple(one["cell"].values()): one["seconds"] for one in found}
    print("| answers | levels | processor time, ratio |\n|---|---|---|")
    for n, m in sorted(seconds):
        print(f"| {n:,} | {m} | {seconds[n, m] / seconds[400_000, 4]:.2f} |")


if __name__ == "__main__":
    main()
