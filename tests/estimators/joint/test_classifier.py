"""The joint learner: nothing told but pairs; what it chooses, names, refuses, and cannot undo."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC

from noisypairs import (
    ClassNamesWarning,
    JointPairClassifier,
    LabelingNoise,
    NotIdentifiable,
    NotIdentifiableWarning,
    PairingNoise,
    Pairs,
    WeightedPairClassifier,
    datasets,
    sample_pairs,
)
from noisypairs.estimators.inner.defaults import default_candidates
from noisypairs.estimators.joint import selection
from noisypairs.estimators.joint.problem import reordered
from noisypairs.inference import em
from noisypairs.inference.graph import PairGraph
from noisypairs.metrics import accuracy_up_to_names
from noisypairs.noise import MatrixNoise, fixed

NOISE = PairingNoise(0.1, 0.2)


def data(prior=0.3, n_items=300, n_pairs=3000, noise=NOISE, seed=0):
    X, y = datasets.load("gaussians", n_samples=n_items, prior=prior, random_state=seed)
    return X, y, sample_pairs(y, n_pairs, noise, random_state=seed + 1)


def rings(n_items=300, n_pairs=1200, seed=0):
    """A disc inside a ring: no straight line divides them."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_items) < 0.4).astype(int)
    radius = np.where(y == 1, 2.5, 1.0) + 0.2 * rng.normal(size=n_items)
    angle = rng.uniform(0, 2 * np.pi, n_items)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X, y, sample_pairs(y, n_pairs, PairingNoise(0.2, 0.2), random_state=seed)


def crowd(**changed):
    settings = {"n_items": 240, "n_annotators": 8, "spammer_share": 0.0, "separation": 6.0}
    settings |= {"similar_flip": 0.2, "dissimilar_flip": 0.2, "random_state": 0}
    return datasets.simulated_crowd(**(settings | changed))


def joint(estimator=None, **parameters):
    """The learner with a fast classifier inside, class 1 the minority, and a seed."""
    defaults = {"positive": "minority", "random_state": 0}
    return JointPairClassifier(estimator or LogisticRegression(), **(defaults | parameters))


def one_label_each(y, names):
    return {int(np.flatnonzero(y == k)[0]): name for k, name in enumerate(names)}


# --- what it learns ------------------------------------------------------------------------------


def test_balanced_classes_as_well_as_clean_labels():
    """π = ½, 30 % of the answers wrong, 2.5 pairs per item: within a point of the true labels."""
    noise = PairingNoise(0.3, 0.3)
    X, y, pairs = data(0.5, 2000, 5000, noise)
    new, truth = datasets.load("gaussians", n_samples=10_000, prior=0.5, random_state=99)
    clf = JointPairClassifier(positive="minority", random_state=0).fit(X, pairs)
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
    assert f"{clf.start_}, 2 classes" in clf.starts_
    assert clf.starts_[f"{clf.start_}, 2 classes"] == max(clf.starts_.values())
    stages = [row["stage"] for row in clf.history_]
    assert stages == sorted(stages, reverse=True)  # "start" rows, then "classifier" rows
    assert stages.count("classifier") == clf.n_iter_
    assert clf.converged_
    assert clf.history_[-1]["belief_change"] < clf.tol


def test_the_number_of_classes_is_chosen():
    three = crowd()
    with pytest.warns(ClassNamesWarning, match="0 to 2, in rising order of size"):
        clf = joint(n_classes=[4, 2, 3], positive=None).fit(three.data, three.pairs)
    assert clf.n_classes_ == 3
    assert {name.rsplit(", ")[1] for name in clf.starts_} == {f"{k} classes" for k in (2, 3, 4)}
    assert accuracy_up_to_names(three.target, clf.predict(three.data)) > 0.97
    assert clf.prior_.shape == (3,)
    assert (np.diff(clf.prior_) >= 0).all()
    X, _, pairs = data()
    assert joint(n_classes=(2, 3)).fit(X, pairs).n_classes_ == 2


