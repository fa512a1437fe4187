"""The joint learner, given nothing but pairs: what it learns, chooses, names and refuses."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from noisypairs import (
    ClassNamesWarning,
    JointPairClassifier,
    LabelingNoise,
    NotIdentifiable,
    NotIdentifiableWarning,
    PairingNoise,
    Pairs,
    SearchOptions,
    WeightedPairClassifier,
    datasets,
)
from noisypairs.estimators.inner.classifiers import default_candidates
from noisypairs.metrics import accuracy_up_to_names
from noisypairs.noise import PARTS, MatrixNoise
from tests.joint.builders import crowd, data, joint, one_label_each, rings

# --- what it learns ------------------------------------------------------------------------------


def test_balanced_classes_as_well_as_clean_labels():
    """π = ½, 30 % of the answers wrong, 2.5 pairs per item: within a point of the true labels."""
    noise = PairingNoise(0.3, 0.3)
    X, y, pairs = data(0.5, 2000, 5000, noise)
    new, truth = datasets.load("gaussians", n_samples=10_000, prior=0.5, random_state=99)
    clf = JointPairClassifier(n_classes=2, class_order="falling", random_state=0).fit(X, pairs)
    clean = clone(clf.estimator_).fit(X, y).score(new, truth)
    assert accuracy_up_to_names(truth, clf.predict(new)) > clean - 0.01
    assert clf.noise_.similar_flip == pytest.approx(0.3, abs=0.03)
    assert clf.noise_.dissimilar_flip == pytest.approx(0.3, abs=0.03)
    with pytest.raises(NotIdentifiable):  # where item by item there is nothing to see
        WeightedPairClassifier(noise=noise, prior=0.5).fit(X, pairs)


def test_fitted_attributes():
    X, y, pairs = data()
    clf = joint().fit(X, pairs)
    assert clf.item_proba_.shape == clf.oof_proba_.shape == (300, 2)
    assert_allclose(clf.item_proba_.sum(axis=1), 1)
    assert np.mean(clf.item_proba_.argmax(axis=1) == y) > 0.99
    assert clf.prior_ == pytest.approx(y.mean(), abs=0.02)
    assert clf.noise_.similar_flip == pytest.approx(0.1, abs=0.04)
    assert clf.noise_.dissimilar_flip == pytest.approx(0.2, abs=0.04)
    assert clf.wrong_proba_.shape == (3000,)
    assert clf.annotator_noise_ is None
    assert clf.candidates_ == {}  # one estimator leaves nothing to choose
    assert len(clf.history_) == clf.n_iter_
    assert clf.spec_.n_classes == 2
    assert clf.held_out_gain_.exceeds(10)  # the answers are plain
    assert clf.calibration_.shape == (1 + 2,)
    assert clf.answer_model_.n_classes == 2
    assert clf.converged_
    assert clf.history_[-1]["belief_change"] < 5e-3


def test_the_number_of_classes_is_chosen():
    three = crowd()
    with pytest.warns(ClassNamesWarning, match="0 to 2, in rising order of size"):
        clf = joint(n_classes=[4, 2, 3], class_order=None).fit(three.data, three.pairs)
    assert clf.n_classes_ == 3
    assert clf.class_numbers_[3] >= max(clf.class_numbers_.values()) - 0.01
    assert accuracy_up_to_names(three.target, clf.predict(three.data)) > 0.97
    assert clf.prior_.shape == (3,)
    assert (np.diff(clf.prior_) >= 0).all()
    X, _, pairs = data()
    assert joint(n_classes=(2, 3)).fit(X, pairs).n_classes_ == 2


def test_noise_is_named_by_what_the_answers_show():
    labels = LabelingNoise(0.05, 0.3)
    odd = MatrixNoise(((0.95, 0.1), (0.1, 0.6)))  # pairs of class 1 puzzle people: no flips do that
    for noise in (labels, odd):
        X, y, pairs = data(0.4, 400, 12_000, noise)
        clf = joint(noise="auto").fit(X, pairs)
        assert clf.noise_model_ == clf.spec_.family == "free"
        assert_allclose(clf.noise_.same_probability(), noise.same_probability(), atol=0.03)
        assert clf.score(X, y) > 0.99
    X, y, pairs = data(0.4, 400, 12_000, PairingNoise(0.05, 0.3))
    clf = joint(noise="auto").fit(X, pairs)
    assert clf.noise_model_ == "pairing"
    assert isinstance(clf.noise_, PairingNoise)


@pytest.mark.parametrize("name", ["pairing", "labeling", "free"])
def test_noise_model_by_name(name):
    X, y, pairs = data(n_items=200, n_pairs=2000)
    clf = joint(noise=name).fit(X, pairs)
    assert clf.noise_model_ == name
    assert clf.answer_model_.family == name
    assert clf.score(X, y) > 0.97


@pytest.mark.parametrize("noise", [LabelingNoise(0.05, 0.3), LabelingNoise(0.3, 0.05)])
def test_known_unequal_labeling_noise_names_the_classes(noise):
    X, y, pairs = data(0.4, 300, 8000, noise)
    clf = joint(noise=noise, class_order=None).fit(X, pairs)  # no warning: the noise is lopsided
    assert clf.noise_ is noise
    assert clf.noise_model_ == "given"
    assert clf.names_known_
    assert clf.score(X, y) > 0.99


# --- class names ---------------------------------------------------------------------------------


def test_labels_name_the_classes_and_are_certain_where_that_is_asked_for():
    X, y, pairs = data(n_pairs=4000)
    names = np.array(["no", "yes"])
    labels = {int(item): names[y[item]] for item in range(6)}
    labels |= one_label_each(y, names)
    liar = int(np.flatnonzero(y == 1)[9])  # labelled against all its answers
    labels[liar] = "no"
    clf = joint(class_order=None).fit(X, pairs.with_labels(labels))
    assert clf.classes_.tolist() == ["no", "yes"]
    assert clf.score(X, names[y]) > 0.97
    assert names[clf.item_proba_[liar].argmax()] == "yes"
    certain = joint(class_order=None, search=SearchOptions(label_noise=0.0))
    certain.fit(X, pairs.with_labels(labels))
    for item, name in labels.items():
        assert_array_equal(certain.item_proba_[item], names == name)


def test_one_label_per_class_names_three_classes():
    three = crowd()
    names = np.array(["pear", "apple", "quince"])
    pairs = three.pairs.with_labels(one_label_each(three.target, names))
    clf = joint(n_classes=3, class_order=None).fit(three.data, pairs)
    assert clf.classes_.tolist() == ["apple", "pear", "quince"]
    assert clf.score(three.data, names[three.target]) > 0.97
    assert joint(n_classes=[2, 3]).fit(three.data, pairs).n_classes_ == 3  # two leave no room
    with pytest.raises(ValueError, match=r"name 3 classes .* n_classes=2"):
        joint().fit(three.data, pairs)


def test_the_order_by_size_names_the_classes():
    X, y, pairs = data(0.3)
    falling, rising = (joint(class_order=order).fit(X, pairs) for order in ("falling", "rising"))
    assert falling.score(X, y) > 0.97
    assert_array_equal(rising.predict(X), 1 - falling.predict(X))
    assert_allclose(rising.item_proba_, falling.item_proba_[:, ::-1], atol=1e-6)
    named = joint(class_order=["rare", "common"]).fit(X, pairs)
    assert named.classes_.tolist() == ["common", "rare"]
    assert named.score(X, np.array(["common", "rare"])[y]) > 0.97
    with pytest.raises(ValueError, match="names 3 classes, and the model has 2"):
        joint(class_order=["a", "b", "c"]).fit(X, pairs)


def test_labeling_rates_follow_the_names():
    X, y, pairs = data(0.4, 300, 8000, LabelingNoise(0.05, 0.3))
    clf = joint(noise="labeling", class_order="rising").fit(X, pairs)
    assert clf.score(X, 1 - y) > 0.99
    assert_allclose(clf.noise_.flip_matrix(), [[0.95, 0.05], [0.3, 0.7]], atol=0.04)


# --- which classifier ----------------------------------------------------------------------------


def test_the_classifier_that_explains_the_answers_best_wins():
    X, y, pairs = rings()
    straight = LogisticRegression()
    curved = make_pipeline(PolynomialFeatures(2), LogisticRegression())
    clf = JointPairClassifier(
        [straight, curved], n_classes=2, class_order="falling", random_state=0
    )
    clf.fit(X, pairs)
    assert list(clf.candidates_) == ["0: LogisticRegression", "1: Pipeline"]
    assert clf.candidates_["1: Pipeline"] > clf.candidates_["0: LogisticRegression"] + 10
    assert clf.estimator_.steps[0][0] == "polynomialfeatures"
    assert clf.score(X, y) > 0.97
    assert not hasattr(straight, "coef_")


def test_the_default_chooses_among_several():
    X, y, pairs = rings()
    clf = JointPairClassifier(n_classes=2, class_order="falling", random_state=0).fit(X, pairs)
    assert set(clf.candidates_) >= set(default_candidates(X))
    assert clf.candidates_["kernel, C=15"] > clf.candidates_["linear"] + 10
    assert clf.score(X, y) > 0.97


@pytest.mark.parametrize(
    ("inner", "says"),
    [
        (Ridge(), "Ridge is no classifier"),
        (KMeans(2), "KMeans is no classifier"),
        (LogisticRegression, "estimator is the class LogisticRegression: expected"),
        ([LogisticRegression(), 3], "estimator is int: expected a classifier"),
    ],
    ids=["regressor", "clustering", "a class", "one of two"],
)
def test_classifiers_that_cannot_serve(inner, says):
    X, _, pairs = data(n_items=100, n_pairs=1000)
    with pytest.raises(TypeError, match=says):
        joint(inner).fit(X, pairs)


# --- what it refuses, and what it warns of -------------------------------------------------------


@pytest.mark.parametrize("answer", [True, False])
@pytest.mark.parametrize("parameters", [{}, {"noise": "free"}])
def test_answers_all_alike_say_nothing(answer, parameters):
    X, _, pairs = data(n_items=150, n_pairs=600)
    alike = Pairs(pairs.left, pairs.right, np.full(600, answer), n_items=150)
    with pytest.raises(NotIdentifiable, match=r"all 600 answers are .(same|different)"):
        joint(**parameters).fit(X, alike)


def outcome(X, pairs):
    """What fit thinks of the pairs, and its words; warnings are errors, so one ends it as well."""
    try:
        joint().fit(X, pairs)
    except (NotIdentifiable, NotIdentifiableWarning) as reason:
        return type(reason), str(reason)
    return None, ""


def test_random_answers_are_never_taken_for_evidence():
    """Refused mostly; where permuted answers would seldom do as well they are warned of instead."""
    X, _, pairs = data(n_items=100, n_pairs=400)
    assert outcome(X, pairs) == (None, "")
    found = []
    for seed in range(3):
        coin = np.random.default_rng(seed).random(400) < 0.5
        found.append(outcome(X, Pairs(pairs.left, pairs.right, coin, n_items=100)))
    assert all("better than chance" in words for _, words in found)
    assert [kind for kind, _ in found].count(NotIdentifiable) >= 2


def test_one_round_is_not_enough_where_it_moves():
    X, _, pairs = data(n_pairs=1000)
    with pytest.warns(ConvergenceWarning, match="after 1 rounds.*more rounds with") as caught:
        clf = joint(search=SearchOptions(max_iter=1, tol=1e-9)).fit(X, pairs)
    assert caught[0].filename == __file__  # it points at the call of fit
    assert not clf.converged_
    assert clf.n_iter_ == 1
    more = joint(search=SearchOptions(max_iter=50)).fit(X, pairs)
    assert more.converged_  # and says nothing: warnings are errors


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"noise": "labelling"}, r"noise='labelling': .*labeling"),
        ({"class_order": "larger"}, "class_order='larger': expected 'rising' or 'falling'"),
        ({"answer_model": "people"}, "answer_model='people': expected 'auto' or a list"),
        ({"answer_model": ["poeple"]}, "did you mean 'people'"),
        ({"n_classes": 1}, "n_classes=1: expected a whole number of at least 2"),
        ({"n_classes": [1, 2]}, r"n_classes=\[1, 2\]"),
    ],
)
def test_impossible_parameters(parameters, says):
    X, _, pairs = data(n_items=100, n_pairs=500)
    with pytest.raises(ValueError, match=says):
        joint(**parameters).fit(X, pairs)


@pytest.mark.parametrize("annotators", [False, True])
def test_of_many_pairs_some_choose_and_all_are_learnt_from(monkeypatch, annotators):
    X, _, pairs = data(n_pairs=4000)
    who = np.arange(pairs.n_pairs) % 3
    pairs = Pairs(pairs.left, pairs.right, pairs.same, pairs.n_items, annotator=who)
    parts = [name for name in PARTS if annotators or name != "people"]
    settings = {"n_classes": 2, "answer_model": parts, "class_order": "falling", "random_state": 0}
    whole = JointPairClassifier(LogisticRegression(), **settings).fit(X, pairs)
    monkeypatch.setattr("noisypairs.classifier.SEARCH_PAIRS", 1500)
    chosen_on_some = JointPairClassifier(LogisticRegression(), **settings).fit(X, pairs)
    assert chosen_on_some.wrong_proba_.shape == (4000,)
    assert_allclose(chosen_on_some.wrong_proba_, whole.wrong_proba_, atol=0.05)
    assert chosen_on_some.noise_.similar_flip == pytest.approx(whole.noise_.similar_flip, abs=0.01)
    assert_array_equal(chosen_on_some.predict(X), whole.predict(X))


def test_no_rounds_at_all_are_refused():
    X, _, pairs = data()
    with pytest.raises(ValueError, match="max_iter=0: expected at least one round"):
        joint(search=SearchOptions(max_iter=0)).fit(X, pairs)


@pytest.mark.filterwarnings("ignore::noisypairs.UnpredictedAnswersWarning")
@pytest.mark.parametrize("features", ["none", "weak"])
def test_five_classes_are_found_beside_people_who_answer_badly(features):
    """A coin, always the same answer, always the other way: ten honest people of 14 are enough."""
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=200)
    left = rng.integers(0, 200, 2400)
    right = (left + rng.integers(1, 200, 2400)) % 200
    for k in np.flatnonzero(rng.random(2400) < 0.35):  # as many "same" as people like to see
        right[k] = rng.choice(np.setdiff1d(np.flatnonzero(y == y[left[k]]), left[k]))
    who, truly = rng.integers(0, 14, 2400), y[left] == y[right]
    said = truly ^ (rng.random(2400) < 0.12)
    odd = {3: rng.random(2400) < 0.5, 7: True, 9: False, 12: ~truly}
    for person, answer in odd.items():
        said = np.where(who == person, answer, said)
    X = None if features == "none" else rng.normal(size=(200, 8))
    pairs = Pairs(left, right, said, 200, annotator=who)
    clf = JointPairClassifier(n_classes=5, random_state=0, class_order="falling").fit(X, pairs)
    assert accuracy_up_to_names(y, clf.item_proba_.argmax(axis=1)) > 0.97
