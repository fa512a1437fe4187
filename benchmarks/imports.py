"""Time the import of the package and the first answer of the command line, in fresh processes.

    python benchmarks/imports.py [REPEATS]

Each command runs in a new process, all of them in turn within each round, so that a busy moment
of the machine hits all alike. Medians over the rounds (20 by default) and their ratios to
``import sklearn`` are printed; docs/scale.md quotes two of them. The first round warms the disk
cache and is not counted.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from protocol import machine

REFERENCE = 'python -c "import sklearn"'
NOISYPAIRS = str(Path(sys.executable).with_name("noisypairs"))
COMMANDS = {
    'python -c "pass"': [sys.executable, "-c", "pass"],
    'python -c "import numpy"': [sys.executable, "-c", "import numpy"],
    REFERENCE: [sys.executable, "-c", "import sklearn"],
    'python -c "import noisypairs"': [sys.executable, "-c", "import noisypairs"],
    'python -c "from noisypairs import Pairs"': [
        sys.executable,
        "-c",
        "from noisypairs import Pairs",
    ],
    'python -c "from noisypairs import LossCorrectionClassifier"': [
        sys.executable,
        "-c",
        "from noisypairs import LossCorrectionClassifier",
    ],
    "noisypairs --help": [NOISYPAIRS, "--help"],
}


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def measure(repeats: int) -> dict[str, float]:
    """Return the median seconds of each command over ``repeats`` rounds, the first one left out."""
    rounds = [
        {name: seconds(command) for name, command in COMMANDS.items()} for _ in range(repeats + 1)
    ]
    return {name: statistics.median(one[name] for one in rounds[1:]) for name in COMMANDS}


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    medians = measure(repeats)
    print(f"{machine()}, medians of {repeats} rounds\n")
    print("| command | seconds | over `import sklearn` |")
    print("|---|---|---|")
    for name, median in medians.items():
        print(f"| `{name}` | {median:.3f} | {median / medians[REFERENCE]:.2f} |")


if __name__ == "__main__":
    main()