def test_noise_is_named_by_what_the_answers_show():
    X, y, pairs = data(0.4, 600, 20_000, LabelingNoise(0.05, 0.3))
    clf = joint(noise_model="auto").fit(X, pairs)
    assert clf.noise_model_ == "labeling"
    assert isinstance(clf.noise_, LabelingNoise)
    assert_allclose(clf.noise_.flip_matrix(), [[0.7, 0.3], [0.05, 0.95]], atol=0.03)
    assert clf.score(X, y) > 0.99
    X, y, pairs = data(0.4, 400, 12_000, PairingNoise(0.05, 0.3))
    clf = joint(noise_model="auto").fit(X, pairs)
    assert clf.noise_model_ == "pairing"
    assert list(clf.noise_models_) == ["pairing", "labeling", "free"]
    odd = MatrixNoise(((0.95, 0.1), (0.1, 0.6)))  # pairs of class 1 puzzle people: neither story
    X, y, pairs = data(0.4, 400, 12_000, odd)
    clf = joint(noise_model="auto").fit(X, pairs)
    assert clf.noise_model_ == "free"
    assert_allclose(clf.noise_.same_probability(), odd.same_probability(), atol=0.03)


@pytest.mark.parametrize("name", ["pairing", "labeling", "free"])
def test_noise_model_by_name(name):
    X, y, pairs = data(n_items=200, n_pairs=2000)
    clf = joint(noise_model=name).fit(X, pairs)
    assert clf.noise_model_ == name
    assert list(clf.noise_models_) == [name]
    assert clf.score(X, y) > 0.97


@pytest.mark.parametrize("noise", [LabelingNoise(0.05, 0.3), LabelingNoise(0.3, 0.05)])
def test_known_unequal_labeling_noise_names_the_classes(noise):
    X, y, pairs = data(0.4, 300, 8000, noise)
    clf = joint(noise=noise, positive=None).fit(X, pairs)  # no warning: the noise is lopsided
    assert clf.noise_ is noise
    assert clf.noise_model_ == "given"
    assert clf.score(X, y) > 0.99


# --- class names ---------------------------------------------------------------------------------


def test_labels_name_the_classes_and_are_believed():
    X, y, pairs = data(n_pairs=4000)
    names = np.array(["no", "yes"])
    labels = {int(item): names[y[item]] for item in range(6)}
    labels |= one_label_each(y, names)
    liar = int(np.flatnonzero(y == 1)[9])  # labelled against all its answers
    labels[liar] = "no"
    clf = joint(positive=None).fit(X, pairs.with_labels(labels))
    assert clf.classes_.tolist() == ["no", "yes"]
    assert clf.score(X, names[y]) > 0.97
    for item, name in labels.items():
        assert_array_equal(clf.item_proba_[item], names == name)


def test_one_label_per_class_names_three_classes():
    three = crowd()
    names = np.array(["pear", "apple", "quince"])
    pairs = three.pairs.with_labels(one_label_each(three.target, names))
    clf = joint(n_classes=3, positive=None).fit(three.data, pairs)
    assert clf.classes_.tolist() == ["apple", "pear", "quince"]
    assert clf.score(three.data, names[three.target]) > 0.97
    with pytest.raises(ValueError, match=r"n_classes=\[2, 3\] leaves .* pass n_classes=3"):
        joint(n_classes=[2, 3]).fit(three.data, pairs)
    with pytest.raises(ValueError, match=r"name 3 classes .* the model has 4"):
        joint(n_classes=4).fit(three.data, pairs)


@pytest.mark.parametrize("prior", [0.3, 0.8])
def test_prior_names_the_classes(prior):
    X, y, pairs = data(0.3)
    truth = y if prior < 0.5 else 1 - y
    clf = joint(prior=prior, positive=None).fit(X, pairs)
    assert clf.score(X, truth) > 0.97
    assert clf.prior_ == pytest.approx(truth.mean(), abs=0.02)  # estimated, not copied


