"""What stands around the learners: MLflow, skorch, wide sparse tables, comparisons of methods."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

import noisypairs
from noisypairs import JointPairClassifier, PairingNoise, sample_pairs

from .learners import problem


@pytest.mark.filterwarnings("ignore")  # of MLflow and what it imports
def test_mlflow_logs_a_model_and_no_inner_fit(tmp_path, monkeypatch, request):
    """The lines of docs/serving.md."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = pytest.importorskip("mlflow", reason="mlflow-skinny is not installed")
    pytest.importorskip("mlflow.sklearn", reason="mlflow.sklearn is not installed")
    X, _, pairs = problem(n_pairs=1500)
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    mlflow.sklearn.autolog(log_models=False, silent=True)
    # Left on, it keeps the warnings of all later fits back.
    request.addfinalizer(lambda: mlflow.sklearn.autolog(disable=True))
    with mlflow.start_run() as run:
        clf = JointPairClassifier(n_classes=2, class_order="falling", random_state=0).fit(X, pairs)
        types = skops.io.get_untrusted_types(data=skops.io.dumps(clf))
        model = mlflow.sklearn.log_model(clf, name="model", skops_trusted_types=types)
        mlflow.log_params(clf.get_params(deep=False))
    recorded = mlflow.get_run(run.info.run_id).data
    assert recorded.params == {name: str(one) for name, one in clf.get_params(deep=False).items()}
    assert recorded.metrics == {}
    again = mlflow.sklearn.load_model(model.model_uri)
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


def test_a_network_of_skorch_inside_the_joint_learner():
    torch = pytest.importorskip("torch", reason="networks need the torch extra")
    skorch = pytest.importorskip("skorch", reason="skorch is not installed")
    X, y, pairs = problem()
    torch.manual_seed(0)
    net = skorch.NeuralNetClassifier(
        torch.nn.Linear(2, 2),
        criterion=torch.nn.CrossEntropyLoss,
        max_epochs=20,
        lr=0.1,
        train_split=None,
        verbose=0,
    )
    clf = JointPairClassifier(net, 2, class_order="falling", cv=2, random_state=0)
    assert clf.fit(X.astype(np.float32), pairs).score(X.astype(np.float32), y) > 0.95


def wide(y, n_columns):
    """Return rows of 30 ones, in columns that lean to one of two classes."""
    rng = np.random.default_rng(0)
    lean = 0.8 * rng.normal(size=n_columns)
    chance = np.exp(lean * np.array([[-1.0], [1.0]]))
    chance /= chance.sum(axis=1, keepdims=True)
    column = np.concatenate([rng.choice(n_columns, size=30, p=chance[k]) for k in y])
    row = np.repeat(np.arange(len(y)), 30)
    return csr_array((np.ones(row.size), (row, column)), shape=(len(y), n_columns))


@pytest.mark.filterwarnings("ignore")  # that nothing names the classes
def test_fifty_thousand_sparse_columns_are_not_slow():
    y = np.random.default_rng(1).integers(2, size=1000)
    pairs = sample_pairs(y, 10_000, PairingNoise(0.2, 0.2), random_state=0)
    clf = JointPairClassifier(n_classes=2, random_state=0)

    def seconds(X):
        started = time.process_time()
        clf.fit(X, pairs)
        return time.process_time() - started

    few, many = wide(y, 1_000), wide(y, 50_000)
    seconds(few)  # whatever is imported once
    assert seconds(many) < 3 * seconds(few)


def test_methods_are_compared_on_data_of_ones_own():
    X, y, _ = problem()
    methods = {"mine": JointPairClassifier(LogisticRegression(), 2), "labels": "pn"}
    frame, plot = noisypairs.compare(X, y, methods, PairingNoise(0.1, 0.1), 5, repeats=1)
    assert isinstance(frame, pd.DataFrame)
    assert frame.set_index("method").accuracy.min() > 0.95
    assert plot.axes


def test_few_parameters_and_names():
    """The rest is in SearchOptions, and functions of the room."""
    known = JointPairClassifier().get_params(deep=False)
    assert set(known) == {
        *("estimator", "n_classes", "noise", "answer_model", "class_order", "cv"),
        *("random_state", "n_jobs", "verbose", "warm_start", "search"),
    }
    with pytest.raises(TypeError, match="no parameter 'starts'"):
        JointPairClassifier(starts=["kmeans"])
    names = {name for name in dir(noisypairs.Pairs) if name[0] != "_"}
    columns = "left right same weight annotator question chosen level item_ids groups labels"
    about = "annotator_names class_names group_names scale dropped n_items n_pairs shape"
    made = "constraints confidence frame groups ids levels scores tuples votes"
    parts = "aligned_to select without_copies without_self_pairs yes_or_no"
    changed = "reweighted update with_answers with_groups with_labels"
    seen = "audit item_counts items_frame to_frame"
    expected = [*columns.split(), *about.split(), *parts.split(), *changed.split(), *seen.split()]
    assert names == {*expected, *(f"from_{form}" for form in made.split())}
