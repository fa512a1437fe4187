"""Items that are a table: found by id, classified where they are, fitted on a sample."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="tables need the app extra")
ibis = pytest.importorskip("ibis", reason="tables need the app extra")
pytest.importorskip("duckdb", reason="tables need the app extra")
import pyarrow.parquet as pq  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402

from noisypairs import (  # noqa: E402
    ItemTable,
    JointPairClassifier,
    PairingNoise,
    PairTable,
    SearchOptions,
    sample_pairs,
)
from noisypairs.joint.beyond_memory import FoldScorer  # noqa: E402
from noisypairs.joint.class_model import Calibration  # noqa: E402
from noisypairs.tables import (  # noqa: E402
    ChangedTable,
    LostEngine,
    UnreadableTable,
    spark_engine,
)
from noisypairs.tables import propagation as sweeps  # noqa: E402
from noisypairs.tables.store import Store  # noqa: E402
from tests.tables.written_pairs import DeadlyScorer  # noqa: E402

IDS = np.array(["d", "a", "c", "b", "e", "f"])
COLUMNS = {"id": IDS, "x": [4.0, 1.0, 3.0, 2.0, None, 6.0], "n": [0, 1, 0, 1, 0, 1]}


def items_of(columns, engine=None, **settings):
    rows = ibis.memtable(pa.table(columns))
    if engine is not None:
        rows = engine.create_view(f"items_{len(columns)}", rows, overwrite=True)
    return ItemTable.from_ibis(rows, id="id", **settings)


def test_items_are_found_by_the_order_of_their_ids_on_every_engine(engine):
    items = items_of(COLUMNS, engine)
    X, fold, groups = items.some(np.array([3, 0, 4]))
    np.testing.assert_array_equal(X, [[4, 0], [1, 1], [np.nan, 0]])
    hashed = [int(hashlib.md5(name.encode()).hexdigest()[0] >= "8") for name in "dae"]
    assert (fold.tolist(), groups) == (hashed, None)
    rows = ibis.memtable(pa.table({"left": ["a", "b"], "right": ["c", "f"], "same": [1, 0]}))
    if engine is not None:
        rows = engine.create_view("answers_of_items", rows, overwrite=True)
    pairs = PairTable.from_ibis(rows, items=items).to_pairs()
    assert (pairs.left.tolist(), pairs.right.tolist()) == ([0, 1], [2, 5])


def test_items_are_classified_where_they_are_out_of_fold(engine):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    items = items_of({"id": np.arange(40), "x": X[:, 0], "n": X[:, 1]}, engine)
    halves = X[:, 0] > 0, X[:, 1] < 0
    learnt = tuple(LogisticRegression().fit(X[half], y[half]) for half in halves)
    scorer = FoldScorer(None, learnt, Calibration(0.3, np.array([0.1, -0.1])))
    store = Store(items.engine)
    scored = items.scored(store, "scored", scorer, ["f_1"])
    found = scored.to_pyarrow().sort_by("item")
    fold = items.some(np.arange(40))[1]
    proba = scorer.proba(X, fold)
    assert set(fold) == {0, 1}
    np.testing.assert_allclose(found["f_1"], np.log(proba[:, 1] / proba[:, 0]), atol=1e-12)


def test_groups_stay_in_one_fold():
    groups = ["g", "h", "g", "h", "g", "h"]
    _, fold, found = items_of(COLUMNS | {"owner": groups}, group="owner").some(np.arange(6))
    by_group = {}
    for name, k in zip(found, fold, strict=True):
        by_group.setdefault(name, set()).add(int(k))
    assert by_group.keys() == {"g", "h"}
    assert all(len(folds) == 1 for folds in by_group.values())


@pytest.mark.parametrize(
    ("columns", "settings", "message"),
    [
        ({"id": ["a", "a"], "x": [1.0, 2.0]}, {}, "1 different ids in 2 rows"),
        ({"id": ["a", "b"], "x": ["red", "blue"]}, {}, "one column of vectors; .'x'. found"),
        ({"id": ["a", "b"]}, {}, "none found"),
        ({"id": ["a", "b"], "x": [1, 2]}, {"features": ["y"]}, "no column 'y'"),
        ({"id": ["a", "b"], "x": [1, 2]}, {"sample": 0}, "sample=0: expected a positive"),
        ({"id": ["a", "b"], "x": [[1.0], [1.0, 2.0]]}, {}, "vector of the same length"),
    ],
)
def test_items_that_cannot_be_used_are_refused(columns, settings, message):
    with pytest.raises(ValueError, match=message):
        items_of(columns, **settings).features_of(np.arange(2))


def test_ids_of_another_kind_are_refused():
    rows = ibis.memtable(pa.table({"left": [0, 1], "right": [1, 2], "same": [1, 0]}))
    with pytest.raises(TypeError, match=r"ids of type string, but the column of left ends holds"):
        PairTable.from_ibis(rows, items=items_of(COLUMNS))


def test_labels_are_by_id():
    rows = ibis.memtable(pa.table({"left": ["a", "b"], "right": ["c", "f"], "same": [1, 0]}))
    pairs = PairTable.from_ibis(rows, items=items_of(COLUMNS), labels={"f": "cup", "a": "jug"})
    assert dict(pairs.labels) == {0: "jug", 5: "cup"}
    assert dict(pairs.with_labels({2: "cup"}, by="position").labels) == {2: "cup"}
    with pytest.raises(ValueError, match=r"1 labels name items that are not in .* such as 'z'"):
        pairs.with_labels({"z": "cup", "a": "jug"})


# --- a fit ------------------------------------------------------------------------------------


def written(folder, n_items=500, n_pairs=5000):
    """Overlapping classes and three annotators of whom one guesses, as Parquet; the classes."""
    rng = np.random.default_rng(0)
    y = (rng.random(n_items) < 0.4).astype(int)
    X = rng.normal(size=(n_items, 4)) + np.outer(y, [1.2, 0.8, 0.0, 0.0])
    pairs = sample_pairs(y, n_pairs, PairingNoise(0.2, 0.1), random_state=1)
    who = rng.choice(["ann", "bob", "coin"], n_pairs, p=[0.4, 0.4, 0.2])
    same = np.where(who == "coin", rng.random(n_pairs) < 0.5, pairs.same)
    ids = np.array([f"i{k:05}" for k in range(n_items)])
    columns = {f"x{k}": column for k, column in enumerate(X.T)}
    pq.write_table(pa.table({"id": ids, **columns}), folder / "items.parquet")
    ends = {"left": ids[pairs.left], "right": ids[pairs.right]}
    pq.write_table(pa.table({**ends, "same": same, "annotator": who}), folder / "pairs.parquet")
    return y


def fitted(data, folder=None, sample=250, engine=None):
    threads = {"threads": 1} if engine is None else {"engine": engine}
    items = ItemTable.from_parquet(data / "items.parquet", id="id", sample=sample, **threads)
    pairs = PairTable.from_parquet(data / "pairs.parquet", items=items)
    learner = JointPairClassifier(
        LogisticRegression(),
        2,
        noise="pairing",
        answer_model=["people"],
        class_order="falling",
        random_state=0,
        search=SearchOptions(max_iter=3, tol=0.0),
    )
    return learner.fit(items, pairs, folder=folder), items


#: A fit in a process that kills itself in the middle of its second round.
KILLED = """
import os, signal, sys, warnings
from pathlib import Path
from tests.tables.test_items import fitted
from noisypairs.tables.propagation import TablePropagation
warnings.simplefilter("ignore")
sweep, said = TablePropagation.sweep, []
def last(self, responses):
    if self.done.rounds and said.append(1) is None and len(said) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return sweep(self, responses)
