"""Learners on pair tables give the models that they give on `Pairs`."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
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
from noisypairs.tables import ChangedTable, PairTable
from tests.tables.written_pairs import arrow_table, rows_of

NOISE = PairingNoise(0.2, 0.1)


@pytest.fixture(scope="module")
def learning(tmp_path_factory):
    """Items, classes, pairs, and the pairs as a Parquet file."""
    X, y = datasets.gaussians(300, prior=0.3, random_state=0)
    X = X / 2 + np.random.default_rng(1).normal(size=X.shape)
    pairs = sample_pairs(y, 6000, NOISE, random_state=2)
    path = tmp_path_factory.mktemp("learning") / "pairs.parquet"
    pq.write_table(arrow_table(pairs), path)
    return X, y, pairs, path


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


@pytest.mark.parametrize(
    "learner",
    [
        LossCorrectionClassifier(Ridge(), NOISE, class_order="falling"),
        LossCorrectionClassifier(Ridge(), class_order="falling", random_state=0),
        LossCorrectionClassifier(noise=NOISE, prior=0.3, loss="logistic"),
        WeightedPairClassifier(LogisticRegression(), NOISE, class_order="falling"),
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
    from noisypairs.estimators import pointwise
    from noisypairs.tables import sums

    monkeypatch.setattr(pointwise, "PAIRS_IN_MEMORY", 0)
    passes = []
    count = sums.count_items
    monkeypatch.setattr(sums, "count_items", lambda *args: passes.append(1) or count(*args))
    for name in ("sum_neighbours", "count_repeats", "some_pairs", "among_items"):
        monkeypatch.setattr(sums, name, lambda *_, name=name: pytest.fail(f"{name} was called"))
    table = PairTable.from_parquet(path, n_items=len(X))
    monkeypatch.setattr(PairTable, "batches", lambda *_: pytest.fail("pairs were streamed"))
    LossCorrectionClassifier(Ridge(), NOISE, class_order="falling").fit(X, table)
    WeightedPairClassifier(noise=NOISE, class_order="falling").fit(X, table)
    assert len(passes) == 1


def test_a_table_that_fits_is_loaded(learning):
    X, y, _, path = learning
    table = PairTable.from_parquet(path, n_items=len(X)).with_labels({0: y[0], 1: y[1]})
    table = table.with_labels({int(np.argmax(y == c)): int(c) for c in (0, 1)})
    clf = JointPairClassifier(LogisticRegression(), n_classes=2, random_state=0)
    from_table = clf.fit(X, table).predict_proba(X)
    np.testing.assert_allclose(clf.fit(X, table.to_pairs()).predict_proba(X), from_table)


def test_cross_validation_splits_tables_by_item(learning):
    X, _, pairs, path = learning
    table = PairTable.from_parquet(path, n_items=len(X))
    clf = LossCorrectionClassifier(Ridge(), NOISE, prior=0.3)
    cv = KFold(3, shuffle=True, random_state=0)
    expected = cross_val_score(clf, X, pairs, cv=cv)
    np.testing.assert_allclose(cross_val_score(clf, X, table, cv=cv), expected, atol=1e-6)


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
    clf = LossCorrectionClassifier(Ridge(), NOISE, class_order="falling").fit(X, table)
    assert clf.score(X, y) > 0.97
    assert sum(batch.left.size for batch in table.batches(200_000)) == n_pairs


def test_refused_input_leaves_no_half_fitted_model(written):
    folder, _ = written
    table = PairTable.from_parquet(folder, n_items=30)
    (folder / "b.parquet").unlink()
    clf = LossCorrectionClassifier(Ridge(), NOISE, prior=0.3)
    with pytest.raises(ChangedTable, match="is gone"):
        clf.fit(np.zeros((30, 2)), table)
    assert not hasattr(clf, "estimator_")


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