def test_positive_names_the_classes():
    X, y, pairs = data(0.3)
    minority, majority = (joint(positive=p).fit(X, pairs) for p in ("minority", "majority"))
    assert minority.score(X, y) > 0.97
    assert_array_equal(majority.predict(X), 1 - minority.predict(X))
    assert_allclose(majority.item_proba_, minority.item_proba_[:, ::-1], atol=1e-6)
    three = crowd()
    with pytest.raises(ValueError, match="one of two classes"):
        joint(n_classes=3).fit(three.data, three.pairs)


def test_labeling_rates_follow_the_names():
    X, y, pairs = data(0.4, 300, 8000, LabelingNoise(0.05, 0.3))
    clf = joint(noise_model="labeling", positive="majority").fit(X, pairs)
    assert clf.score(X, 1 - y) > 0.99
    assert_allclose(clf.noise_.flip_matrix(), [[0.95, 0.05], [0.3, 0.7]], atol=0.04)


@pytest.mark.parametrize(
    "noise",
    [NOISE, LabelingNoise(0.05, 0.3), MatrixNoise(((0.9, 0.3), (0.3, 0.6)))],
    ids=["pairing", "labeling", "free"],
)
def test_another_order_of_classes_is_the_same_inference(noise):
    _, y, pairs = data(n_items=50, n_pairs=300)
    graph, guess = PairGraph.from_pairs(pairs), 0.3 + 0.4 * np.eye(2)[y]
    e_step = em.GraphEStep(graph)
    found = em.infer(e_step, em.class_shares, guess, noise, fixed(noise), max_iter=2, tol=0)
    turned = reordered(found, np.array([1, 0]))
    assert_array_equal(turned.beliefs.item, found.beliefs.item[:, ::-1])
    S = noise.same_probability()
    assert_allclose(turned.noise.same_probability(), S[::-1, ::-1], rtol=0, atol=1e-12)
    back = reordered(turned, np.array([1, 0]))
    assert_allclose(back.noise.same_probability(), S, rtol=0, atol=1e-12)


# --- which classifier ----------------------------------------------------------------------------


def test_the_classifier_that_explains_the_answers_best_wins():
    X, y, pairs = rings()
    straight = LogisticRegression()
    curved = make_pipeline(PolynomialFeatures(2), LogisticRegression())
    clf = JointPairClassifier([straight, curved], positive="minority", random_state=0)
    clf.fit(X, pairs)
    assert list(clf.candidates_) == ["0: LogisticRegression", "1: Pipeline"]
    assert clf.candidates_["1: Pipeline"] > clf.candidates_["0: LogisticRegression"] + 10
    assert clf.estimator_.steps[0][0] == "polynomialfeatures"
    assert clf.score(X, y) > 0.97
    assert not hasattr(straight, "coef_")


def test_the_default_chooses_among_several():
    X, y, pairs = rings()
    clf = JointPairClassifier(positive="minority", random_state=0).fit(X, pairs)
    assert list(clf.candidates_) == list(default_candidates(X))
    assert clf.candidates_["kernel"] > clf.candidates_["linear"] + 10
    assert clf.score(X, y) > 0.97


@pytest.mark.parametrize(
    ("inner", "says"),
    [
        (LinearSVC(), r"LinearSVC has no predict_proba.*CalibratedClassifierCV"),
        (Ridge(), "Ridge has no predict_proba"),
        (KNeighborsClassifier(), r"KNeighborsClassifier\.fit takes no sample_weight"),
        ([LogisticRegression(), KNeighborsClassifier()], r"KNeighborsClassifier\.fit takes no"),
    ],
    ids=["no probabilities", "regressor", "no weights", "one of two"],
)
def test_classifiers_that_cannot_serve(inner, says):
    X, _, pairs = data(n_items=100, n_pairs=1000)
    with pytest.raises(TypeError, match=says):
        joint(inner).fit(X, pairs)


# --- items of every kind -------------------------------------------------------------------------


