"""Pair tables: the same numbers as `Pairs`, whatever the engine, and clear refusals."""

from __future__ import annotations

import os
import pickle
import shutil
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, cross_val_score

from noisypairs import (
    JointPairClassifier,
    LossCorrectionClassifier,
    PairingNoise,
    Pairs,
    WeightedPairClassifier,
    datasets,
    sample_pairs,
)

ibis = pytest.importorskip("ibis", reason="pair tables need the app extra")
pytest.importorskip("duckdb", reason="pair tables need the app extra")
pa = pytest.importorskip("pyarrow", reason="pair tables need the app extra")
import pyarrow.parquet as pq  # noqa: E402

from noisypairs.tables import ChangedTable, PairTable, UnreadableTable, spark_engine  # noqa: E402
from noisypairs.tables.engine import without_engine_warnings  # noqa: E402

NOISE = PairingNoise(0.2, 0.1)
ENGINES = ["duckdb", "spark"]


@pytest.fixture(scope="module")
def spark():
    pytest.importorskip("pyspark", reason="needs the spark extra")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java")
    with warnings.catch_warnings():  # Spark's own imports, not ours
        warnings.simplefilter("ignore")
        return spark_engine(cores=1)


@pytest.fixture(params=ENGINES)
def engine(request):
    """None for the embedded default, or a local Spark."""
    return request.getfixturevalue("spark") if request.param == "spark" else None


@pytest.fixture(autouse=True)
def quiet_spark(request):
    if "engine" not in request.fixturenames or "spark" not in request.node.name:
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        yield


def arrow_table(pairs, ids=None, words=None):
    """The pairs as a table: positions or ids, booleans or words."""
    left, right = pairs.left.astype(np.int64), pairs.right.astype(np.int64)
    columns = {
        "left": left if ids is None else [ids[i] for i in left],
        "right": right if ids is None else [ids[i] for i in right],
        "same": pairs.same if words is None else [words[int(s)] for s in pairs.same],
    }
    if pairs.annotator is not None:
        columns["annotator"] = pairs.annotator_names[pairs.annotator].tolist()
    if pairs.weight is not None:
        columns["weight"] = pairs.weight.astype(float)
    return pa.table(columns)


def random_pairs(seed=0, n_items=30, n_pairs=400):
    """Repeats, self pairs, items without pairs, annotators and weights."""
    rng = np.random.default_rng(seed)
    left, right = rng.integers(n_items - 3, size=(2, n_pairs))
    who = rng.choice(["ann", "bob", "eve"], size=n_pairs)
    weight = rng.integers(1, 20, size=n_pairs) / 8
    return Pairs(left, right, rng.random(n_pairs) < 0.5, n_items, annotator=who, weight=weight)


@pytest.fixture
def written(tmp_path):
    """A folder of two Parquet files, and the pairs in them."""
    pairs = random_pairs()
    table = arrow_table(pairs)
    for name, part in (("a", table.slice(0, 150)), ("b", table.slice(150))):
        pq.write_table(part, tmp_path / f"{name}.parquet")
    return tmp_path, pairs


@pytest.fixture(scope="module")
def learning(tmp_path_factory):
    """Items, classes, pairs, and the pairs as a Parquet file."""
    X, y = datasets.gaussians(300, prior=0.3, random_state=0)
    X = X / 2 + np.random.default_rng(1).normal(size=X.shape)
    pairs = sample_pairs(y, 6000, NOISE, random_state=2)
    path = tmp_path_factory.mktemp("learning") / "pairs.parquet"
    pq.write_table(arrow_table(pairs), path)
    return X, y, pairs, path


def rows_of(pairs):
    weight = pairs.weights
    return sorted(zip(pairs.left, pairs.right, pairs.same, weight, strict=True))


# --- the same numbers ---------------------------------------------------------------------------


def test_counts_equal_those_of_pairs(written, engine):
    folder, pairs = written
    table = PairTable.from_parquet(folder, n_items=30, engine=engine)
    assert table.n_pairs == pairs.n_pairs
    expected, found = pairs.item_counts(), table.item_counts()
    np.testing.assert_allclose(found.same, expected.same, rtol=1e-12)
    np.testing.assert_allclose(found.different, expected.different, rtol=1e-12)


