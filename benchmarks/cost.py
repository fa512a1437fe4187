"""What a fit costs: ratios of processor time, both sides measured in one run.

    python benchmarks/cost.py [--label 0.3.0] [--against FOLDER] [--only tables …] [--million]

tables       this version over another on adult, magic and spambase, 10 answers per item
classes      the same on 10 and 50 Gaussian classes of 3,000 items, number given
draws        ten draws of 50 classes: the slowest fit over the median
eigenvector  over the leading eigenvector of the signed graph, smoothed by logistic regression: two
             classes, 6 answers per item, 100,000 items, and 1,000,000 with --million
pointwise    point-wise learners on 10,000 items: 1,000,000 answers over 100,000
pooled       logistic regression on a row per occurrence of an item over the point-wise learner,
             which pools occurrences to a row per item; 10,000 items, 1,000,000 answers

The other version is that of ``FOLDER/src``, by default 0.2.0 out of this repository's history. Each
of its fits, and each of this version compared with it, has a process of its own, with one thread;
they take turns, and medians of three are compared. Accuracy stands beside each ratio. Runs what
``records/cost.jsonl`` lacks. --quick takes 2,000 rows of tables, 1,000 items of the classes, three
draws, 20,000 items of the eigenvector, and one round.
"""

from __future__ import annotations

import io
import json
import os
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh
from sklearn.linear_model import LogisticRegression, Ridge

from bench.record import NOISE, answers, items
from draws import gaussian_classes
from noisypairs import (
    LossCorrectionClassifier,
    PairingNoise,
    Pairs,
    WeightedPairClassifier,
    algebra,
)
from noisypairs.experiments.problem import split
from noisypairs.metrics import accuracy_up_to_names
from protocol import attempt, load_all, machine, options, read, run, select, versions

NAME = "cost"
ROOT = Path(__file__).parents[1]
#: The commit of version 0.2.0.
OLDER = "154d007"
TABLES = ("spambase", "magic", "adult")
#: Number of classes: answers per item.
CLASSES = {10: 10, 50: 20}
N_DRAWS, ROUNDS = 10, 3
POINTWISE_ITEMS, FEW_ANSWERS, MANY_ANSWERS = 10_000, 100_000, 1_000_000
FIT = """
import json, sys, time, warnings
import numpy as np
from noisypairs import JointPairClassifier, Pairs
from noisypairs.metrics import accuracy_up_to_names
warnings.simplefilter("ignore")
data, n_classes = np.load(sys.argv[1]), int(sys.argv[2])
# Once on few items, so that what is loaded late is not timed.
rng = np.random.default_rng(0)
y = np.arange(200) % 3
X = 3 * np.eye(3)[y] + rng.normal(size=(200, 3))
left, right = rng.integers(200, size=(2, 2000))
pairs = Pairs(left, right, y[left] == y[right], n_items=200)
JointPairClassifier(None, 3, random_state=0).fit(X, pairs)
pairs = Pairs(data["left"], data["right"], data["same"], n_items=len(data["X"]))
start = time.process_time()
model = JointPairClassifier(None, n_classes, random_state=0).fit(data["X"], pairs)
seconds = time.process_time() - start
said = accuracy_up_to_names(data["y_new"], model.predict(data["X_new"]))
known = accuracy_up_to_names(data["y"], model.item_proba_.argmax(axis=1))
print(json.dumps({"seconds": seconds, "new": said, "items": known}))
"""


# ---------------------------------------------------------------- against another version


