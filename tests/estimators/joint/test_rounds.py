"""The last rounds: which classifier they end with, and what they say about the answers."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import JointPairClassifier, PairingNoise, sample_pairs
from noisypairs.estimators.joint.choice import Choice
from noisypairs.estimators.joint.search.families import FIRST_SWEEPS, MANY_CLASSES
from noisypairs.inference import em

K = MANY_CLASSES + 2

pytestmark = pytest.mark.filterwarnings("ignore::noisypairs.ClassNamesWarning")


def clusters(n_items=400, seed=0):
    """Gaussian classes that lie apart, and answers of which one in five is wrong."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_items) % K)
    X = 1.2 * rng.normal(size=(K, 6))[y] + rng.normal(size=(n_items, 6))
    return X, y, sample_pairs(y, 8 * n_items, PairingNoise(0.2, 0.1), random_state=seed)


def take(name):
    """Return a choice that takes the candidate of this name, whatever leads."""
    return lambda self: setattr(self, "members", [name])


def fitted(monkeypatch, name, **given):
    X, _, pairs = clusters()
    monkeypatch.setattr(Choice, "choose", take(name))
    return JointPairClassifier(n_classes=K, random_state=0, **given).fit(X, pairs)


def test_gaussian_classes_are_gone_back_to_where_they_explain_more(monkeypatch):
    chosen = fitted(monkeypatch, "linear")
    assert chosen.start_.startswith("gaussian")
    assert chosen.candidate_ == "gaussian"
    assert chosen.log_likelihood_ == pytest.approx(fitted(monkeypatch, "gaussian").log_likelihood_)


@pytest.mark.filterwarnings("ignore::noisypairs.ClassNumberWarning")  # a poor start
def test_another_classifier_stays_where_other_starts_led_here(monkeypatch):
    chosen = fitted(monkeypatch, "linear", starts=("spectral",))
    assert chosen.candidate_ == "linear"


def test_of_many_classes_messages_go_on_from_the_start(monkeypatch):
    made = []

    class Seen(em.GraphEStep):
        def __init__(self, *given, **options):
            super().__init__(*given, **options)
            made.append((self.sweeps, self.messages))

    monkeypatch.setattr(em, "GraphEStep", Seen)
    X, _, pairs = clusters()
    JointPairClassifier(n_classes=K, random_state=0).fit(X, pairs)
    sweeps, messages = made[-1]
    assert sweeps == FIRST_SWEEPS
    assert messages is not None


def test_what_is_said_about_the_answers_is_that_of_the_classifier_kept(monkeypatch):
    again, once = (fitted(monkeypatch, name) for name in ("linear", "gaussian"))
    np.testing.assert_allclose(again.wrong_proba_, once.wrong_proba_, atol=1e-9)