def test_words_in_a_dataframe_begin_from_the_graph_alone():
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.4).astype(int)
    said = np.where(rng.random(300) < 0.1, 1 - y, y)
    table = pd.DataFrame({"colour": np.array(["red", "blue"])[said], "size": 2 * y + rng.normal()})
    table["size"] += rng.normal(size=300)
    pairs = sample_pairs(y, 3000, NOISE, random_state=0)
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), (StandardScaler(), ["size"]))
    clf = joint(make_pipeline(columns, LogisticRegression())).fit(table, pairs)
    assert clf.feature_names_in_.tolist() == ["colour", "size"]
    assert not any(name.startswith(("kmeans", "spectral-smooth")) for name in clf.starts_)
    clean = make_pipeline(clone(columns), LogisticRegression()).fit(table, y).score(table, y)
    assert clf.score(table, y) > clean - 0.02
    assert np.mean(clf.item_proba_.argmax(axis=1) == y) > 0.99  # answers know more than features


def test_sparse_items():
    X, y, pairs = data()
    sparse, dense = joint().fit(csr_array(X), pairs), joint().fit(X, pairs)
    assert_allclose(sparse.predict_proba(csr_array(X)), dense.predict_proba(X), atol=1e-3)
    assert sparse.score(csr_array(X), y) > 0.97


def test_missing_values_where_the_classifier_takes_them():
    X, y, pairs = data()
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    boosting = HistGradientBoostingClassifier(max_iter=10, random_state=0)
    clf = joint(boosting).fit(holes, pairs)
    assert clf.score(holes, y) > 0.97
    assert np.isfinite(clf.predict_proba(holes)).all()


def test_constant_features_leave_the_graph_to_decide():
    _, y, pairs = data()
    clf = joint().fit(np.ones((300, 2)), pairs)
    assert np.mean(clf.item_proba_.argmax(axis=1) == y) > 0.98
    assert np.ptp(clf.predict_proba(np.ones((5, 2)))[:, 1]) == 0


def test_items_without_pairs_neither_drown_nor_mislead_the_others():
    X, y, _ = data(n_items=1500)
    some = sample_pairs(y[:150], 1500, NOISE, random_state=0)
    pairs = Pairs(some.left, some.right, some.same, n_items=1500)
    clf = joint().fit(X, pairs)
    assert clf.score(X, y) > 0.98
    assert clf.prior_ == pytest.approx(y[:150].mean(), abs=0.03)  # of the items in pairs
    alone = np.arange(150, 1500)  # all that is known of them is what the classifier says
    assert_allclose(clf.item_proba_[alone], clf.oof_proba_[alone], rtol=0, atol=1e-12)
    only = joint().fit(X[:150], some)
    assert_allclose(clf.estimator_.coef_, only.estimator_.coef_, rtol=0.05)


# --- pairs of every kind -------------------------------------------------------------------------


def test_weights_are_repeated_pairs_and_order_does_not_matter():
    X, _, pairs = data(n_pairs=1000)
    plain = joint().fit(X, pairs)
    rng = np.random.default_rng(4)
    times = rng.integers(1, 4, pairs.n_pairs)
    weighted = joint().fit(X, pairs.reweighted(times))
    repeated = joint().fit(X, pairs.select(np.repeat(np.arange(pairs.n_pairs), times)))
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=0, atol=1e-5)
    # the start guesses rates by counting pairs, so the loop stops elsewhere within its tolerance
    assert_allclose(weighted.item_proba_, repeated.item_proba_, rtol=0, atol=1e-3)
    assert np.abs(weighted.item_proba_ - plain.item_proba_).max() > 0.1
    order = rng.permutation(pairs.n_pairs)
    mixed = pairs.select(order)
    mixed = Pairs(mixed.right, mixed.left, mixed.same, n_items=300)
    other = joint().fit(X, mixed)
    assert_allclose(other.item_proba_, plain.item_proba_, rtol=0, atol=1e-6)
    assert_allclose(other.wrong_proba_, plain.wrong_proba_[order], rtol=0, atol=1e-6)