def older_version(folder: Path) -> Path:
    """Write the package of version 0.2.0 to a folder, and return the folder."""
    command = ["git", "-C", str(ROOT), "archive", OLDER, "src"]
    archive = subprocess.run(command, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder


def version_of(folder: Path) -> str:
    """Return the version that a checkout of the package names."""
    text = (folder / "src" / "noisypairs" / "__init__.py").read_text(encoding="utf-8")
    (name,) = re.findall(r'__version__ = "(.+)"', text)
    return str(name)


def fit_with(source: Path, problem: Path, n_classes: int) -> dict[str, float]:
    """Fit a stored problem in a process that imports the package from ``source``."""
    environment = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", FIT, str(problem), str(n_classes)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def compare_versions(
    arrays: dict[str, np.ndarray], n_classes: int, rounds: int, other: Path
) -> dict[str, Any]:
    """Return medians of both versions, which fit in turn, and the ratio of their seconds."""
    sources = {"other": other / "src", "this": ROOT / "src"}
    with tempfile.TemporaryDirectory() as folder:
        problem = Path(folder) / "problem.npz"
        np.savez(problem, **arrays)
        fits = [
            {name: fit_with(source, problem, n_classes) for name, source in sources.items()}
            for _ in range(rounds)
        ]
    found: dict[str, Any] = {
        name: {what: statistics.median(fit[name][what] for fit in fits) for what in fits[0][name]}
        for name in sources
    }
    return found | {"ratio": found["this"]["seconds"] / found["other"]["seconds"]}


def table_task(name: str, rows: int, rounds: int, other: Path) -> dict[str, Any]:
    data = split(name, PairingNoise(0.2, 0.2), pairs_per_item=10, seed=0, rows=rows)
    arrays = {"X": data.X, "y": data.y, "X_new": data.X_test, "y_new": data.y_test}
    return compare_versions(arrays | ends(data.pairs), 2, rounds, other)


def classes_task(n_classes: int, n_items: int, rounds: int, other: Path) -> dict[str, Any]:
    data = gaussian_classes(n_classes, n_items, CLASSES[n_classes], n_new=2_000, seed=0)
    arrays = {"X": data.X, "y": data.y, "X_new": data.X_new, "y_new": data.y_new}
    return compare_versions(arrays | ends(data.pairs), n_classes, rounds, other)


def ends(pairs: Pairs) -> dict[str, np.ndarray]:
    return {"left": pairs.left, "right": pairs.right, "same": pairs.same}


# ---------------------------------------------------------------- this version alone


def draw_task(n_items: int, draw: int) -> dict[str, Any]:
    data = gaussian_classes(50, n_items, CLASSES[50], seed=100 + draw)
    done = attempt(data.X, data.pairs, None, 50)
    if done.model is None:
        return done.facts
    right = accuracy_up_to_names(data.y, done.model.item_proba_.argmax(axis=1))
    return done.facts | {"items": right}


def eigenvector(X: np.ndarray, pairs: Pairs) -> tuple[np.ndarray, LogisticRegression]:
    """Return the leading eigenvector of the signed graph, and what its signs teach about items.

    The weight of a pair is its answer (0 or 1) less the mean answer. Items count by the size of
    their entry.
    """
    n = len(X)
    sign = pairs.same - pairs.same.mean()
    graph = sparse.coo_array((sign, (pairs.left, pairs.right)), shape=(n, n)).tocsr()
    start = np.random.default_rng(0).normal(size=n)
    _, vectors = eigsh(graph + graph.T, k=1, which="LA", v0=start)
    vector = vectors[:, 0]
    return vector, LogisticRegression().fit(X, vector > 0, np.abs(vector) / np.abs(vector).mean())


def eigenvector_task(n_items: int, rounds: int) -> dict[str, Any]:
    X, y = items(n_items)
    X_new, y_new = items(20_000, seed=1)
    pairs = answers(y, 6 * n_items)
    eigenvector(X[:500], pairs[np.arange(500)])  # loads what is loaded late
    taken: dict[str, list[float]] = {"eigenvector": [], "joint": []}
    for _ in range(rounds):
        start = time.process_time()
        vector, simple = eigenvector(X, pairs)
        taken["eigenvector"].append(time.process_time() - start)
        done = attempt(X, pairs, LogisticRegression(), 2)
        taken["joint"].append(done.seconds)
    fast, slow = (statistics.median(one) for one in taken.values())
    assert done.model is not None, done.error
    said = done.model.item_proba_.argmax(axis=1)
    return {
        "other": {
            "seconds": fast,
            "items": accuracy_up_to_names(y, vector > 0),
            "new": accuracy_up_to_names(y_new, simple.predict(X_new)),
        },
        "this": {
            "seconds": slow,
            "items": accuracy_up_to_names(y, said),
            "new": accuracy_up_to_names(y_new, done.model.predict(X_new)),
        },
        "ratio": slow / fast,
    }


