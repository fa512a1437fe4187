"""The constants that choose the classifier inside the joint learner, set on simulated tables.

    python benchmarks/choice_limits.py [--settings "LEAD 0" …] [--tables 96] [--density 2]

Each setting changes one thing in `noisypairs.estimators.joint.choice`; the search for start and
noise is the same for all of them. Tables are those of `simulated_tables`, so neither the tables
that results are shown for nor any true label of theirs decides. Two settings are not constants:

steady      no comparison: the mean of ridge regression and small trees (30)
beliefs     candidates learn from the beliefs, with ridge regression's opinion in them, and what
            they predict is not calibrated, as in versions before this script

Runs what benchmarks/records/choice_limits.jsonl lacks, and prints how much the accuracy on new
items changes against the values in place, in points ± standard error over tables, by how plainly
the answers are explained.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from functools import lru_cache
from unittest import mock

from few_pairs import STEADY, changes
from joint_stages import Begun, begin, finish
from noisypairs.estimators.inner.defaults import default_candidates
from noisypairs.estimators.joint import choice as choices
from protocol import machine, run
from simulated_tables import simulated

NAME = "choice_limits"
AS_IT_IS = "as it is"
SETTINGS: dict[str, dict[str, float]] = {
    AS_IT_IS: {},
    "LEAD 0": {"LEAD": 0.0},
    "LEAD 3": {"LEAD": 3.0},
    "LEAD 18": {"LEAD": 18.0},
    "BEHIND 1": {"BEHIND": 1.0},
    "BEHIND 2": {"BEHIND": 2.0},
    "BEHIND 4": {"BEHIND": 4.0},
    "LITTLE 0": {"LITTLE": 0.0},
    "LITTLE 9": {"LITTLE": 9.0},
    "MOST_MEMBERS 1": {"MOST_MEMBERS": 1},
    "MOST_MEMBERS 2": {"MOST_MEMBERS": 2},
    "MOST_MEMBERS 4": {"MOST_MEMBERS": 4},
    "steady": {},
    "beliefs": {},
}


class FromBeliefs(choices.Choice):
    """A choice whose candidates learn from the beliefs that ridge regression helped to make."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.taught = self.beliefs


@lru_cache(maxsize=1)
def begun_on(seed: int, density: float) -> tuple[Begun, dict[str, float]]:
    """Return a search and what each choice of members has reached after it."""
    return begin(simulated(seed, density)[1], seed), {}


def chosen(begun: Begun, setting: str) -> choices.Choice:
    if setting == "steady":
        return begun.chosen(STEADY)
    if setting != "beliefs":
        return begun.chosen()
    candidates = default_candidates(begun.data.X, begun.problem.seed)
    choice = FromBeliefs(begun.problem, begun.found, candidates, averaged=True)
    with mock.patch.object(choices, "calibrated", lambda phi, _: phi):
        choice.choose()
    return choice


def task(seed: int, density: float, setting: str) -> dict:
    begun, reached = begun_on(seed, density)
    with ExitStack() as stack:
        for constant, value in SETTINGS[setting].items():
            stack.enter_context(mock.patch.object(choices, constant, value))
        choice = chosen(begun, setting)
    members = repr([choice.tuned[name] for name in choice.members])
    if members not in reached:
        reached[members] = finish(begun, choice)
    facts = {"nats_per_item": begun.nats_per_item, "chosen": choice.name}
    return {"accuracy": reached[members], **facts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--settings", nargs="*", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--tables", type=int, default=96, help="the first so many")
    parser.add_argument("--density", type=float, default=2.0, help="pairs per item")
    given = parser.parse_args()
    settings = list(dict.fromkeys([AS_IT_IS, *given.settings])) if given.settings else []
    cells = [
        {"seed": seed, "density": given.density, "setting": setting}
        for seed in range(given.tables)
        for setting in settings
    ]
    print(machine())
    changes(run(task, cells, NAME), "setting", list(SETTINGS), given.density)


if __name__ == "__main__":
    main()