def test_annotators_get_their_own_rates():
    people = crowd(n_annotators=5, similar_flip=0.25, dissimilar_flip=0.25, spammer_share=0.2)
    named = people.pairs.with_labels(one_label_each(people.target, "abc"))
    clf = joint(n_classes=3, annotators=True).fit(people.data, named)
    assert clf.annotator_noise_.shape == (5, 2)
    busy = np.bincount(named.annotator) >= 300
    assert busy.sum() >= 3
    assert_allclose(clf.annotator_noise_[busy], people.annotator_rates[busy], atol=0.08)
    coin = people.annotator_kind == "spammer"
    assert coin.sum() == 1
    assert clf.annotator_noise_[coin].sum() == pytest.approx(1, abs=0.1)  # ρ_S + ρ_D of a coin
    assert (clf.annotator_noise_[~coin].sum(axis=1) < 0.8).all()


def test_annotators_must_be_known():
    X, _, pairs = data(n_items=100, n_pairs=1000)
    with pytest.raises(ValueError, match="annotators=True, but the pairs do not say who"):
        joint(annotators=True).fit(X, pairs)


def test_suspect_pairs_are_the_wrong_ones():
    X, y = datasets.load("cancer")
    pairs = sample_pairs(y, 2000, PairingNoise(0.2, 0.2), random_state=0)
    clf = JointPairClassifier(positive="minority", random_state=0).fit(X, pairs)
    wrong = (y[pairs.left] == y[pairs.right]) != pairs.same
    suspects, chance = clf.suspect_pairs()
    assert len(suspects) == (clf.wrong_proba_ > 0.5).sum()
    assert wrong[suspects].mean() >= 0.85
    assert wrong[suspects].sum() / wrong.sum() >= 0.85
    assert (chance > 0.5).all()
    assert (np.diff(chance) <= 0).all()
    assert_array_equal(chance, clf.wrong_proba_[suspects])
    worst, _ = clf.suspect_pairs(25)
    assert_array_equal(worst, suspects[:25])


def test_lies_that_stick_to_the_item_are_learnt_not_undone():
    """Who lies in all their pairs alike leaves consistent answers: the graph says what they said.

    The classifier sees through it, since the lies do not follow the features.
    """
    X, y, pairs = data(0.4, 300, 6000, LabelingNoise(0.2, 0.2, per="item"))
    agreed = pairs.select(pairs.same)
    links = coo_array((np.ones(agreed.n_pairs), (agreed.left, agreed.right)), shape=(300, 300))
    n_groups, reported = connected_components(links, directed=False)
    assert n_groups == 2  # no answer contradicts another: two reported classes
    assert 0.1 < 1 - accuracy_up_to_names(y, reported) < 0.3
    clf = joint().fit(X, pairs)
    believed = clf.item_proba_.argmax(axis=1)
    assert accuracy_up_to_names(reported, believed) > 0.99
    assert accuracy_up_to_names(y, believed) == pytest.approx(
        accuracy_up_to_names(y, reported), abs=0.01
    )
    assert clf.noise_.similar_flip < 0.01  # the answers are true to the reports
    assert clf.noise_.dissimilar_flip < 0.01
    assert accuracy_up_to_names(y, clf.predict(X)) > 0.97


# --- what it refuses, and what it warns of -------------------------------------------------------


@pytest.mark.parametrize("answer", [True, False])
@pytest.mark.parametrize("parameters", [{}, {"starts": ("spectral",), "noise_model": "free"}])
def test_answers_all_alike_say_nothing(answer, parameters):
    X, _, pairs = data(n_items=150, n_pairs=600)
    alike = Pairs(pairs.left, pairs.right, np.full(600, answer), n_items=150)
    with pytest.raises(NotIdentifiable, match=r"say nothing about classes.*all alike"):
        joint(**parameters).fit(X, alike)