def test_annotator_counts_equal_a_count_by_hand(written, engine):
    folder, pairs = written
    counts = PairTable.from_parquet(folder, n_items=30, engine=engine).annotator_counts
    assert counts.names.tolist() == ["ann", "bob", "eve"]
    for r in range(3):
        mine = pairs.annotator == r
        assert counts.n_answers[r] == mine.sum()
        assert counts.total[r] == pytest.approx(pairs.weight[mine].sum())
        assert counts.same[r] == pytest.approx(pairs.weight[mine & pairs.same].sum())


def test_neighbour_sums_equal_a_loop(written, engine):
    folder, pairs = written
    values = np.random.default_rng(3).normal(size=(30, 2))
    expected = np.zeros((2, 30, 2))
    for i, j, same, w in zip(pairs.left, pairs.right, pairs.same, pairs.weight, strict=True):
        if i != j:
            expected[int(same), i] += w * values[j]
            expected[int(same), j] += w * values[i]
    for source in (pairs, PairTable.from_parquet(folder, n_items=30, engine=engine)):
        same, different = source.neighbour_sums(values)
        np.testing.assert_allclose(same, expected[1], atol=1e-10)
        np.testing.assert_allclose(different, expected[0], atol=1e-10)


def test_audit_equals_that_of_pairs(written, engine):
    folder, pairs = written
    table = PairTable.from_parquet(folder, n_items=30, engine=engine)
    expected, found = pairs.audit().to_dict(), table.audit().to_dict()
    assert found.pop("same_share") == pytest.approx(expected.pop("same_share"))
    assert found == expected


def test_batches_and_loading_give_back_every_answer(written, engine):
    folder, pairs = written
    table = PairTable.from_parquet(folder, n_items=30, engine=engine)
    batches = list(table.batches(64))
    assert max(batch.left.size for batch in batches) <= 64
    assert sum(batch.left.size for batch in batches) == pairs.n_pairs
    loaded = table.to_pairs()
    assert rows_of(loaded) == rows_of(pairs)
    names = loaded.annotator_names[loaded.annotator]
    assert sorted(names) == sorted(pairs.annotator_names[pairs.annotator])


def test_subgraph_of_items_equals_that_of_pairs(written, engine):
    folder, pairs = written
    table = PairTable.from_parquet(folder, n_items=30, engine=engine)
    rows = np.random.default_rng(5).permutation(30)[:20]
    assert rows_of(table[rows].to_pairs()) == rows_of(pairs[rows])
    again = np.arange(20)[::-2]
    assert rows_of(table[rows][again].to_pairs()) == rows_of(pairs[rows][again])
    np.testing.assert_allclose(table[rows].item_counts().same, pairs[rows].item_counts().same)


def test_text_ids_and_words_are_mapped_in_the_engine(tmp_path, engine):
    pairs = random_pairs(4)
    ids = [f" item {k}" for k in range(30)]
    path = tmp_path / "pairs.parquet"
    pq.write_table(arrow_table(pairs, ids, ["Different", "same "]), path)
    table = PairTable.from_parquet(path, items=[i.strip() for i in ids], engine=engine)
    assert rows_of(table.to_pairs()) == rows_of(pairs)
    assert table.item_ids[3] == "item 3"


def test_csv_keeps_leading_zeros(tmp_path, engine):
    path = tmp_path / "pairs.csv"
    path.write_text("id1,id2,answer\n007,7,yes\n7,008,no\n")
    table = PairTable.from_csv(path, items=["7", "007", "008"], engine=engine)
    assert rows_of(table.to_pairs()) == [(0, 2, False, 1.0), (1, 0, True, 1.0)]


@pytest.mark.parametrize(
    "learner",
    [
        LossCorrectionClassifier(Ridge(), NOISE, positive="minority"),
        LossCorrectionClassifier(Ridge(), positive="minority", random_state=0),
        LossCorrectionClassifier(noise=NOISE, prior=0.3, loss="logistic"),
        WeightedPairClassifier(LogisticRegression(), NOISE, positive="minority"),
        WeightedPairClassifier(LogisticRegression(), NOISE, 0.3, alpha="cv", random_state=0),
    ],
    ids=["loss", "loss, rates estimated", "logistic loss", "weighted", "weighted, cv"],
)
def test_models_equal_those_from_pairs(learning, engine, learner):
    X, _, pairs, path = learning
    table = PairTable.from_parquet(path, n_items=len(X), engine=engine)
    from_pairs = learner.fit(X, pairs).predict_proba(X)
    np.testing.assert_allclose(learner.fit(X, table).predict_proba(X), from_pairs, atol=1e-5)


