"""Methods on a table of one's own."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import CleanPairs, JointPairClassifier, LabelingNoise, PairingNoise, compare
from noisypairs.experiments import COLUMNS
from noisypairs.experiments.learners import METHODS, OURS


@pytest.fixture(autouse=True)
def own_methods():
    """Forget what a test registers."""
    yield
    for name in set(METHODS) - OURS:
        del COLUMNS[name], METHODS[name]


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    return 4.0 * np.eye(3)[y] + rng.normal(size=(150, 3)), np.array(["ant", "bee", "cat"])[y]


def two_classes(blobs):
    X, y = blobs
    return X[y != "cat"], y[y != "cat"]


def by_cells(learners):
    """Logistic regression on the joint learner's idea of what the truth is: a made-up method."""
    problem = learners.problem
    return LogisticRegression().fit(problem.X, problem.X[:, 0] > 0).predict, {}


def test_a_frame_and_a_plot(blobs):
    joint = JointPairClassifier(LogisticRegression(), n_classes=2, class_order="rising")
    noises = [PairingNoise(0.1, 0.2), LabelingNoise(0.1, 0.1), CleanPairs()]
    methods = {"Joint": joint, "cells": by_cells, "pn": "pn", "Weighted": "weighted"}
    frame, plot = compare(*two_classes(blobs), methods, noises, [5, 20], repeats=2, random_state=3)
    assert len(frame) == 4 * 3 * 2 * 2
    assert list(frame)[:5] == ["method", "noise", "density", "seed", "accuracy"]
    assert set(frame.noise) == set(map(str, noises))
    assert set(frame.seed) == {3, 4}
    means = frame[frame.density == 20].groupby("method").accuracy.mean()
    assert means["pn"] > 0.95
    assert means["Joint"] > 0.95
    refused = frame[frame.refused != ""]
    assert set(refused.method) <= {"Weighted"}  # at a prior of about one half it may refuse
    assert [panel.get_title() for panel in plot.axes] == list(map(str, noises))
    assert len(plot.axes[0].get_legend_handles_labels()[1]) in (0, 4)


def test_more_than_two_classes(blobs):
    frame, _ = compare(*blobs, ["joint", "pn"], densities=[20], repeats=1)
    assert (frame.accuracy > 0.9).all()
    with pytest.raises(ValueError, match="'t-loss' is about two classes and y has 3: compare pn"):
        compare(*blobs, ["t-loss"])


def test_two_processes_and_a_folder_that_goes_on(blobs, tmp_path):
    X, y = two_classes(blobs)
    ran = []

    def counted(learners):
        ran.append(learners.spec)
        return by_cells(learners)

    one, _ = compare(X, y, {"cells": counted}, repeats=2, folder=tmp_path)
    assert len(ran) == 4
    again, _ = compare(X, y, {"cells": counted}, repeats=3, folder=tmp_path)
    assert len(ran) == 6
    assert again.merge(one)["accuracy"].tolist() == one["accuracy"].tolist()
    other, _ = compare(X, y, {"cells": by_cells}, repeats=2, n_jobs=2)
    assert other["accuracy"].tolist() == one["accuracy"].tolist()
    with pytest.raises(ValueError, match="has another checksum there"):
        compare(X + 1, y, {"cells": counted}, folder=tmp_path)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"methods": ["jont"]}, r"unknown method 'jont': did you mean 'joint'\?"),
        ({"methods": {"mine": 3}}, r"methods\['mine'\] is 3: expected a name, a learner"),
        ({"methods": {"joint": by_cells}}, "'joint' is a method of the package"),
        ({"noises": [0.2]}, "noises holds 0.2: expected noise models"),
    ],
)
def test_what_cannot_be_compared(blobs, given, says):
    with pytest.raises((ValueError, TypeError), match=says):
        compare(*two_classes(blobs), **given)
