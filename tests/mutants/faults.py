"""The list of planted faults: one small change of the source each, with the tests that notice it.

The lists are the TOML files beside this module, one per room. A fault names a file of the package,
a snippet that occurs in it exactly once, what to put in its place, and the tests that must fail
then. Snippets, not line numbers, so that a list survives edits elsewhere in the file.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path("src", "noisypairs")


class StaleFault(ValueError):
    """The snippet of a fault does not occur exactly once: the source has changed."""


@dataclass(frozen=True)
class Fault:
    """A fault: in ``file`` (below the package) ``old`` becomes ``new``; ``why`` it matters."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    why: str

    def path(self, root: Path = ROOT) -> Path:
        """Return the file in a copy of the tree."""
        return root / PACKAGE / self.file

    @property
    def rounds(self) -> tuple[tuple[str, ...], ...]:
        """The tests to run, one group after the other until one notices the fault."""
        return (self.tests,)

    def planted(self, source: str) -> str:
        """Return the source with the fault in it."""
        found = source.count(self.old)
        if found != 1:
            raise StaleFault(f"{self.name}: its snippet occurs {found} times in {self.file}")
        return source.replace(self.old, self.new)


def load_faults() -> list[Fault]:
    """Return all faults, by list and in the order of each list."""
    lists = sorted(Path(__file__).parent.glob("*.toml"))
    found = (tomllib.loads(path.read_text("utf-8")) for path in lists)
    rows = [row for one in found for row in one.get("fault", [])]  # equivalent.toml has none
    return [Fault(**{**row, "tests": tuple(row["tests"])}) for row in rows]