def test_known_noise_needs_two_looks_at_the_table(learning, monkeypatch):
    """One look at the words, one pass of counting: nothing else touches the pairs."""
    X, _, _, path = learning
    from noisypairs.tables import sums

    passes = []
    count = sums.count_items
    monkeypatch.setattr(sums, "count_items", lambda *args: passes.append(1) or count(*args))
    for name in ("sum_neighbours", "count_repeats", "some_pairs", "among_items"):
        monkeypatch.setattr(sums, name, lambda *_, name=name: pytest.fail(f"{name} was called"))
    table = PairTable.from_parquet(path, n_items=len(X))
    monkeypatch.setattr(PairTable, "batches", lambda *_: pytest.fail("pairs were streamed"))
    LossCorrectionClassifier(Ridge(), NOISE, positive="minority").fit(X, table)
    WeightedPairClassifier(noise=NOISE, positive="minority").fit(X, table)
    assert len(passes) == 1


def test_a_table_that_fits_is_loaded(learning):
    X, y, _, path = learning
    table = PairTable.from_parquet(path, n_items=len(X)).with_labels({0: y[0], 1: y[1]})
    table = table.with_labels({int(np.argmax(y == c)): int(c) for c in (0, 1)})
    clf = JointPairClassifier(LogisticRegression(), random_state=0)
    from_table = clf.fit(X, table).predict_proba(X)
    np.testing.assert_allclose(clf.fit(X, table.to_pairs()).predict_proba(X), from_table)


def test_cross_validation_splits_tables_by_item(learning):
    X, _, pairs, path = learning
    table = PairTable.from_parquet(path, n_items=len(X))
    clf = LossCorrectionClassifier(Ridge(), NOISE, prior=0.3)
    cv = KFold(3, shuffle=True, random_state=0)
    expected = cross_val_score(clf, X, pairs, cv=cv)
    np.testing.assert_allclose(cross_val_score(clf, X, table, cv=cv), expected, atol=1e-6)


def test_sample_is_a_part_and_the_same_for_any_order(tmp_path):
    pairs = random_pairs(7, n_items=400, n_pairs=5000)
    order = np.random.default_rng(0).permutation(5000)
    samples = []
    for k, given in enumerate((pairs, pairs.select(order))):
        pq.write_table(arrow_table(given), tmp_path / f"{k}.parquet")
        samples.append(PairTable.from_parquet(tmp_path / f"{k}.parquet", n_items=400).sample(1000))
    assert samples[0] == samples[1]
    assert 800 < samples[0].n_pairs < 1200
    assert set(rows_of(samples[0])) <= set(rows_of(pairs))
    low = np.minimum(samples[0].left, samples[0].right)
    assert np.ptp(low) > 300  # not one corner of the items


def test_sampled_triangles_are_near_the_count(tmp_path):
    rng = np.random.default_rng(0)
    left, right = rng.integers(300, size=(2, 12000))
    pairs = Pairs(left, right, rng.random(12000) < 0.5, 300)
    pq.write_table(arrow_table(pairs), tmp_path / "pairs.parquet")
    found = PairTable.from_parquet(tmp_path / "pairs.parquet", n_items=300).audit(6000).triangles
    exact = pairs.audit().triangles
    assert found.sampled
    assert found.closed == pytest.approx(exact.closed, rel=0.25)
    assert found.broken_share == pytest.approx(exact.broken_share, abs=0.05)


def test_pickle_opens_the_files_again(written):
    folder, pairs = written
    table = PairTable.from_parquet(folder, n_items=30, memory_limit="300MB")[np.arange(10)]
    copy = pickle.loads(pickle.dumps(table))
    assert rows_of(copy.to_pairs()) == rows_of(pairs[np.arange(10)])
    loose = PairTable.from_ibis(ibis.memtable(arrow_table(pairs)), n_items=30)
    with pytest.raises(TypeError, match="n_jobs=1"):
        pickle.dumps(loose)