TablePropagation.sweep = last
fitted(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_to_tables_classifies_all_items_and_goes_on_where_it_was_killed(
    tmp_path, monkeypatch
):
    y = written(tmp_path)
    whole, items = fitted(tmp_path)
    assert 200 < len(whole.sample_) < 300  # about as many as were asked for
    found = whole.tables_.items.to_pyarrow().sort_by("id")
    assert found["id"].to_pylist() == [f"i{k:05}" for k in range(len(y))]
    right = np.array(found["class"].to_pylist()) == y.astype(str)
    assert right.mean() > 0.93
    assert whole.annotator_noise_[2].sum() == pytest.approx(1.0, abs=0.15)  # the coin
    ours = np.stack([found["P(0)"], found["P(1)"]], axis=1)
    np.testing.assert_allclose(ours[whole.sample_], whole.item_proba_, atol=1e-6)

    paths = whole.tables_.to_parquet(tmp_path / "results")
    assert [path.name for path in paths] == [
        "items.parquet", "suspects.parquet", "annotators.parquet"
    ]  # fmt: skip
    worst, people = (pq.read_table(path) for path in paths[1:])
    assert (np.diff(worst["probability"]) <= 0).all()
    assert worst["reason"][0].as_py().startswith("said ")
    assert people["annotator"].to_pylist() == ["ann", "bob", "coin"]
    assert sum(people["n_answers"].to_pylist()) == pytest.approx(5000, rel=0.01)  # no self pairs

    X = items.features_of(np.arange(len(y)))
    predicted = whole.predict_table(items).to_pyarrow().sort_by("id")
    np.testing.assert_allclose(predicted["P(1)"], whole.predict_proba(X)[:, 1], atol=1e-12)

    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), str(tmp_path / "run")], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    rounds = []
    begin = sweeps.TablePropagation.round

    def counted(self, responses):
        rounds.append(1)
        return begin(self, responses)

    monkeypatch.setattr(sweeps.TablePropagation, "round", counted)
    again, _ = fitted(tmp_path, tmp_path / "run")
    assert len(rounds) == 2  # of three: the first was kept
    np.testing.assert_allclose(again.item_proba_, whole.item_proba_, atol=1e-6)
    assert again.tables_.items.count().to_pyarrow().as_py() == len(y)

    os.utime(tmp_path / "pairs.parquet", (1, 1))
    with pytest.raises(ChangedTable, match="rounds of another fit: pairs differ"):
        fitted(tmp_path, tmp_path / "run")


