"""Model files of earlier versions, whose classes have moved since, predict as they did."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from noisypairs import JointPairClassifier, PairingNoise, datasets, sample_pairs
from noisypairs.app import model_archive, model_file
from noisypairs.estimators.joint.parts.parts import HeldOutGain

OLD = sorted((Path(__file__).parents[1] / "data" / "models-0.1.0").glob("*.skops"))


# They were written with the scikit-learn of their day, which any later one says.
@pytest.mark.filterwarnings("ignore::noisypairs.app.model_file.ModelVersionWarning")
@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
def test_a_file_of_version_0_1_0_predicts_as_it_did(path: Path) -> None:
    model = model_file.load(path)
    expected = pd.read_csv(path.with_suffix(".expected.csv"))
    proba = model.pipeline.predict_proba(pd.read_csv(path.with_suffix(".items.csv")))
    assert [f"P({name})" for name in model.pipeline.classes_] == list(expected.columns[2:])
    np.testing.assert_allclose(proba, expected.iloc[:, 2:], atol=1e-6)
    winner = model.pipeline.classes_[proba.argmax(axis=1)]
    assert winner.astype(str).tolist() == expected["class"].astype(str).tolist()


#: Where classes were once, by where they are now.
EARLIER = {
    "noisypairs.estimators.joint.answers.model": "noisypairs.estimators.joint.answers",
    "noisypairs.estimators.joint.parts.parts": "noisypairs.estimators.joint.parts",
}


def under_earlier_names(path: Path, target: Path) -> Path:
    """Copy a model file with its classes where they were once; without digests."""
    with zipfile.ZipFile(path) as now, zipfile.ZipFile(target, "w") as then:
        for name in sorted({*now.namelist()} - {model_archive.DIGESTS}):
            data = now.read(name).decode("latin-1")
            if name == model_file.SCHEMA:
                for new, old in EARLIER.items():
                    assert f'"{new}"' in data
                    data = data.replace(f'"{new}"', f'"{old}"')
            then.writestr(name, data.encode("latin-1"))
    return target


def test_an_answer_model_is_found_where_it_is_now(tmp_path: Path) -> None:
    X, y = datasets.load("gaussians", n_samples=200, random_state=0)
    pairs = sample_pairs(y, 600, PairingNoise(0.1, 0.1), random_state=0)
    parts = {"clarity": True, "similarity": True, "positive": "majority"}
    model = JointPairClassifier(LogisticRegression(), random_state=0, **parts).fit(X, pairs)
    model.part_gains_ = (HeldOutGain("people", 30.0, 4.0, 20.0, 5.0, True),)
    facts = model_file.inspect(OLD[0]) | {"versions": {}}
    path = model_file.save(tmp_path / "now.skops", Pipeline([("classifier", model)]), facts)
    loaded = model_file.load(under_earlier_names(path, tmp_path / "then.skops")).pipeline[-1]
    assert loaded.part_gains_ == model.part_gains_
    np.testing.assert_array_equal(loaded.answer_proba(X, pairs), model.answer_proba(X, pairs))
