"""Fit every learner on small problems and print a digest of all numbers that come out.

    python benchmarks/fingerprint.py [--only NAME ...] [--verbose]
    python benchmarks/fingerprint.py --save benchmarks/records/fingerprint.json
    python benchmarks/fingerprint.py --compare benchmarks/records/fingerprint.json

For changes that must change no number, such as moving modules: record before, compare after, on
the same machine with the same packages and OMP_NUM_THREADS=1. Numbers are rounded to 10 significant
digits, and to multiples of 1e-12. Only public names and the command line are used.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import hashlib
import json
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fingerprint_problems import PROBLEMS
from noisypairs import Pairs

DIGITS, SMALLEST = 10, 12
PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "duckdb", "ibis-framework", "torch")


def rounded(value: float) -> str:
    """Return a number as text with 10 significant digits, none beyond the 12th decimal.

    >>> rounded(2 / 3), rounded(1e-13), rounded(12345678.123456)
    ('0.6666666667', '0', '12345678.12')
    """
    near = round(float(value), SMALLEST)
    return f"{near + 0.0:.{DIGITS}g}"  # adding zero turns -0.0 to 0.0


def lines(thing: Any, name: str = "") -> Iterator[str]:
    """Yield ``name value`` for every number in nested data; a name says where it stands."""
    parts = inner(thing)
    if parts is not None:
        for key, part in parts:
            yield from lines(part, f"{name}/{key}")
    elif isinstance(thing, bool | np.bool_ | str | None):
        yield f"{name} {thing}"
    elif isinstance(thing, int | np.integer | float | np.floating):
        yield f"{name} {rounded(thing)}"
    else:
        raise TypeError(f"{name} is a {type(thing).__name__}, of which no number can be taken")


def inner(thing: Any) -> list[tuple[Any, Any]] | None:
    """Return the named parts of what has parts: mappings, sequences, arrays, dataclasses."""
    if isinstance(thing, Pairs):
        return [("left", thing.left), ("right", thing.right), ("same", thing.same)]
    if isinstance(thing, Mapping):
        return sorted(((str(key), value) for key, value in thing.items()), key=lambda kv: kv[0])
    if dataclasses.is_dataclass(thing):
        return [(field.name, getattr(thing, field.name)) for field in dataclasses.fields(thing)]
    if isinstance(thing, list | tuple) or (isinstance(thing, np.ndarray) and thing.ndim):
        return list(enumerate(thing))
    return None


def digest(text: str) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def solved(name: str, verbose: bool) -> str:
    """Solve one problem, print its line, and its numbers if wanted; return its digest."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(lines(PROBLEMS[name]()))
    result = digest("\n".join(found))
    seconds = time.perf_counter() - start
    print(f"{name:36} {result}  {len(found):6} numbers  {seconds:5.1f} s", flush=True)
    if verbose:
        print("\n".join(f"    {line}" for line in found))
    return result


def environment() -> dict[str, str]:
    """Return the versions on which the last digits depend."""
    found = {"python": sys.version.split()[0]}
    for package in PACKAGES:
        with contextlib.suppress(ImportError):
            found[package] = version(package)
    return found


def differing(found: Mapping[str, str], path: Path, whole_run: bool) -> list[str]:
    """Return the problems whose digests are not those recorded; say if the packages changed."""
    record = json.loads(path.read_text())
    if record["environment"] != environment():
        print(f"recorded with other packages: {record['environment']}")
    names = set(found) | (set(record["problems"]) if whole_run else set())
    return sorted(name for name in names if found.get(name) != record["problems"].get(name))


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", metavar="NAME", choices=sorted(PROBLEMS))
    parser.add_argument("--verbose", action="store_true", help="print the rounded numbers")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the digests as JSON")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="exit with 1 if any differs")
    return parser.parse_args()


def main() -> int:
    """Solve the problems, print, save and compare; return the exit code."""
    given = arguments()
    found = {name: solved(name, given.verbose) for name in given.only or PROBLEMS}
    total = digest("\n".join(f"{name} {found[name]}" for name in sorted(found)))
    print(f"{'total':36} {total}")
    if given.save:
        record = {"total": total, "environment": environment(), "problems": found}
        given.save.write_text(json.dumps(record, indent=2) + "\n")
    if not given.compare:
        return 0
    different = differing(found, given.compare, whole_run=not given.only)
    print("differs: " + ", ".join(different) if different else "equal to the record")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
