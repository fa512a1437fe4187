"""Kinds and their names: by hand on a learner of six items, and on a simulated crowd."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator

from noisypairs import SearchOptions, datasets
from noisypairs.assess.kinds import KindNames, kind_numbers
from noisypairs.errors import ClassNamesWarning
from noisypairs.estimators.inner.classifiers import GaussianClasses
from tests.joint.builders import joint

BELIEFS = np.array(
    [[0.9, 0.1, 0.0], [0.6, 0.4, 0.0], [0.1, 0.8, 0.1], [0.0, 0.55, 0.45], [0, 0, 1], [0, 0.2, 0.8]]
)
FEATURES = np.array([[0.5, 0.5, 0.0], [0.9, 0.1, 0], [0.2, 0.7, 0.1], [0, 0.9, 0.1], [0, 0, 1]])
FEATURES = np.vstack([FEATURES, [0.0, 0.3, 0.7]])


class Learner(KindNames, BaseEstimator):
    """What a fit leaves behind."""

    def __init__(self, beliefs=BELIEFS, means=((0.0,), (0.5,), (5.0,))):
        self.item_kinds_, self.oof_kinds_ = beliefs, FEATURES
        if beliefs is not None:
            self.kind_class_ = np.arange(beliefs.shape[1])
            self.kind_shares_ = beliefs.mean(axis=0)
        self.kind_names_, self.kind_means_ = {}, None if means is None else np.array(means)

    def fit(self):
        """For scikit-learn's check."""


def test_numbers_of_kinds():
    assert kind_numbers([4, 8, 4, 2], 3) == [4, 8]
    assert kind_numbers(np.int64(3), 0) == [3]
    for wrong, labels in ((1, 0), ([2, 3], 5), ([], 0)):
        with pytest.raises(ValueError, match=r"must be .* or more"):
            kind_numbers(wrong, labels)
    with pytest.raises(ValueError, match="n_kinds='many': expected an int, several, or 'auto'"):
        kind_numbers("many", 0)


def test_items_to_look_at():
    first, second, third = Learner().kinds(2)
    assert first.typical == (1, 0)  # .6 · .9 against .9 · .5: answers and features agree
    assert second.typical == (2, 3)
    assert third.typical == (4, 5)
    assert first.doubtful == (1, 0)
    assert second.doubtful == (3, 2)
    assert [kind.share for kind in (first, second, third)] == pytest.approx(BELIEFS.mean(axis=0))
    assert first.name is None


def test_names_add_kinds_up():
    learner = Learner().name_kinds({0: "dog", 1: "cat", 2: "dog"})
    assert learner.classes_.tolist() == ["cat", "dog"]
    assert_allclose(learner.item_proba_, np.c_[BELIEFS[:, 1], BELIEFS[:, 0] + BELIEFS[:, 2]])
    assert_allclose(learner.oof_proba_[:, 0], FEATURES[:, 1])
    assert [kind.name for kind in learner.kinds()] == ["dog", "cat", "dog"]
    learner.name_kinds({0: 7, 1: 7, 2: 3})  # and again, otherwise
    assert learner.classes_.tolist() == [3, 7]


def test_without_names_kinds_are_classes():
    learner = Learner().name_kinds({})
    assert learner.classes_.tolist() == [0, 1, 2]
    assert_array_equal(learner.item_proba_, BELIEFS)


def test_kinds_without_a_name_stay_and_are_told():
    with pytest.warns(ClassNamesWarning, match="no name is given for kind 0, 2"):
        learner = Learner().name_kinds({1: 5})
    assert learner.classes_.tolist() == ["5", "group 1", "group 3"]


def test_kinds_that_look_alike_are_joined():
    learner = Learner().join_kinds(2)
    assert len(learner.classes_) == 2
    assert learner.kind_class_[0] == learner.kind_class_[1] != learner.kind_class_[2]
    # Ward's rule: joining (a, b) costs n_a n_b / (n_a + n_b) · distance². A crowded kind is dear.
    crowded = np.repeat(np.eye(3), [40, 40, 1], axis=0)
    means = [[0.0], [1.0], [3.0]]
    learner = Learner(crowded, means)
    learner.oof_kinds_ = crowded
    learner.join_kinds(2)
    assert 40 * 40 / 80 * 1 > 40 / 41 * 2**2
    assert learner.kind_class_[1] == learner.kind_class_[2] != learner.kind_class_[0]


def test_what_is_refused():
    with pytest.raises(ValueError, match="there is no kind 3: kinds are 0 to 2"):
        Learner().name_kinds({3: "dog"})
    with pytest.raises(ValueError, match="n_classes=4: expected 2 to 3, the kinds"):
        Learner().join_kinds(4)
    with pytest.raises(ValueError, match="only where the features are numbers"):
        Learner(means=None).join_kinds(2)


def test_classes_are_named_as_kinds_are():
    learner = Learner(beliefs=None)
    learner.classes_, learner.prior_, learner.item_proba_ = np.arange(3), np.ones(3) / 3, BELIEFS
    learner.oof_proba_ = FEATURES
    assert [kind.name for kind in learner.kinds(1)] == [None] * 3
    learner.name_kinds({0: "dog", 1: "cat", 2: "dog"})
    assert learner.classes_.tolist() == ["cat", "dog"]
    assert learner.prior_ == pytest.approx(2 / 3)


@pytest.mark.filterwarnings("ignore::noisypairs.errors.ClassNamesWarning")
def test_kinds_that_people_confuse_get_their_class_by_name():
    """Two classes of two kinds, a couple of which people confuse: classes follow the people."""
    crowd = datasets.simulated_crowd(
        160,
        2,
        10,
        30,
        0.0,
        similar_flip=0.1,
        dissimilar_flip=0.1,
        spread=0.0,
        separation=7.0,
        kinds_per_class=2,
        n_confused=1,
        random_state=0,
    )
    model = joint(
        GaussianClasses(),
        class_order=None,
        answer_model=["clarity", "pair error"],
        search=SearchOptions(n_kinds=4),
    )
    model.fit(crowd.data, crowd.pairs)
    names = {kind.number: int(crowd.target[kind.typical[0]]) for kind in model.kinds(1)}
    model.name_kinds(names)
    assert model.classes_.tolist() == [0, 1]
    assert (model.predict(crowd.data) == crowd.target).mean() > 0.98
    found = model.item_kinds_.argmax(axis=1)
    order = [np.bincount(found[crowd.kind == kind], minlength=4).argmax() for kind in range(4)]
    assert sorted(order) == [0, 1, 2, 3]
    S = model.noise_.same_probability(4)[np.ix_(order, order)]
    assert_allclose(S, np.where(crowd.kinds_alike, 0.9, 0.1), atol=0.06)
