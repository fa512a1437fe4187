"""Which records are of this version, which are stale, and how to renew them.

    python benchmarks/stale.py [--renew NAME ...]

Prints a row for every file of ``benchmarks/records``: what made its records, whether that is this
version, and the command that adds what it lacks. ``make records`` prints it. ``--renew`` sets the
records of other versions of these files aside (as NAME.old.jsonl) and runs their commands.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import noisypairs
from protocol import RECORDS, made_by, read

HERE = Path(__file__).parent
#: Records that are compared across versions on purpose: what others made stays.
COMPARED = {"calibration", "class_number", "cost", "coverage", "robust", "steady", "traps"}


def commands() -> dict[str, str]:
    """Return the script of every record file, from the scripts themselves."""
    found = {}
    for script in sorted(HERE.glob("*.py")):
        text = script.read_text(encoding="utf-8")
        names = re.findall(r"\brun\(.*?, \"(\w+)\"\)", text)
        if "NAME)" in text:
            names += re.findall(r"^NAME = \"(\w+)\"", text, re.MULTILINE)
        found |= dict.fromkeys(names, f"python benchmarks/{script.name}")
    return found


def stale(name: str) -> bool:
    """Return whether no record, or not every one that must be, is of this version."""
    made = {made_by(record) for record in read(name)}
    here = noisypairs.__version__
    return here not in made if name in COMPARED else made != {here}


def renew(name: str, command: str) -> None:
    """Set records of other versions aside and run the command."""
    path = RECORDS / f"{name}.jsonl"
    if name not in COMPARED:
        path.rename(path.with_suffix(".old.jsonl"))
    subprocess.run([sys.executable, *command.split()[1:]], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--renew", nargs="+", default=[], metavar="NAME")
    asked = parser.parse_args().renew
    known = commands()
    if unknown := set(asked) - set(known):
        parser.error(f"no such records: {', '.join(sorted(unknown))}")
    for name in asked:
        renew(name, known[name])
    print("| records | made by | stale | command |")
    print("|---|---|---|---|")
    for name in sorted(known):
        made = Counter(made_by(record) for record in read(name))
        words = (
            ", ".join(f"{version} ({count:,})" for version, count in made.items()) or "never run"
        )
        print(f"| {name} | {words} | {'yes' if stale(name) else 'no'} | {known[name]} |")
    for folder in sorted(path for path in RECORDS.iterdir() if (path / "run.json").is_file()):
        version = json.loads((folder / "run.json").read_text())["decides"]["noisypairs"]
        old = "no" if version == noisypairs.__version__ else "yes"
        print(f"| {folder.name} | {version} | {old} | noisypairs reproduce |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
