"""What `noisypairs fit` costs beyond one joint fit, in fits and in processor time.

    python benchmarks/fit_cost.py [--repeats 3]

On the pottery sample: how many joint fits the command makes, the processor time of the bare joint
fit on the same encoded items, of the verdict with its intervals, and of everything that
`fit_dataset` does. One run measures all three, in turns, so that their ratios hold on a busy
machine.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from noisypairs import JointPairClassifier
from noisypairs.app.files import read_dataset
from noisypairs.app.fit.fitting import fit_dataset, learn
from noisypairs.app.fit.request import Request
from noisypairs.app.sample import sample_files
from noisypairs.assess import verdict
from noisypairs.errors import collected_warnings
from protocol import machine


def seconds(work: Any) -> tuple[float, Any]:
    """Return the processor time of some work, and what it returns."""
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found


def counted(work: Any) -> int:
    """Return how many joint fits some work makes."""
    fits, whole = [], JointPairClassifier.fit

    def fit(self: JointPairClassifier, X: Any, pairs: Any) -> Any:
        fits.append(1)
        return whole(self, X, pairs)

    JointPairClassifier.fit = fit
    try:
        work()
    finally:
        JointPairClassifier.fit = whole
    return len(fits)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    print(machine(), "\n")
    with TemporaryDirectory() as name, collected_warnings():
        for file, content in sample_files().items():
            if isinstance(content, str):
                (Path(name) / file).write_text(content, encoding="utf-8")
        data = read_dataset(Path(name) / "items.csv", Path(name) / "pairs.csv")
        n_fits = counted(lambda: fit_dataset(data))  # the first run also imports
        rows, redraw = [], verdict.joint_intervals
        for _ in range(repeats):
            spent: list[float] = []

            def intervals(*given: Any, spent: list[float] = spent, **more: Any) -> Any:
                taken, found = seconds(lambda: redraw(*given, **more))
                spent.append(taken)
                return found

            joint, learnt = seconds(lambda: learn(data, Request()))
            verdict.joint_intervals = intervals
            judging, _ = seconds(learnt.model.verdict)
            verdict.joint_intervals = redraw
            whole, _ = seconds(lambda: fit_dataset(data))
            rows.append((joint, judging, spent[0], whole))
    joint, judging, redrawing, whole = np.median(rows, axis=0)
    print(f"joint fits of `noisypairs fit` on the sample: {n_fits}")
    print(f"one joint fit {joint:.2f} s, verdict {judging:.2f} s, of which intervals", end=" ")
    print(f"{redrawing:.2f} s, all {whole:.2f} s")
    for name, without in (("intervals", 2), ("verdict", 1)):
        beyond = np.median([(row[-1] - row[without]) / row[0] for row in rows])
        print(f"all without the {name}, in joint fits: {beyond:.2f}")


if __name__ == "__main__":
    main()
