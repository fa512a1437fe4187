"""What a summary says of a fitted model."""

from __future__ import annotations

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisypairs import (
    JointPairClassifier,
    PairingNoise,
    WeightedPairClassifier,
    datasets,
    sample_pairs,
)
from noisypairs.app.fit.comparison import HeldOutResult
from noisypairs.app.fit.result import Candidate
from noisypairs.app.fit.summary import estimator_title, summarise_model
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


def test_one_estimator_is_named_by_the_type_of_its_last_step():
    model = fitted(make_pipeline(StandardScaler(), LogisticRegression()))
    assert model.candidate_ == "0: Pipeline"
    assert estimator_title(model) == "LogisticRegression"


def test_the_prior_is_the_root_that_the_model_took():
    X, y = datasets.load("gaussians", n_samples=400, prior=0.2, random_state=0)
    noise = PairingNoise(0.1, 0.1)
    pairs = sample_pairs(y, 4000, noise, random_state=0)
    model = WeightedPairClassifier(noise=noise, positive="minority", random_state=0).fit(X, pairs)
    assert len(model.prior_estimate_.roots) == 2
    untested = HeldOutResult(Candidate("weighted", "Weighted", False, refusal="not tried"))
    found = summarise_model(model, X, pairs, None, untested)
    assert found.prior.estimate == model.prior_
    assert found.prior.low < model.prior_ < found.prior.high