def pointwise_learners(prior: float) -> dict[str, Any]:
    known: dict[str, Any] = {"noise": NOISE, "prior": prior, "random_state": 0}
    return {
        "loss correction, ridge": LossCorrectionClassifier(Ridge(), **known),
        "loss correction, default": LossCorrectionClassifier(**known),
        "weighted, logistic": WeightedPairClassifier(LogisticRegression(), **known),
        "weighted, default": WeightedPairClassifier(**known),
    }


def processor_seconds(action: Callable[[], Any]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def fresh(pairs: Pairs) -> Pairs:
    """Return the same answers as a new object, which has nothing counted yet."""
    return Pairs(pairs.left, pairs.right, pairs.same, n_items=pairs.n_items)


def pointwise_task(name: str, rounds: int) -> dict[str, Any]:
    """Time fits of few and many answers, of new objects and of those whose items were counted."""
    X, y = items(POINTWISE_ITEMS)
    learner = pointwise_learners(float(y.mean()))[name]
    given = {n: answers(y, n) for n in (FEW_ANSWERS, MANY_ANSWERS)}
    for pairs in given.values():
        learner.fit(X, pairs)
    times: dict[str, dict[int, list[float]]] = {
        way: {n: [] for n in given} for way in ("new", "counted", "counting")
    }
    for _ in range(rounds):
        for n, pairs in given.items():
            new = fresh(pairs)
            times["new"][n].append(processor_seconds(partial(learner.fit, X, new)))
            times["counted"][n].append(processor_seconds(partial(learner.fit, X, new)))
            times["counting"][n].append(processor_seconds(fresh(pairs).item_counts))
    found: dict[str, Any] = {}
    for way, by_size in times.items():
        few, many = (statistics.median(several) for several in by_size.values())
        found[way] = {"few": few, "many": many, "ratio": many / few}
    return found


def pooled_task(rounds: int) -> dict[str, Any]:
    """Time logistic regression with the paper's weights, on pooled and on repeated rows."""
    X, y = items(POINTWISE_ITEMS)
    X_new, y_new = items(POINTWISE_ITEMS, seed=1)
    pairs, prior = answers(y, MANY_ANSWERS), float(y.mean())
    alpha = algebra.alpha(NOISE.same_probability(), prior)
    learner = pointwise_learners(prior)["weighted, logistic"]
    expanded = LogisticRegression()

    def every_occurrence() -> None:
        rows = np.concatenate([pairs.left, pairs.right])
        said = np.concatenate([pairs.same, pairs.same])
        expanded.fit(X[rows], said, np.where(said, 1 - alpha, alpha))

    fast, slow = [], []
    for _ in range(rounds):
        fast.append(processor_seconds(partial(learner.fit, X, fresh(pairs))))
        slow.append(processor_seconds(every_occurrence))
    return {
        "this": {
            "seconds": statistics.median(fast),
            "new": accuracy_up_to_names(y_new, learner.predict(X_new)),
        },
        "other": {
            "seconds": statistics.median(slow),
            "new": accuracy_up_to_names(y_new, expanded.predict(X_new)),
        },
        "ratio": statistics.median(slow) / statistics.median(fast),
    }


# ---------------------------------------------------------------- cells and tables


def task(version: str, measure: str, other: Path, against: str = "", **cell: Any) -> dict[str, Any]:  # noqa: ARG001
    load_all()
    with_other = {"tables": table_task, "classes": classes_task}
    if measure in with_other:
        return with_other[measure](**cell, other=other)
    alone = {"draws": draw_task, "eigenvector": eigenvector_task}
    alone |= {"pointwise": pointwise_task, "pooled": pooled_task}
    return alone[measure](**cell)


def cells(label: str, against: str, quick: bool, million: bool) -> Iterator[dict[str, Any]]:
    rounds = 1 if quick else ROUNDS
    compared = {"version": label, "against": against, "rounds": rounds}
    for name in TABLES:
        yield {**compared, "measure": "tables", "name": name, "rows": 2_000 if quick else 0}
    n_items = 1_000 if quick else 3_000
    for n_classes in CLASSES:
        yield {**compared, "measure": "classes", "n_classes": n_classes, "n_items": n_items}
    for draw in range(3 if quick else N_DRAWS):
        yield {"version": label, "measure": "draws", "n_items": n_items, "draw": draw}
    sizes = [20_000] if quick else [100_000, 1_000_000] if million else [100_000]
    for n in sizes:
        fits = 1 if n >= 1_000_000 else rounds
        yield {"version": label, "measure": "eigenvector", "n_items": n, "rounds": fits}
    for name in pointwise_learners(0.5):
        yield {"version": label, "measure": "pointwise", "name": name, "rounds": ROUNDS}
    yield {"version": label, "measure": "pooled", "rounds": rounds}


def table(records: list[dict[str, Any]]) -> None:
    print("\n| version | what | s | other, s | ratio | items right | other | new right | other |")
    print(f"|{'---|' * 9}")
    for version in versions(records):
        for record in select(records, version=version):
            if "other" in record:
                print(f"| {version} | {what(record['cell'])} | {' | '.join(both(record))} |")
    print("\n| version | 50 classes, items | draws | median s | slowest s | ratio | right |")
    print(f"|{'---|' * 7}")
    for version in versions(records):
        draws = select(records, version=version, measure="draws")
        for n_items in dict.fromkeys(r["cell"]["n_items"] for r in draws):
            mine = select(draws, n_items=n_items)
            seconds = [r["seconds"] for r in mine]
            middle, most = statistics.median(seconds), max(seconds)
            shown = f"{middle:.2f} | {most:.2f} | {most / middle:.1f}"
            right = np.mean([r.get("items", 0.0) for r in mine])
            print(f"| {version} | {n_items} | {len(mine)} | {shown} | {right:.3f} |")
    print("\nPoint-wise: seconds of a million answers, and over those of 100,000.\n")
    print("| version | learner | new pairs, s | ratio | counted pairs, s | ratio | counting, s |")
    print(f"|{'---|' * 7}")
    for record in records:
        if record["cell"]["measure"] == "pointwise":
            shown = [
                f"{record[way]['many']:.3f} | {record[way]['ratio']:.2f}"
                for way in ("new", "counted")
            ]
            counting = f"{record['counting']['many']:.3f}"
            cell = record["cell"]
            print(f"| {cell['version']} | {cell['name']} | {' | '.join(shown)} | {counting} |")


def what(cell: dict[str, Any]) -> str:
    """Return the name of a comparison."""
    kind, size = cell["measure"], f"{cell.get('n_items', 0):,} items"
    rows = f", {cell['rows']:,} rows" if cell.get("rows") else ""
    names = {
        "tables": f"{cell.get('name')}{rows} over {cell.get('against')}",
        "classes": f"{cell.get('n_classes')} classes, {size} over {cell.get('against')}",
        "eigenvector": f"two classes, {size} over eigenvector",
        "pooled": "row per occurrence (other) over pooled rows",
    }
    return names[kind]


def both(record: dict[str, Any]) -> list[str]:
    this, other = record["this"], record["other"]
    right = [
        f"{side[key]:.3f}" if key in side else ""
        for key in ("items", "new")
        for side in (this, other)
    ]
    return [f"{this['seconds']:.3f}", f"{other['seconds']:.3f}", f"{record['ratio']:.2f}", *right]


def main() -> None:
    measures = ["tables", "classes", "draws", "eigenvector", "pointwise", "pooled"]
    parser = options(__doc__)
    parser.add_argument("--against", type=Path, help="folder with src/ of another version")
    parser.add_argument("--only", nargs="+", choices=measures, default=measures)
    parser.add_argument("--million", action="store_true", help="1,000,000 items as well")
    given = parser.parse_args()
    if given.only_print:
        table(read(NAME))
        return
    with tempfile.TemporaryDirectory() as folder:
        other = given.against or older_version(Path(folder))
        every = cells(given.label, version_of(other), given.quick, given.million)
        chosen = [cell for cell in every if cell["measure"] in given.only]
        records = run(partial(task, other=other.resolve()), chosen, NAME)
    print(machine())
    table(records)


if __name__ == "__main__":
    main()