def test_a_table_larger_than_the_memory_limit_trains(tmp_path):
    """4,000,000 pairs, 68 MB as int64 and bool, counted and streamed within 50 MB."""
    n_items, n_pairs = 2000, 4_000_000
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_items, 3))
    y = (X[:, 0] > 0.5).astype(int)
    with pq.ParquetWriter(
        tmp_path / "pairs.parquet",
        pa.schema({"left": pa.int64(), "right": pa.int64(), "same": pa.bool_()}),
    ) as writer:
        for seed in range(4):
            pairs = sample_pairs(y, n_pairs // 4, NOISE, random_state=seed)
            writer.write_table(arrow_table(pairs), row_group_size=100_000)
    limits = {"memory_limit": "50MB", "threads": 1, "temp_directory": str(tmp_path / "spill")}
    table = PairTable.from_parquet(tmp_path / "pairs.parquet", n_items=n_items, **limits)
    assert table.n_pairs == n_pairs
    clf = LossCorrectionClassifier(Ridge(), NOISE, positive="minority").fit(X, table)
    assert clf.score(X, y) > 0.97
    assert sum(batch.left.size for batch in table.batches(200_000)) == n_pairs


# --- refusals -----------------------------------------------------------------------------------


def test_unknown_ids_are_refused_with_an_example_or_dropped(tmp_path, engine):
    path = tmp_path / "pairs.csv"
    path.write_text("left,right,same\na,b,1\nb,zoe,0\nc,a,1\n")
    with pytest.raises(ValueError, match=r"1 of 3 pairs .*'right' has for example 'zoe'"):
        PairTable.from_csv(path, items=["a", "b", "c"], engine=engine)
    with pytest.warns(UserWarning, match="1 pairs with unknown items"):
        table = PairTable.from_csv(path, items=["a", "b", "c"], engine=engine, drop_unknown=True)
    assert (table.n_pairs, table.dropped["unknown"]) == (2, 1)
    assert table.audit().unknown == 1
    assert rows_of(table.to_pairs()) == [(0, 1, True, 1.0), (2, 0, True, 1.0)]


def test_positions_outside_are_unknown_items(written):
    folder, _ = written
    with pytest.raises(ValueError, match=r"not among the 20 items"):
        PairTable.from_parquet(folder, n_items=20)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_items": 30, "same": "smae"}, "did you mean 'same'"),
        ({"n_items": 30, "colour": "red"}, "colour"),
        ({}, "n_items=len"),
        ({"items": ["a", "a"]}, "'a' 2 times"),
        ({"items": [f"i{k}" for k in range(30)]}, "write ids alike"),
        ({"n_items": 30, "unsure": "keep"}, "unsure"),
    ],
)
def test_wrong_arguments_are_refused(written, arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        PairTable.from_parquet(written[0], **arguments)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["same", "maybe", "different"], "'maybe'"),
        (["same", None, "different"], "1 of 3 answers missing or unsure"),
        ([1, 2, 1], "1/2"),
    ],
)
def test_answers_that_are_none_are_refused(column, words):
    table = pa.table({"left": [0, 1, 2], "right": [1, 2, 0], "same": column})
    with pytest.raises(ValueError, match=words):
        PairTable.from_ibis(ibis.memtable(table), n_items=3)


def test_unsure_answers_are_dropped_when_asked(engine, tmp_path):
    table = pa.table({"left": [0, 1, 2], "right": [1, 2, 0], "same": ["Yes", "unsure", None]})
    pq.write_table(table, tmp_path / "pairs.parquet")
    with pytest.warns(UserWarning, match="2 missing or unsure"):
        pairs = PairTable.from_parquet(
            tmp_path / "pairs.parquet", n_items=3, unsure="drop", engine=engine
        )
    assert rows_of(pairs.to_pairs()) == [(0, 1, True, 1.0)]


def test_scores_and_bad_weights_are_refused():
    n = 1500
    scores = pa.table({"left": [0] * n, "right": [1] * n, "same": np.linspace(0, 1, n)})
    with pytest.raises(ValueError, match="scores"):
        PairTable.from_ibis(ibis.memtable(scores), n_items=2)
    weights = pa.table({"left": [0], "right": [1], "same": [True], "weight": [0.0]})
    with pytest.raises(ValueError, match="'weight' has 1 weights"):
        PairTable.from_ibis(ibis.memtable(weights), n_items=2)


def test_an_empty_table_is_refused(tmp_path):
    empty = arrow_table(random_pairs()).slice(0, 0)
    pq.write_table(empty, tmp_path / "pairs.parquet")
    with pytest.raises(ValueError, match=r"pairs\.parquet holds no pairs"):
        PairTable.from_parquet(tmp_path / "pairs.parquet", n_items=3)
    with pytest.raises(FileNotFoundError, match="no parquet file"):
        PairTable.from_parquet(_empty_folder(tmp_path), n_items=3)


