"""What is tried: commands with their options, on the files of a sample."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from string import Formatter
from typing import Any

from tests.fuzz.samples import RECORDS, Sample

#: Seconds after which a call counts as a hang: hundreds of times what it takes on small files.
QUICK, LEARNING = 60.0, 300.0
#: By command, lines with the roles of files in braces. Names that begin with "out" are promised
#: to be there after success, and not to be there after a failure.
LINES: Mapping[str, tuple[str, ...]] = {
    "check": (
        "check {items} {pairs} --no-fit --quiet --json",
        "check {items} {pairs} --no-fit --quiet",
        "check {items} {pairs} --no-fit --report out.html --quiet --json",
        "check {items} {pairs} --labels {labels} --no-fit --quiet --json",
        "check {items} {pairs} --answers yes=same,no=different --no-fit --quiet --json",
        "check {items} {pairs} --classes 2 --quiet --json",
        "check {items} {pairs} --quiet",
    ),
    "fit": (
        "fit {items} {pairs} -o out.skops --classes 2 --quiet --json",
        "fit {items} {pairs} -o out.skops --method joint --estimator logistic --classes 2 --quiet",
        "fit {items} {pairs} -o out.skops --labels {labels} --method joint --quiet --json",
        "fit {items} {pairs} -o out.skops --report out.html --classes 2 --quiet",
        "fit {items} {pairs} -o out.skops --suspects out.csv --classes 2 --method joint --quiet",
    ),
    "annotators": (
        "annotators {pairs} -o out.csv --classes 2 --quiet --json",
        "annotators {pairs} {items} -o out.html --classes 2 --quiet",
        "annotators {pairs} {items} --gold {labels} --hash-ids --quiet --json",
    ),
    "plan": (
        "plan {items} {pairs} --target 0.9 --classes 2 --next 5 -o out.csv --quiet --json",
        "plan {items} {pairs} --target 0.95 --classes 2 --cost 0.1 --report out.html --quiet",
    ),
    "ask": (
        "ask --store {pairs} --export out.csv",
        "ask --store {pairs} --export out.csv --json",
    ),
    "judge": (
        "judge {items} --store out.db --command true --budget 2 --quiet --json",
        "judge {items} --command true --pairs {pairs} --budget 2 --dry-run",
    ),
    "predict": (
        "predict {model} {new} -o out.csv --quiet --json",
        "predict {model} {new} -o out.parquet --quiet",
        "predict {model} {new} -o out.jsonl --threshold 0.3",
    ),
    "suspects": (
        "suspects {model} {pairs} {items} -o out.csv --quiet --json",
        "suspects {model} {pairs} {items} --report out.html --quiet",
    ),
    "name": (
        "name {model} {labels} -o out.skops --quiet --json",
        "name {model} {items} -o out.skops",
    ),
    "inspect": ("inspect {model}", "inspect {model} --json"),
    "report": ("report {run} --out outcome", "report {run} --out outcome --json"),
    "reproduce": (f"{RECORDS} --out {{run}} --resume", f"{RECORDS} --out {{run}} --json"),
}
#: Commands that read no file of the user.
WITHOUT_FILES = {"demo", "formats", "sample", "theory"}


@dataclass(frozen=True)
class Case:
    """One call on files of one kind, decided by its command and seed alone."""

    command: str
    seed: int
    kind: str
    words: tuple[str, ...]
    files: Mapping[str, bytes]

    @property
    def name(self) -> str:
        """Return what a finding is called."""
        return f"{self.command}-{self.kind}-{self.seed}"

    @property
    def limit(self) -> float:
        """Return the seconds after which the call counts as a hang."""
        learns = self.command in ("fit", "plan", "annotators", "check")
        return LEARNING if learns and "--no-fit" not in self.words else QUICK

    def write(self, folder: Path) -> Path:
        """Write the files into a folder, and return it."""
        for name, content in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        return folder

    def keep(self, folder: Path, found: Mapping[str, Any]) -> None:
        """Write the files and everything that is known about the finding."""
        known = {name: value for name, value in asdict(self).items() if name != "files"}
        known |= {"files": sorted(self.files), **found}
        self.write(folder)
        (folder / CASE).write_text(json.dumps(known, indent=2, ensure_ascii=True) + "\n")


#: Beside the files of a finding: its call, and what came of it.
CASE = "finding.json"


def kept_case(folder: Path) -> Case:
    """Return the case of a finding, from its folder."""
    known = json.loads((folder / CASE).read_text())
    files = {name: (folder / name).read_bytes() for name in known["files"]}
    return Case(known["command"], known["seed"], known["kind"], tuple(known["words"]), files)


def roles_of(line: str) -> set[str]:
    """Return the roles of files that a line names."""
    return {role for _, role, _, _ in Formatter().parse(line) if role}


def make_case(command: str, seed: int, samples: Mapping[str, Sample]) -> Case:
    """Draw a sample, one of the command's lines that it can fill, and damage to its files."""
    rng = Random(f"{command} {seed}")
    fitting = {
        kind: [line for line in LINES[command] if roles_of(line) <= set(sample.roles)]
        for kind, sample in samples.items()
    }
    kind = rng.choice(sorted(kind for kind, lines in fitting.items() if lines))
    sample = samples[kind]
    words = rng.choice(fitting[kind]).format(**sample.roles).split()
    return Case(command, seed, kind, tuple(words), sample.damaged(rng))
