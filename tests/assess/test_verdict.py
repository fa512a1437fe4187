"""The verdict of a fit: four kinds, each for its reason, the same wherever it is asked for."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from noisypairs import JointPairClassifier, PairingNoise, Pairs, sample_pairs
from noisypairs.assess.labels import Measured
from noisypairs.assess.verdict import Check, judged
from noisypairs.errors import UnpredictedAnswersWarning, collected_warnings
from noisypairs.estimation import Interval
from tests.joint.builders import data, joint

OWN = Interval(0.93, 0.9, 0.96, 0.9)
FINE = Check("answers", True, "predicted")


def labelled(right: float, n: int = 40, confused=(("a", "b", 9),)) -> Measured:
    share = right / n
    return Measured(n, n, Interval(share, share - 0.1, min(share + 0.1, 1.0), 0.9), confused, ())


def test_without_labels_a_model_is_at_best_consistent():
    found = judged([FINE], OWN, None, 0.6, 3, (1, 2))
    assert found.kind == "consistent"
    assert "the answers imply 3 groups" in found.reason.lower()
    assert "right class" not in found.reason
    assert "name 2 items" in found.next_step
    assert found.accuracy == OWN


def test_labels_that_agree_make_it_good_and_are_the_headline():
    found = judged([FINE], OWN, labelled(37), 0.6, 3, (1, 2))
    assert found.kind == "good"
    assert found.accuracy.estimate == pytest.approx(37 / 40)
    assert "Measured on 40 labelled items" in found.reason
    assert found.to_name == ()


def test_labels_that_contradict_name_the_confused_classes():
    found = judged([FINE], OWN, labelled(28), 0.5, 3)
    assert found.kind == "caution"
    assert "9 of “a” were called “b”" in found.reason
    assert found.accuracy.estimate == pytest.approx(0.7)


def test_few_labels_only_name():
    found = judged([FINE], OWN, Measured(4, 4, None, (), ()), 0.6, 2, (5,))
    assert found.kind == "consistent"
    assert "There are too few labels to measure" in found.reason


def test_a_failed_check_decides_and_more_checks_may_follow():
    weak = Check("scale", False, "the answers may follow a scale", "problem")
    found = judged([FINE, weak], OWN, None, 0.6, 3)
    assert (found.kind, found.failed) == ("problem", (weak,))
    assert found.reason.startswith("The answers may follow a scale.")
    # Where labels show that the model beats guessing, it is good for something.
    assert judged([weak], OWN, labelled(37), 0.6, 3).kind == "caution"
    more = judged([FINE], OWN, None, 0.6, 3).with_checks(
        [Check("slow", False, "it was slow"), FINE]
    )
    assert more.kind == "caution"
    assert len(more.checks) == 3  # the largest class among them; equal texts are said once


def test_no_better_than_the_largest_class_is_a_caution():
    assert judged([FINE], OWN, None, 0.92, 2).kind == "caution"


def test_the_verdict_of_a_fit_and_of_its_copy():
    X, y, pairs = data(n_items=200, n_pairs=2000)
    clf = joint(n_classes=2).fit(X, pairs)
    found = clf.verdict()
    assert found.kind == "consistent"
    assert found.accuracy.estimate > 0.9
    assert {"answers", "new items", "scale", "item effects", "stable", "coding"} <= {
        one.name for one in found.checks
    }
    assert len(found.to_name) == 20
    assert json.loads(json.dumps(found.to_dict()))["kind"] == "consistent"
    copy = pickle.loads(pickle.dumps(clf))
    with pytest.raises(ValueError, match="give the items and pairs of its fit"):
        copy.verdict()
    again = copy.verdict(X, pairs)
    assert again.kind == found.kind
    assert again.accuracy.estimate == pytest.approx(found.accuracy.estimate, abs=0.02)
    known = {int(item): int(y[item]) for item in found.to_name}
    measured = joint(n_classes=2).fit(X, pairs.with_labels(known)).verdict()
    assert measured.kind == "good"
    assert measured.is_measured


def test_swapped_answers_are_named():
    X, _, pairs = data(n_items=200, n_pairs=2000)
    swapped = Pairs(pairs.left, pairs.right, ~pairs.same, 200)
    with collected_warnings():
        found = joint().fit(X, swapped).verdict()
    assert found.kind in ("caution", "problem")
    assert "seem to be swapped" in found.reason.lower()


def test_features_that_predict_nothing_are_warned_of_once_and_doubted():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    pairs = sample_pairs(y, 3000, PairingNoise(0.1, 0.1), random_state=0)
    model = JointPairClassifier(class_order="rising", random_state=0)
    with pytest.warns(UnpredictedAnswersWarning) as heard:
        model.fit(rng.normal(size=(200, 3)), pairs)
    said = [one for one in heard if one.category is UnpredictedAnswersWarning]
    assert len(said) == 1
    assert said[0].filename == __file__
    assert model.verdict().kind == "problem"


def test_groups_that_hang_on_a_few_answers_are_doubted():
    """Only near neighbours are compared: which clusters are one class hangs on a few answers."""
    rng = np.random.default_rng(3)
    corner = rng.integers(4, size=300)
    X = 4.0 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[corner] + rng.normal(size=(300, 2))
    y = np.array([0, 1, 1, 0])[corner]
    near = NearestNeighbors(n_neighbors=7).fit(X).kneighbors(X, return_distance=False)
    left, right = np.repeat(np.arange(300), 6), near[:, 1:].ravel()
    same = (y[left] == y[right]) ^ (rng.random(len(left)) < 0.1)
    with collected_warnings():
        found = joint(n_classes=2).fit(X, Pairs(left, right, same, 300)).verdict()
    (check,) = (one for one in found.checks if one.name == "stable")
    assert not check.passed
    assert "the groups depend on a few answers" in check.text
