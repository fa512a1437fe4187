"""New items from a file: ids, classes, probabilities, the threshold, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from noisypairs.app.files import read_dataset
from noisypairs.app.fit.fitting import fit_dataset
from noisypairs.app.fit.request import Request
from noisypairs.app.model_file import save
from noisypairs.app.prediction import predict_file, written_probabilities
from noisypairs.app.suspects import suspects_in_files
from tests.app.fit.fit_problems import small_model


def test_the_likelier_class_is_named_unless_a_threshold_decides() -> None:
    result, notes, drift = predict_file(*small_model())
    second = result.columns[-1]
    name = second.removeprefix("P(").removesuffix(")")
    assert ((result["class"] == name) == (result[second] > 0.5)).all()
    np.testing.assert_allclose(result.iloc[:, 2:].sum(axis=1), 1.0)
    strict, *_ = predict_file(*small_model(), threshold=0.999)
    assert ((strict["class"] == name) == (strict[second] >= 0.999)).all()
    assert (notes, drift.columns, drift.is_far) == ([], (), False)


def test_a_column_that_is_missing_or_not_used_is_named(tmp_path: Path) -> None:
    model, new = small_model()
    items = pd.read_csv(new)
    items.assign(shade="dark").to_csv(tmp_path / "more.csv", index=False)
    notes = predict_file(model, tmp_path / "more.csv").notes
    assert notes == ["column 'shade' is not used"]
    used = items.columns[-1]
    items.drop(columns=used).to_csv(tmp_path / "less.csv", index=False)
    with pytest.raises(ValueError, match=f"no column '{used}', which the model uses"):
        predict_file(model, tmp_path / "less.csv")


def test_written_probabilities_are_never_absurd_and_add_up_to_one() -> None:
    rng = np.random.default_rng(0)
    for K in (2, 3, 6):
        proba = rng.dirichlet(np.full(K, 0.02), 500)
        shown = written_probabilities(np.vstack([proba, np.eye(K), np.full((1, K), 1 / K)]))
        assert shown.min() >= 1e-6
        assert shown.max() < 1.0
        np.testing.assert_allclose(shown.sum(axis=1), 1.0, atol=1e-9)
        np.testing.assert_allclose(shown[:500], proba, atol=1e-6 * K)
        np.testing.assert_array_equal(shown, shown.round(6))


def test_an_array_that_only_the_training_items_had_beside_them_is_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    items, pairs = tmp_path / "items.csv", tmp_path / "pairs.csv"
    items.write_text("id,size\n" + "".join(f"i{k},{k % 3}\n" for k in range(40)))
    np.save(tmp_path / "items.npy", rng.normal(size=(40, 2)) + 4 * y[:, None])
    left, right = rng.integers(0, 40, (2, 300))
    pd.DataFrame(
        {"left": [f"i{k}" for k in left], "right": [f"i{k}" for k in right]}
        | {"same": (y[left] == y[right]).astype(int)}
    )[left != right].to_csv(pairs, index=False)
    request = Request("joint", "logistic", n_classes=2, annotators=False)
    found = fit_dataset(read_dataset(items, pairs), request)
    model = save(tmp_path / "m.skops", found.model, found.result.facts)
    new = tmp_path / "new.csv"
    new.write_text("id,size\nn0,1\nn1,2\nn2,0\n")
    asked = tmp_path / "asked.csv"
    asked.write_text("left,right,same\nn0,n1,no\nn0,n2,yes\n")
    answered = read_dataset(new, asked)
    for use in (lambda: predict_file(model, new), lambda: suspects_in_files(model, answered)):
        with pytest.raises(ValueError, match=r"such as items\.npy .*new\.npy, one row for each"):
            use()
    np.save(tmp_path / "new.npy", np.array([[0.0, 0.0], [4.0, 4.0], [0.0, 0.1]]))
    assert predict_file(model, new).table["class"].nunique() == 2
