"""Plant every fault of the list, one at a time, and print those that no test notices.

The tests that noticed something then run without any fault, and must pass. The exit code is 1 if a
fault survives, is stale (its snippet is gone) or is broken (its tests could not be run). With
``--random`` so many mutants are drawn instead (`draw`); those listed as equivalent may survive.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from tests.mutants.draw import Mutant, draw, equivalents
from tests.mutants.faults import Fault, load_faults
from tests.mutants.trial import Outcome, judge, prepare, run_unchanged

Planted = Fault | Mutant


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the list and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these faults alone")
    parser.add_argument("--jobs", type=int, default=2, help="faults at a time (default: 2)")
    parser.add_argument("--random", type=int, default=0, help="so many mutants drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    parser.add_argument("--area", nargs="+", default=[], help="draw from these folders alone")
    asked = parser.parse_args(arguments)
    faults: Sequence[Planted]
    if asked.random:
        faults = draw(asked.random, asked.seed, asked.area)
    else:
        faults = [one for one in load_faults() if not asked.only or one.name in asked.only]
    if not asked.random and (unknown := set(asked.only or ()) - {one.name for one in faults}):
        parser.error(f"no such fault: {', '.join(sorted(unknown))}")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        workers = {"initializer": prepare, "initargs": (folder,)}
        with ProcessPoolExecutor(asked.jobs, get_context("spawn"), **workers) as pool:
            found = _judge_all(pool, faults)
            if not _pass_unchanged(pool, found, asked.jobs):
                return 1
    same = equivalents()
    left = [one for one in found if one.state != "killed" and one.name not in same]
    equal = sum(one.state == "survived" and one.name in same for one in found)
    minutes = (time.monotonic() - start) / 60
    print(
        f"\n{len(found)} faults, {len(left)} not noticed, {equal} equivalent, {minutes:.1f} minutes"
    )
    for one in left:
        print(f"{one.state}: {one.name}")
        if one.state != "survived":
            print(one.said)
    return 1 if left else 0


def _pass_unchanged(pool: Executor, found: Sequence[Outcome], jobs: int) -> bool:
    """Run the tests that noticed a fault without any; show what fails."""
    tests = sorted({test for one in found if one.state == "killed" for test in one.tests})
    print(f"{len(tests)} tests noticed a fault; without any:", flush=True)
    parts = [part for k in range(jobs) if (part := tests[k::jobs])]
    failed = [said for code, said in pool.map(run_unchanged, parts) if code != 0]
    for said in failed:
        print(said)
    return not failed


def _judge_all(pool: Executor, faults: Sequence[Planted]) -> list[Outcome]:
    found = []
    for done in as_completed([pool.submit(judge, fault) for fault in faults]):
        one = done.result()
        found.append(one)
        print(f"{one.state:<9}{one.seconds:6.1f} s  {one.name}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
