"""Inner estimators served through ONNX predict what the learner predicts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisypairs import JointPairClassifier, LossCorrectionClassifier, WeightedPairClassifier
from noisypairs.estimators.inner.classifiers import default_candidates
from noisypairs.joint.class_model import fit_beliefs

from .learners import ALL, NOISE, problem

skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx, of the extra dev, is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
    pytest.mark.skipif(len(ALL) == 1, reason="one learner of one's own is asked for"),
]


def served(model, X):
    """Return all outputs of a model after its way through ONNX."""
    options = {"options": {"zipmap": False}} if hasattr(model, "predict_proba") else {}
    graph = skl2onnx.to_onnx(model, X[:1].astype(np.float32), **options)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    return session.run(None, {"X": X.astype(np.float32)})


@pytest.mark.parametrize(
    "inner",
    [LogisticRegression(), GaussianNB(), RandomForestClassifier(10, random_state=0)],
    ids=lambda one: type(one).__name__,
)
def test_the_joint_learner_behind_a_scaler(inner):
    X, _, pairs = problem()
    scaler = StandardScaler().fit(X)
    learner = JointPairClassifier(inner, n_classes=2, class_order="falling", random_state=0)
    learner.fit(scaler.transform(X), pairs)
    _, proba = served(make_pipeline(scaler, learner.estimator_), X)
    slope, *weight = learner.calibration_
    proba = softmax(np.exp(slope) * np.log(np.maximum(proba, 1e-4)) + weight, axis=1)
    proba = np.maximum(proba, 1e-3)
    proba /= proba.sum(axis=1, keepdims=True)
    wanted = learner.predict_proba(scaler.transform(X))
    np.testing.assert_allclose(proba, wanted, rtol=0, atol=1e-5)
    clear = np.abs(wanted[:, 1] - 0.5) > 1e-5
    said = learner.classes_[proba.argmax(axis=1)]
    np.testing.assert_array_equal(said[clear], learner.predict(scaler.transform(X))[clear])
    assert clear.mean() > 0.99


def test_the_point_wise_learners():
    X, _, pairs = problem()
    learner = LossCorrectionClassifier(Ridge(), noise=NOISE, class_order="falling").fit(X, pairs)
    (share,) = served(learner.estimator_, X)
    clear = np.abs(share.ravel() - 0.5) > 1e-5
    np.testing.assert_array_equal((share.ravel() > 0.5)[clear], learner.predict(X)[clear] == 1)
    learner = WeightedPairClassifier(LogisticRegression(), noise=NOISE, class_order="falling")
    said, _ = served(learner.fit(X, pairs).estimator_, X)
    agree = (said == learner.predict(X)).mean()
    assert max(agree, 1 - agree) == 1.0  # it learns "same", which may be either class


def test_what_skl2onnx_does_not_know_is_refused_by_name():
    X, _, pairs = problem()
    learner = JointPairClassifier(n_classes=2, class_order="falling", random_state=0)
    own = default_candidates(X), {"kept": learner.fit(X, pairs).estimator_}
    for name, one in (own[0] | own[1]).items():
        model = one if name == "kept" else fit_beliefs(one, X, learner.item_proba_)
        with pytest.raises(skl2onnx.common.exceptions.MissingShapeCalculator, match="noisypairs"):
            served(model, X)
