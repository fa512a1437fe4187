"""Whether an installed wheel works: import, learn, save, and every command of the command line.

``make dist`` runs it in an environment that has the wheel and nothing of this repository.
"""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import noisypairs
from noisypairs import JointPairClassifier, PairingNoise, datasets, sample_pairs


def command(*words: object, folder: Path) -> str:
    """Return what a command prints; stop if it fails."""
    program = Path(sys.executable).with_name("noisypairs")
    done = subprocess.run(
        [program, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"noisypairs {' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def main() -> None:
    """Try everything once."""
    place = Path(noisypairs.__file__).resolve()
    if "site-packages" not in place.parts:
        sys.exit(f"noisypairs comes from {place}, not from a wheel")
    assert importlib.metadata.version("noisypairs") == noisypairs.__version__
    for name in noisypairs.__all__:
        getattr(noisypairs, name)
    X, y = datasets.load("gaussians", n_samples=80, prior=0.4, random_state=0)
    pairs = sample_pairs(y, 600, PairingNoise(0.1, 0.2), random_state=0)
    model = JointPairClassifier(positive="minority", random_state=0).fit(X, pairs)
    assert model.score(X, y) > 0.95
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = np.column_stack([np.arange(len(X)), X])
        answers = np.column_stack([pairs.left, pairs.right, pairs.same.astype(int)])
        np.savetxt(folder / "items.csv", rows, "%g", ",", header="id,a,b", comments="")
        np.savetxt(folder / "pairs.csv", answers, "%d", ",", header="left,right,same", comments="")
        command("--help", folder=folder)
        command("check", "items.csv", "pairs.csv", "--no-fit", folder=folder)
        command("fit", "items.csv", "pairs.csv", "--classes", 2, "-o", "m.skops", folder=folder)
        command("inspect", "m.skops", folder=folder)
        command("predict", "m.skops", "items.csv", "-o", "classes.csv", folder=folder)
        assert len((folder / "classes.csv").read_text().splitlines()) == len(X) + 1
        command("theory", "--noise", "pairing", 0.2, 0.1, "--prior", 0.35, folder=folder)
    print(f"noisypairs {noisypairs.__version__} works as installed in {place.parent}")


if __name__ == "__main__":
    main()
