"""What a summary says of a fitted model."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisypairs import (
    JointPairClassifier,
    PairingNoise,
    SearchOptions,
    WeightedPairClassifier,
    datasets,
    sample_pairs,
)
from noisypairs.app import model_file
from noisypairs.app.files import read_dataset
from noisypairs.app.fit.comparison import HeldOutAnswers, HeldOutResult
from noisypairs.app.fit.fitting import fit_dataset
from noisypairs.app.fit.request import Request
from noisypairs.app.fit.result import Candidate
from noisypairs.app.fit.summary import estimator_title, summarise_model
from noisypairs.app.model_card import card
from noisypairs.app.report.model import fit_report
from noisypairs.assess.verdict import judged
from noisypairs.estimators.inner.classifiers import (
    GaussianClasses,
    LogisticClasses,
    default_candidates,
)
from noisypairs.estimators.inner.features import FiniteNumbers, KernelColumns, TailScaler


def fitted(estimator):
    X, y = datasets.load("gaussians", n_samples=120, prior=0.4, random_state=14)
    pairs = sample_pairs(y, 600, PairingNoise(0.2, 0.2), random_state=14)
    settings = {
        "class_order": "falling",
        "noise": "pairing",
        "random_state": 0,
        "search": SearchOptions(max_iter=2, tol=1.0),
    }
    return JointPairClassifier(estimator, n_classes=2, **settings).fit(X, pairs)


#: Class models of the search, which may be kept too.
SEARCHED = {
    "gaussian": make_pipeline(FiniteNumbers(), TailScaler(), GaussianClasses()),
    "ridge": make_pipeline(FiniteNumbers(), KernelColumns(), LogisticClasses()),
}


def parts(estimator):
    """Return the types of an estimator's steps, or its own."""
    return [type(step) for _, step in getattr(estimator, "steps", [("", estimator)])]


def heavy_tailed_files(folder, n_columns, seed):
    """Write 80 items with heavy tails, on which who leads often needs a larger lead."""
    rng = np.random.default_rng(seed)
    y = (rng.random(80) < 0.4).astype(int)
    x = rng.exponential(size=(80, n_columns)) * rng.choice([-1, 1], (80, n_columns))
    x += 2.5 / np.sqrt(n_columns) * y[:, None]
    ids = np.array([f"p{k}" for k in range(80)])
    items = pd.DataFrame(x, columns=[f"f{k}" for k in range(n_columns)])
    items.assign(photo=ids).to_csv(folder / "items.csv", index=False)
    pairs = sample_pairs(y, 500, PairingNoise(0.15, 0.15), random_state=seed)
    answers = pd.DataFrame({"left": ids[pairs.left], "right": ids[pairs.right]})
    answers["same"] = np.where(pairs.same, "yes", "no")
    answers.to_csv(folder / "pairs.csv", index=False)
    return read_dataset(folder / "items.csv", folder / "pairs.csv")


def test_report_card_json_and_file_name_the_estimator_inside_the_model(tmp_path):
    misleading = 0
    for n_columns, seed in ((2, 0), (2, 1), (2, 2), (6, 3), (12, 0), (12, 1)):
        data = heavy_tailed_files(tmp_path, n_columns, seed)
        found = fit_dataset(data, Request(method="joint", n_classes=2))
        path = model_file.save(tmp_path / "m.skops", found.model, found.result.facts, force=True)
        loaded = model_file.load(path)
        kept, name = loaded.pipeline[-1], loaded.facts["estimator_title"]
        named = default_candidates(np.zeros((80, n_columns)), 0) | SEARCHED
        assert parts(kept.estimator_) == parts(named[name])
        assert found.result.to_dict()["estimator_title"] == name
        assert f"Joint learner with {name}, learnt from" in card(loaded.facts)
        assert f"Joint learner with {name}, seed 0" in fit_report(found.result)
        leading = max(kept.candidates_, key=kept.candidates_.get)
        misleading += leading != name and kept.candidates_[leading] > kept.log_likelihood_
    assert misleading >= 1  # the highest likelihood would have been the wrong name


def test_one_estimator_is_named_by_the_type_of_its_last_step():
    model = fitted(make_pipeline(StandardScaler(), LogisticRegression()))
    assert model.candidate_ == "0: Pipeline"
    assert estimator_title(model) == "LogisticRegression"


def test_the_prior_is_the_root_that_the_model_took():
    X, y = datasets.load("gaussians", n_samples=400, prior=0.2, random_state=0)
    noise = PairingNoise(0.1, 0.1)
    pairs = sample_pairs(y, 4000, noise, random_state=0)
    model = WeightedPairClassifier(noise=noise, class_order="falling", random_state=0).fit(X, pairs)
    assert len(model.prior_estimate_.roots) == 2
    untested = HeldOutResult(Candidate("weighted", "Weighted", False, refusal="not tried"))
    held_out = HeldOutAnswers(pd.DataFrame(X).add_prefix("x"), pairs, 0)
    found = summarise_model(model, pairs, held_out, untested, judged([], None, None, 0.6, 2))
    assert found.prior.estimate == model.prior_
    assert found.prior.low < model.prior_ < found.prior.high
