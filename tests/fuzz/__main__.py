"""Damage files and pass them through every command for a while; keep what goes wrong.

A finding is a traceback, an exit code 0 after a failure, a hang, a crash, a call that takes too
much memory, a refusal that is not one line, or a file left after a refusal. Its files and its call
are kept in a folder, which --repeat tries again. The exit code is 1 if there is a finding.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tests.fuzz.calls import LINES, kept_case
from tests.fuzz.hunt import Hunt
from tests.fuzz.samples import good_samples, made_samples
from tests.fuzz.trial import DONE, FINDINGS
from tests.fuzz.worker import Worker


def main() -> int:
    """Run for the minutes asked for, or repeat findings, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long (default: 10)")
    parser.add_argument("--jobs", type=int, default=2, help="calls at a time (default: 2)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--only", nargs="+", metavar="COMMAND", choices=list(LINES), default=[])
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"), help="where findings go")
    parser.add_argument("--repeat", nargs="+", type=Path, metavar="FOLDER", help="try these again")
    asked = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        if asked.repeat:
            return _repeat(asked.repeat, Path(folder))
        samples = good_samples() | _made(Path(folder))
        hunt = Hunt(samples, asked.only or list(LINES), asked.seed, asked.out, Path(folder))
        try:
            hunt.run(asked.minutes, asked.jobs)
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
    print(hunt.table())
    print(f"The record and the findings: {hunt.write_record()}")
    return 1 if hunt.findings else 0


def _made(folder: Path) -> dict[str, object]:
    """Let the commands write a model and records, from files that nobody has damaged."""
    place, worker = folder / "made", Worker(folder / "made.log")
    place.mkdir()

    def run(line: str) -> None:
        found = worker.run(place, line.split(), 600.0)
        if found.state != DONE:
            raise SystemExit(f"{line}: {found.state} on good files\n{found.said}")

    try:
        return made_samples(place, run)
    finally:
        worker.end()


def _repeat(kept: list[Path], folder: Path) -> int:
    """Try findings again, each in a new process, and print what becomes of them."""
    states = []
    for number, one in enumerate(kept):
        case, worker = kept_case(one), Worker(folder / "log")
        place = folder / str(number)
        place.mkdir()
        found = worker.run(case.write(place), case.words, case.limit)
        worker.end()
        shutil.rmtree(place)
        states.append(found.state)
        print(f"{one}: noisypairs {' '.join(case.words)}\n{found.state}: {found.said}\n")
    return 1 if set(states) & set(FINDINGS) else 0


if __name__ == "__main__":
    sys.exit(main())