@pytest.mark.filterwarnings("ignore")
def test_on_spark_a_round_is_lost_with_a_worker_or_with_java_and_nothing_else(
    tmp_path, spark, monkeypatch
):
    written(tmp_path, 200, 2000)
    on_duckdb, _ = fitted(tmp_path)
    whole = on_duckdb.tables_.items.to_pyarrow().sort_by("id")
    sweep, score, rounds = sweeps.TablePropagation.sweep, ItemTable.scored, []
    round_ = sweeps.TablePropagation.round

    def counted(self, responses):
        found = round_(self, responses)
        rounds.append(len(self.done.rounds))
        return found

    monkeypatch.setattr(sweeps.TablePropagation, "round", counted)

    def worker_dies(self, store, name, scorer, columns):
        if rounds:
            scorer = DeadlyScorer(scorer, tmp_path / "a worker was here")
        return score(self, store, name, scorer, columns)

    monkeypatch.setattr(ItemTable, "scored", worker_dies)
    with pytest.raises(UnreadableTable, match="the table"):
        fitted(tmp_path, tmp_path / "run", engine=spark)
    assert (tmp_path / "a worker was here").exists()
    assert rounds == [0]
    monkeypatch.setattr(ItemTable, "scored", score)

    def java_dies(self, responses):
        os.kill(spark._session.sparkContext._gateway.proc.pid, signal.SIGKILL)
        return sweep(self, responses)

    monkeypatch.setattr(sweeps.TablePropagation, "sweep", java_dies)
    with pytest.raises(LostEngine, match="connection to the engine is gone"):
        fitted(tmp_path, tmp_path / "run", engine=spark)
    assert rounds == [0]
    monkeypatch.setattr(sweeps.TablePropagation, "sweep", sweep)

    again, _ = fitted(tmp_path, tmp_path / "run", engine=spark_engine(cores=1))
    assert rounds == [0, 1, 2]
    found = again.tables_.items.to_pyarrow().sort_by("id")
    np.testing.assert_allclose(found["P(1)"], whole["P(1)"], atol=1e-6)  # those of DuckDB
    paths = again.tables_.to_parquet(tmp_path / "results")
    assert [pq.read_table(path).num_rows > 0 for path in paths] == [True] * 3


def test_items_and_pairs_must_be_tables_of_each_other():
    with pytest.raises(TypeError, match="open it with PairTable"):
        JointPairClassifier().fit(items_of(COLUMNS), None)
    with pytest.raises(ValueError, match="an ItemTable alone"):
        JointPairClassifier().fit(np.zeros((3, 1)), None, folder="run")
