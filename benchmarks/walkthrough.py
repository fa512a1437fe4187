"""Update docs/walkthrough.md: run its commands on real answers and put in what they print.

    NOISYPAIRS_DATA=… python benchmarks/walkthrough.py

The page is its own script. The lines of every ``sh`` block are run, in order, in a folder with the
files of a new user, and what they print replaces the ``text`` block that follows; between the
markers of ``times`` and ``truth`` go the measured times and what the true breeds say. The page is
written after every block, so that a stop loses one command at most. Prose is left alone. The
crowd's data stay outside the package: the folder in NOISYPAIRS_DATA must hold ``crowd_dogs3``.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sysconfig
import tempfile
from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from noisypairs.app.files import atomic_write
from noisypairs.metrics import accuracy_up_to_names
from protocol import machine

PAGE = Path(__file__).parent.parent / "docs" / "walkthrough.md"
BLOCK = re.compile(r"```sh\n(?P<words>.*?)```\n\n```text\n(?P<printed>.*?)```", re.DOTALL)
#: Folders of the new user: two breeds, and all three.
BREEDS = {"two": 2, "three": 3}


def write_files(folder: Path, n_breeds: int) -> None:
    """Write items.csv, pairs.csv and new.csv: three quarters of the photos, answers, the rest."""
    source = Path(os.environ["NOISYPAIRS_DATA"]) / "crowd_dogs3"
    breed = pd.read_csv(source / "items.csv")["true_class"]
    photos = pd.read_csv(source / "features_effnetlite0_pca64.csv")
    photos = photos.rename(columns={"item": "photo"})
    mine = breed.index[breed < n_breeds]
    old, new = train_test_split(mine, stratify=breed[mine], random_state=0)
    answers = pd.read_csv(source / "pairs.csv")
    asked = answers["item_a"].isin(old) & answers["item_b"].isin(old)
    answers = answers[asked & (answers["query_type"] == "radio2")]
    folder.mkdir()
    photos.iloc[sorted(old)].to_csv(folder / "items.csv", index=False)
    photos.iloc[sorted(new)].to_csv(folder / "new.csv", index=False)
    columns = ["item_a", "item_b", "same", "worker"]
    answers[columns].to_csv(folder / "pairs.csv", index=False)


def run(words: str, folder: Path) -> tuple[str, float]:
    """Return what a line prints on stdout, and the seconds of processor time it took."""
    scripts = sysconfig.get_path("scripts")
    surroundings = os.environ | {"PATH": f"{scripts}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        words, shell=True, cwd=folder, env=surroundings, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{words}\n{done.stderr}")
    return done.stdout, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def truth(folder: Path) -> str:
    """Say how many of the new photos got the right breed, names matched."""
    breed = pd.read_csv(Path(os.environ["NOISYPAIRS_DATA"]) / "crowd_dogs3" / "items.csv")
    found = pd.read_csv(folder / "classes.csv")
    right = accuracy_up_to_names(breed["true_class"][found["id"]].to_numpy(), found["class"])
    return f"| {folder.name} breeds | {len(found)} | {right:.1%} |"


def fill(page: str, name: str, lines: list[str]) -> str:
    """Put lines between the markers of this name."""
    marked = rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)"
    text = "\n".join(lines)
    return re.sub(marked, lambda m: f"{m[1]}{text}\n{m[2]}", page, flags=re.DOTALL)


def run_block(lines: list[str], here: Path) -> tuple[str, list[str], Path]:
    """Run the lines of a block; return what they print, rows of times, and the folder after it."""
    printed, times = "", []
    for line in lines:
        if line.startswith("cd "):
            here = (here / line.removeprefix("cd ")).resolve()
            continue
        text, seconds = run(line, here)
        printed += text
        if line.startswith("noisypairs "):
            command = line.partition(" |")[0]
            times.append(f"| `{command}` ({here.name} breeds) | {seconds:.1f} |")
    return "\n".join(row.rstrip() for row in printed.rstrip().splitlines()), times, here


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    times = ["| command | seconds |", "|---|---|"]
    with tempfile.TemporaryDirectory() as place:
        for name, n_breeds in BREEDS.items():
            write_files(Path(place) / name, n_breeds)
        here, done = Path(place), 0
        while block := BLOCK.search(page, done):
            printed, more, here = run_block(block["words"].splitlines(), here)
            times += more
            new = f"```sh\n{block['words']}```\n\n```text\n{printed}\n```"
            page, done = page[: block.start()] + new + page[block.end() :], block.start() + len(new)
            atomic_write(PAGE, page, force=True)
        page = fill(page, "times", [*times, "", machine()])
        rows = [truth(Path(place) / name) for name in BREEDS]
        page = fill(page, "truth", ["| | new photos | right |", "|---|---|---|", *rows])
    atomic_write(PAGE, page, force=True)


if __name__ == "__main__":
    main()