def _empty_folder(tmp_path):
    (tmp_path / "nothing").mkdir()
    return tmp_path / "nothing"


def test_a_damaged_row_group_is_named(tmp_path):
    path = tmp_path / "pairs.parquet"
    rng = np.random.default_rng(0)
    left, right = rng.integers(10**6, size=(2, 50_000))
    table = pa.table({"left": left, "right": right, "same": rng.random(50_000) < 0.5})
    pq.write_table(table, path, row_group_size=10_000)
    damaged = bytearray(path.read_bytes())
    start = pq.ParquetFile(path).metadata.row_group(2).column(0).data_page_offset
    damaged[start : start + 5000] = b"\xff" * 5000
    path.write_bytes(bytes(damaged))
    with pytest.raises(UnreadableTable, match=r"pairs\.parquet cannot be read"):
        PairTable.from_parquet(path, n_items=10**6).item_counts()


def test_a_file_that_is_no_parquet_is_named(tmp_path):
    (tmp_path / "pairs.parquet").write_text("left,right,same\n")
    with pytest.raises(UnreadableTable, match=r"pairs\.parquet cannot be read"):
        PairTable.from_parquet(tmp_path / "pairs.parquet", n_items=3)


def test_a_file_that_grows_is_refused(written):
    folder, _ = written
    table = PairTable.from_parquet(folder, n_items=30)
    table.item_counts()
    pq.write_table(arrow_table(random_pairs(9)), folder / "b.parquet")
    assert table.item_counts().total.sum() > 0  # counted once, kept
    with pytest.raises(ChangedTable, match=r"b\.parquet changed since it was opened"):
        table.to_pairs()


def test_a_file_that_grows_between_batches_is_refused(written):
    folder, _ = written
    batches = PairTable.from_parquet(folder, n_items=30).batches(10)
    next(batches)
    with (folder / "b.parquet").open("ab") as file:
        file.write(b"more")
    with pytest.raises(ChangedTable, match="while it was read"):
        list(batches)


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
def test_an_engine_table_that_grows_is_refused(written):
    from noisypairs.tables import duckdb_engine

    engine = duckdb_engine()
    files = f"SELECT * FROM read_parquet('{written[0]}/*.parquet')"
    engine.raw_sql(f"CREATE TABLE answers AS {files}")
    table = PairTable.from_ibis(engine.table("answers"), n_items=30)
    engine.raw_sql(f"INSERT INTO answers {files}")
    with pytest.raises(ChangedTable, match="400 usable pairs when it was opened and 800"):
        list(table.batches())
    with pytest.raises(ChangedTable, match="Open the table again"):
        table.item_counts()


def test_refused_input_leaves_no_half_fitted_model(written):
    folder, _ = written
    table = PairTable.from_parquet(folder, n_items=30)
    (folder / "b.parquet").unlink()
    clf = LossCorrectionClassifier(Ridge(), NOISE, prior=0.3)
    with pytest.raises(ChangedTable, match="is gone"):
        clf.fit(np.zeros((30, 2)), table)
    assert not hasattr(clf, "estimator_")


def test_only_remarks_of_the_engines_are_hushed():
    with without_engine_warnings():
        warnings.warn_explicit("old name", FutureWarning, "x.py", 1, module="ibis.expr.types")
        with pytest.raises(FutureWarning, match="ours"):
            warnings.warn_explicit("ours", FutureWarning, "x.py", 1, module="mine")


def test_copies_are_counted_by_the_engine_and_kept(tmp_path):
    rng = np.random.default_rng(0)
    left, right = rng.integers(6, size=(2, 300))
    columns = {"left": left, "right": right, "same": rng.random(300) < 0.5}
    named = columns | {"annotator": rng.choice(["ann", "bob"], 300)}
    pq.write_table(pa.table(named), tmp_path / "pairs.parquet")
    table = PairTable.from_parquet(tmp_path / "pairs.parquet", n_items=6)
    expected = Pairs(**named, n_items=6).audit().copies
    assert expected > 0
    assert table.audit().copies == table.count_copies() == expected
    assert table.n_pairs == 300
    pq.write_table(pa.table(columns), tmp_path / "pairs.parquet")
    assert PairTable.from_parquet(tmp_path / "pairs.parquet", n_items=6).count_copies() == 0
