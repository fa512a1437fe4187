"""What a summary says of a fitted model."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisypairs import JointPairClassifier, PairingNoise, datasets, sample_pairs
from noisypairs.app import model_file
from noisypairs.app.files import read_dataset
from noisypairs.app.fit.fitting import fit_dataset
from noisypairs.app.fit.request import Request
from noisypairs.app.fit.summary import estimator_title
from noisypairs.app.model_card import card
from noisypairs.app.report.model import fit_report
from noisypairs.estimators.inner.defaults import default_candidates
from noisypairs.estimators.inner.ridge import RidgeClasses
from noisypairs.estimators.joint.selection import WORTH_IT


def fitted(estimator):
    X, y = datasets.load("gaussians", n_samples=120, prior=0.4, random_state=12)
    pairs = sample_pairs(y, 600, PairingNoise(0.2, 0.2), random_state=12)
    settings = {"positive": "minority", "noise_model": "pairing", "random_state": 0, "max_iter": 2}
    model = JointPairClassifier(estimator, tol=1.0, **settings)
    return model.fit(X, pairs)


def test_the_title_is_that_of_the_candidate_kept_where_ridge_leads_by_less_than_its_handicap():
    model = fitted([LogisticRegression(), RidgeClasses(random_state=0)])
    kept, ridge = "0: LogisticRegression", "1: RidgeClasses"
    assert 0 < model.candidates_[ridge] - model.candidates_[kept] < WORTH_IT
    assert isinstance(model.estimator_, LogisticRegression)
    assert model.candidate_ == kept
    assert estimator_title(model) == kept


def test_report_card_json_and_file_name_the_estimator_inside_the_model(tmp_path):
    """Six tables of two columns where the default candidates compete, ridge among them."""
    kept = set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y = (rng.random(80) < 0.4).astype(int)
        x = rng.normal(size=(80, 2)) + 1.5 * y[:, None]
        ids = [f"p{k}" for k in range(80)]
        pd.DataFrame({"photo": ids, "a": x[:, 0], "b": x[:, 1]}).to_csv(
            tmp_path / "items.csv", index=False
        )
        pairs = sample_pairs(y, 500, PairingNoise(0.15, 0.15), random_state=seed)
        answers = {"left": pairs.left, "right": pairs.right}
        pd.DataFrame({end: [ids[k] for k in at] for end, at in answers.items()}).assign(
            same=np.where(pairs.same, "yes", "no")
        ).to_csv(tmp_path / "pairs.csv", index=False)
        data = read_dataset(tmp_path / "items.csv", tmp_path / "pairs.csv")
        found = fit_dataset(data, Request(method="joint", n_classes=2))
        path = model_file.save(tmp_path / "m.skops", found.model, found.result.facts, force=True)
        loaded = model_file.load(path)
        name = loaded.pipeline[-1].candidate_
        candidates = default_candidates(x, 0)
        assert type(candidates[name]) is type(loaded.pipeline[-1].estimator_)
        assert found.result.to_dict()["estimator_title"] == name
        assert loaded.facts["estimator_title"] == name
        assert f"Joint learner with {name}, learnt from" in card(loaded.facts)
        assert f"Joint learner with {name}, seed 0" in fit_report(found.result)
        kept.add(name)
    assert len(kept) > 1  # else nothing was put to the test


def test_one_estimator_is_named_by_the_type_of_its_last_step():
    model = fitted(make_pipeline(StandardScaler(), LogisticRegression()))
    assert model.candidate_ == "0: Pipeline"
    assert estimator_title(model) == "LogisticRegression"