def verdict(X, pairs):
    """What fit thinks of the pairs, and its words; warnings are errors, so one ends it as well."""
    try:
        joint().fit(X, pairs)
    except (NotIdentifiable, NotIdentifiableWarning) as reason:
        return type(reason), str(reason)
    return None, ""


def test_random_answers_are_never_taken_for_news():
    """Refused mostly; a gain a little above what four shuffles reached is warned of instead."""
    X, _, pairs = data(n_items=100, n_pairs=400)
    assert verdict(X, pairs) == (None, "")
    found = []
    for seed in range(3):
        coin = np.random.default_rng(seed).random(400) < 0.5
        found.append(verdict(X, Pairs(pairs.left, pairs.right, coin, n_items=100)))
    assert all("shuffled answers reach" in words for _, words in found)
    assert [kind for kind, _ in found].count(NotIdentifiable) >= 2


def test_one_round_is_not_enough_where_it_moves():
    X, _, pairs = data(n_pairs=1000)
    with pytest.warns(ConvergenceWarning, match="after 1 rounds.*raise max_iter or tol") as caught:
        clf = joint(max_iter=1, tol=1e-9).fit(X, pairs)
    assert caught[0].filename == __file__  # it points at the call of fit
    assert not clf.converged_
    assert clf.n_iter_ == 1
    assert joint(max_iter=50).fit(X, pairs).converged_  # and says nothing: warnings are errors


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"noise_model": "labelling"}, r"noise_model='labelling': .*labeling"),
        ({"n_classes": 1}, "n_classes=1: expected numbers of at least 2"),
        ({"n_classes": [1, 2]}, r"n_classes=\[1, 2\]"),
        ({"starts": ("spectrum",)}, "unknown start 'spectrum'.*spectral"),
        ({"starts": ()}, r"starts=\(\) gives no start for 2 classes: add 'random'"),
        ({"noise": "pairing"}, "noise='pairing': expected 'estimate' or a noise model"),
        ({"prior": "guess"}, "prior='guess'"),
        ({"prior": 1.5}, "prior="),
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
    settings = {"annotators": annotators, "positive": "minority", "random_state": 0}
    whole = JointPairClassifier(LogisticRegression(), **settings).fit(X, pairs)
    monkeypatch.setattr("noisypairs.estimators.joint.classifier.ENOUGH_PAIRS", 1500)
    monkeypatch.setattr("noisypairs.estimators.joint.classifier.ENOUGH_PER_ITEM", 1)
    chosen_on_some = JointPairClassifier(LogisticRegression(), **settings).fit(X, pairs)
    assert chosen_on_some.wrong_proba_.shape == (4000,)
    assert_allclose(chosen_on_some.wrong_proba_, whole.wrong_proba_, atol=0.05)
    assert chosen_on_some.noise_.similar_flip == pytest.approx(whole.noise_.similar_flip, abs=0.01)
    assert_array_equal(chosen_on_some.predict(X), whole.predict(X))


def test_with_many_pairs_starts_that_lead_to_one_place_are_run_once(monkeypatch):
    X, _, pairs = data(n_pairs=4000)
    every = JointPairClassifier(LogisticRegression(), random_state=0, positive="minority")
    every.fit(X, pairs)
    monkeypatch.setattr(selection, "MANY_PAIRS", 100)
    leading = clone(every).fit(X, pairs)
    assert len(leading.starts_) < len(every.starts_)
    assert leading.log_likelihood_ == pytest.approx(every.log_likelihood_, abs=0.5)
    assert_array_equal(leading.predict(X), every.predict(X))


def test_no_rounds_at_all_are_refused():
    X, _, pairs = data()
    with pytest.raises(ValueError, match="max_iter=0: expected at least one round"):
        joint(max_iter=0).fit(X, pairs)


def test_random_starts_alone_serve():
    X, y, pairs = data(n_pairs=2000)
    clf = joint(starts=(), n_init=3).fit(X, pairs)
    assert list(clf.starts_) == [f"random-{i}, 2 classes" for i in range(3)]
    assert clf.score(X, y) > 0.97
