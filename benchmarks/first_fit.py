"""Update docs/first-fit.md: run its commands on the sample and put in what they print.

    python benchmarks/first_fit.py
    NOISYPAIRS_DATA=… python benchmarks/first_fit.py --people

The page is its own script. The lines of every ``sh`` block are run, in order, in an empty folder,
and what they print replaces the ``text`` block that follows. The page is written after every block,
so that a stop loses one command at most. Prose is left alone. With ``--people`` only the table
about real people is made anew, from answers that stay outside the package: the folder in
NOISYPAIRS_DATA must hold ``crowd_dogs3``. `tests/cli/test_first_fit.py` follows the page line by
line.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sysconfig
import tempfile
from pathlib import Path

import pandas as pd
from sklearn.model_selection import train_test_split

from noisypairs.app.files import atomic_write
from noisypairs.metrics import accuracy_up_to_names

PAGE = Path(__file__).parent.parent / "docs" / "first-fit.md"
BLOCK = re.compile(r"```sh\n(?P<words>.*?)```\n\n```text\n(?P<printed>.*?)```", re.DOTALL)
#: What is fitted of the answers of real people: name -> number of breeds.
BREEDS = {"two breeds": 2, "three breeds": 3}


def run(words: str, folder: Path) -> str:
    """Return what a line prints on stdout."""
    scripts = sysconfig.get_path("scripts")
    surroundings = os.environ | {"PATH": f"{scripts}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        words, shell=True, cwd=folder, env=surroundings, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"{words}\n{done.stderr}")
    return done.stdout


def run_block(lines: list[str], here: Path) -> tuple[str, Path]:
    """Run the lines of a block; return what they print, and the folder after it."""
    printed = ""
    for line in lines:
        if line.startswith("cd "):
            here = (here / line.removeprefix("cd ")).resolve()
        else:
            printed += run(line, here)
    return "\n".join(row.rstrip() for row in printed.rstrip().splitlines()), here


def update_blocks() -> None:
    """Run every block and write what it prints into the page."""
    page = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:
        here, done = Path(place), 0
        while block := BLOCK.search(page, done):
            printed, here = run_block(block["words"].splitlines(), here)
            new = f"```sh\n{block['words']}```\n\n```text\n{printed}\n```"
            page, done = page[: block.start()] + new + page[block.end() :], block.start() + len(new)
            atomic_write(PAGE, page, force=True)


def write_people(folder: Path, n_breeds: int) -> pd.Series:
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
    photos.iloc[sorted(old)].to_csv(folder / "items.csv", index=False)
    photos.iloc[sorted(new)].to_csv(folder / "new.csv", index=False)
    columns = ["item_a", "item_b", "same", "worker"]
    answers[columns].to_csv(folder / "pairs.csv", index=False)
    return breed


def people_row(name: str, n_breeds: int) -> str:
    """Fit the answers of real people; return what was estimated and what is true."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        breed = write_people(folder, n_breeds)
        words = f"noisypairs fit items.csv pairs.csv --classes {n_breeds} --json --quiet"
        told = json.loads(run(words, folder))
        run("noisypairs predict model.skops new.csv -o classes.csv --quiet", folder)
        found = pd.read_csv(folder / "classes.csv")
    right = accuracy_up_to_names(breed[found["id"]].to_numpy(), found["class"])
    sure = told["accuracy"]
    estimate = f"{sure['estimate']:.1%} ({sure['low']:.1%} to {sure['high']:.1%})"
    rates = " and ".join(
        f"{told['noise'][rate]['estimate']:.1%}" for rate in ("similar_flip", "dissimilar_flip")
    )
    kind = told["verdict"]["kind"]
    return f"| {name} | {told['n_pairs']:,} | {rates} | {kind} | {estimate} | {right:.1%} |"


def update_people() -> None:
    """Fit the answers of real people and write the table about them into the page."""
    headings = (
        "",
        "answers",
        "wrong: same, different",
        "verdict",
        "estimated right",
        "truly right",
    )
    rows = [f"| {' | '.join(headings)} |", "|---|---|---|---|---|---|"]
    rows += [people_row(name, n_breeds) for name, n_breeds in BREEDS.items()]
    page = PAGE.read_text(encoding="utf-8")
    marked = r"(<!-- begin people -->\n).*?(<!-- end people -->)"
    text = "\n".join(rows)
    page = re.sub(marked, lambda m: f"{m[1]}{text}\n{m[2]}", page, flags=re.DOTALL)
    atomic_write(PAGE, page, force=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--people", action="store_true", help="only the table about real people")
    (update_people if parser.parse_args().people else update_blocks)()


if __name__ == "__main__":
    main()
