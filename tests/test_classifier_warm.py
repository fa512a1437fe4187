"""Fits that go on from the last one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import PairingNoise, Pairs, sample_pairs
from noisypairs.errors import ClassNamesWarning
from noisypairs.joint.choices import SEARCH_AGAIN
from noisypairs.metrics import accuracy_up_to_names
from tests.joint.builders import data, joint


def grown(pairs, more):
    return pairs.with_answers(more.left, more.right, more.same)


@pytest.fixture(scope="module")
def loop():
    """Return items, classes, few answers, more of them, and a warm learner fitted to both."""
    X, y, pairs = data(n_items=200, n_pairs=600)
    more = grown(pairs, sample_pairs(y, 200, PairingNoise(0.1, 0.2), random_state=9))
    model = joint(warm_start=True).fit(X, pairs)
    first = model.item_proba_, model.start_
    return X, y, pairs, more, model.fit(X, more), first


def test_a_warm_fit_goes_on_and_is_as_good(loop):
    X, _, pairs, more, model, first = loop
    assert first[1] != "last fit"
    assert model.start_ == "last fit"
    assert model.n_searched_ == pairs.n_pairs
    cold = joint().fit(X, more)
    assert np.abs(model.item_proba_ - cold.item_proba_).mean() < 0.02
    S = model.noise_.same_probability()
    np.testing.assert_allclose(S, cold.noise_.same_probability(), atol=0.05)
    assert len(model.wrong_proba_) == more.n_pairs


def test_without_warm_start_a_second_fit_is_a_first_one(loop):
    X, _, pairs, more, _, _ = loop
    model = joint().fit(X, pairs)
    assert model.fit(X, more).start_ != "last fit"
    np.testing.assert_array_equal(model.item_proba_, joint().fit(X, more).item_proba_)


def test_everything_is_searched_anew_once_answers_have_grown(loop):
    X, y, pairs, _, _, _ = loop
    model = joint(warm_start=True).fit(X, pairs)
    extra = int(SEARCH_AGAIN * pairs.n_pairs) + 1 - pairs.n_pairs
    many = grown(pairs, sample_pairs(y, extra, PairingNoise(0.1, 0.2), random_state=3))
    assert model.fit(X, many).n_searched_ == many.n_pairs
    assert model.fit(X, many).start_ == "last fit"


def test_items_may_be_added_behind_and_not_taken_away(loop):
    X, y, pairs, _, _, _ = loop
    part = pairs[np.arange(150)]
    model = joint(warm_start=True).fit(X[:150], part)
    whole = Pairs(part.left, part.right, part.same, n_items=200)
    assert model.fit(X, whole).start_ == "last fit"
    assert model.item_proba_.shape == (200, 2)
    assert accuracy_up_to_names(y, model.item_proba_.argmax(axis=1)) > 0.9
    assert model.fit(X[:150], part).start_ != "last fit"


def test_groups_keep_their_numbers_and_labels_name_them_later(loop):
    X, y, pairs, more, _, _ = loop
    model = joint(class_order=None, warm_start=True)
    with pytest.warns(ClassNamesWarning):
        model.fit(X, pairs)
    swapped = model.item_proba_[:, ::-1].copy()
    model.item_proba_ = swapped  # as if the groups had been numbered the other way round
    model.fit(X, more)
    assert (swapped.argmax(axis=1) == model.item_proba_.argmax(axis=1)).mean() > 0.95
    labels = {int(np.flatnonzero(y == k)[0]): f"class {k}" for k in (0, 1)}
    model.fit(X, more.with_labels(labels))
    assert model.classes_.tolist() == ["class 0", "class 1"]
    assert (model.item_proba_.argmax(axis=1) == y).mean() > 0.9


def test_other_noise_families_and_given_noise_go_on_too(loop):
    X, y, pairs, more, _, _ = loop
    for options in ({"noise": "free"}, {"noise": PairingNoise(0.1, 0.2)}):
        model = joint(warm_start=True, **options).fit(X, pairs).fit(X, more)
        assert model.start_ == "last fit"
        assert accuracy_up_to_names(y, model.item_proba_.argmax(axis=1)) > 0.95


def test_another_number_of_classes_is_searched_for(loop):
    X, _, pairs, more, _, _ = loop
    model = joint(warm_start=True).fit(X, pairs)
    model.set_params(n_classes=3, class_order=None)
    with pytest.warns(ClassNamesWarning):
        model.fit(X, more)
    assert model.item_proba_.shape[1] == 3
    assert model.start_ != "last fit"


def test_what_was_changed_since_is_heeded(loop):
    X, _, pairs, more, _, _ = loop
    model = joint(warm_start=True, noise=PairingNoise(0.1, 0.2)).fit(X, pairs)
    model.set_params(noise="free", estimator=LogisticRegression(C=0.01))
    model.fit(X, more)
    assert (model.start_, model.noise_model_) == ("last fit", "free")
    assert model.estimator_.C == 0.01
