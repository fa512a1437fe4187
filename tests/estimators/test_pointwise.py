"""Which noise, which prior, and is there any signal: what the two point-wise learners share."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from noisypairs import (
    ChosenPairsWarning,
    CleanPairs,
    LossCorrectionClassifier,
    MatrixNoise,
    NotIdentifiable,
    NotIdentifiableWarning,
    PairingNoise,
    Pairs,
    WeightedPairClassifier,
    datasets,
    model_selection,
    sample_pairs,
)
from noisypairs.estimators.pointwise import TOO_WEAK, WEAK, check_signal

NOISE = PairingNoise(0.1, 0.2)
LEARNERS = [LossCorrectionClassifier, WeightedPairClassifier]
both = pytest.mark.parametrize("kind", LEARNERS)


def n_pairs_of_strength(strength, difference=0.1):
    """Return how many pairs give |a − b| √(2n) = strength."""
    return round((strength / difference) ** 2 / 2)


def test_messages_tell_any_noise_in_few_words():
    noise = MatrixNoise(((0.8123456789, 0.2123456789), (0.2123456789, 0.7123456789)))
    with pytest.raises(
        NotIdentifiable, match=r"MatrixNoise \(P\('same'\) \.71 and \.81 within"
    ) as e:
        check_signal(noise, 0.52, some_pairs(100))
    assert "0.8123" not in str(e.value)


def some_pairs(n, weight=None):
    return Pairs(np.zeros(n, int), np.ones(n, int), np.arange(n) % 2 == 0, weight=weight)


def data(prior=0.3, seed=0, n_pairs=5000):
    X, y = datasets.load("gaussians", n_samples=400, prior=prior, random_state=seed)
    return X, y, sample_pairs(y, n_pairs, NOISE, random_state=seed)


@pytest.mark.parametrize("prior", [0.45, 0.55])  # a − b = ∓.1
def test_signal_is_weighed_against_the_randomness_of_the_answers(prior):
    says = r"a − b = .*about 100 answers carry the information of one label.*[Jj]oint"
    with pytest.raises(NotIdentifiable, match=says):
        check_signal(CleanPairs(), prior, some_pairs(n_pairs_of_strength(0.95 * TOO_WEAK)))
    for strength in (1.05 * TOO_WEAK, 0.95 * WEAK):
        with pytest.warns(NotIdentifiableWarning, match=r"large spread.*Joint"):
            check_signal(CleanPairs(), prior, some_pairs(n_pairs_of_strength(strength)))
    check_signal(CleanPairs(), prior, some_pairs(n_pairs_of_strength(1.05 * WEAK)))  # no warning


def test_signal_counts_weights_and_leaves_self_pairs_out():
    few = n_pairs_of_strength(0.95 * TOO_WEAK)
    with pytest.warns(NotIdentifiableWarning):
        check_signal(CleanPairs(), 0.45, some_pairs(few, weight=np.full(few, 2.0)))
    padded = Pairs(
        np.r_[np.zeros(few, int), np.ones(few, int)], np.ones(2 * few, int), [1, 0] * few
    )
    with pytest.raises(NotIdentifiable, match=f"one label, and there are {few},"):
        check_signal(CleanPairs(), 0.45, padded)


def test_the_reason_behind_the_limit():
    """At strength 2 the share of "same" of the two classes differs by about two errors."""
    rng = np.random.default_rng(0)
    n = n_pairs_of_strength(TOO_WEAK)
    share = rng.binomial(n, (0.45, 0.55), size=(20_000, 2)) / n  # each class half of 2n ends
    apart = share[:, 1] - share[:, 0]
    assert apart.mean() / apart.std() == pytest.approx(TOO_WEAK, rel=0.05)


@both
def test_a_weak_signal_warns_where_fit_was_called(kind):
    X, _, pairs = data(n_pairs=1000)
    with pytest.warns(NotIdentifiableWarning) as caught:
        kind(noise=NOISE, prior=0.45, random_state=0).fit(X, pairs)
    assert [warning.filename for warning in caught] == [__file__]


@both
def test_prior_as_a_vector(kind):
    X, _, pairs = data()
    one, other = (
        kind(noise=NOISE, prior=p, random_state=0).fit(X, pairs) for p in (0.3, [0.7, 0.3])
    )
    assert other.prior_ == pytest.approx(0.3)
    assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-5)


@both
def test_given_prior_speaks_of_the_second_name(kind):
    X, y, pairs = data()
    labels = {int(i): ["z", "a"][y[i]] for i in (np.flatnonzero(y)[0], np.flatnonzero(y == 0)[0])}
    clf = kind(noise=NOISE, prior=0.7, random_state=0).fit(X, pairs.with_labels(labels))
    assert clf.classes_.tolist() == ["a", "z"]
    assert clf.score(X, np.array(["z", "a"])[y]) > 0.97


@both
def test_estimated_prior_is_reported_with_both_roots(kind):
    X, y, pairs = data(n_pairs=20_000)
    clf = kind(noise=NOISE, class_order="falling", random_state=0).fit(X, pairs)
    low, high = clf.prior_estimate_.roots
    assert clf.prior_ == low.estimate
    assert y.mean() in low
    assert low.estimate + high.estimate == pytest.approx(1.0)


@both
def test_a_majority_of_labels_decides(kind):
    X, y, pairs = data()
    positive, negative = np.flatnonzero(y)[:6], np.flatnonzero(y == 0)[:6]
    labels = {int(i): int(y[i]) for i in (*positive, *negative)}
    labels[int(positive[0])], labels[int(negative[0])] = 0, 1  # two of twelve are wrong
    clf = kind(noise=NOISE, random_state=0).fit(X, pairs.with_labels(labels))
    assert clf.score(X, y) > 0.97


@both
@pytest.mark.parametrize("family", ["pairing", "labeling"])
def test_noise_is_estimated_in_the_family_asked_for(kind, family):
    X, y, pairs = data(n_pairs=10_000)
    clf = kind(noise=family, class_order="falling", random_state=0, cv=3).fit(X, pairs)
    assert type(clf.noise_).__name__.lower() == f"{family}noise"
    best = clf.rate_choice_.grid[:, 2].max()
    assert clf.rate_choice_.log_posterior >= best - 1e-9  # refined, never worse than the grid
    assert clf.score(X, y) > 0.95


@both
def test_more_than_two_classes_are_noticed(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=300)
    pairs = sample_pairs(y, 5000, random_state=0)
    with pytest.raises(NotIdentifiable, match="more than two classes"):
        kind(noise=CleanPairs(), class_order="falling").fit(rng.normal(size=(300, 2)), pairs)


@both
@pytest.mark.parametrize("noise", ["paring", PairingNoise, 0.2, None])
def test_noise_that_is_none(kind, noise):
    X, _, pairs = data()
    with pytest.raises(ValueError, match=r"noise=.*(Known: |expected a noise model)"):
        kind(noise=noise, prior=0.3).fit(X, pairs)


@both
def test_too_few_pairs_to_cross_validate(kind):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="too few pairs"):
        kind(random_state=0).fit(X, Pairs([0], [1], [True], n_items=20))


@both
def test_no_warning_where_the_prior_names_the_classes(kind):
    X, _, pairs = data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(noise=NOISE, prior=0.3, random_state=0).fit(X, pairs)


@both
def test_chosen_pairs_are_left_out_and_that_is_said(kind):
    X, y = datasets.load("gaussians", n_samples=200, prior=0.3, random_state=0)
    drawn = sample_pairs(y, 1500, NOISE, random_state=0)
    likely = sample_pairs(y, 900, NOISE, same_share=0.9, random_state=1)
    pairs = drawn.with_answers(likely.left, likely.right, likely.same, chosen=np.ones(900, bool))
    learner = kind(noise=NOISE, class_order="falling", random_state=0)
    with pytest.warns(ChosenPairsWarning, match="900 of 2,400 pairs were chosen"):
        found = learner.fit(X, pairs)
    expected = kind(noise=NOISE, class_order="falling", random_state=0).fit(X, drawn)
    assert found.prior_ == expected.prior_
    assert_allclose(found.predict_proba(X), expected.predict_proba(X))
    with pytest.raises(NotIdentifiable, match="none was drawn at random"):
        learner.fit(X, pairs.select(pairs.chosen))


def test_the_signal_counts_pairs_drawn_at_random():
    few, many = n_pairs_of_strength(TOO_WEAK / 2), n_pairs_of_strength(2 * WEAK)
    y = np.arange(1000) % 2
    pairs = sample_pairs(y, many, random_state=0)
    marked = Pairs(pairs.left, pairs.right, pairs.same, chosen=np.arange(many) >= few)
    noise, prior = PairingNoise(0.0, 0.0), 0.55
    check_signal(noise, prior, pairs)
    with pytest.raises(NotIdentifiable, match="too few for a point-wise method"):
        check_signal(noise, prior, marked)


@both
def test_rates_are_chosen_on_folds_that_keep_groups_together(kind, monkeypatch):
    X, _, pairs = data()
    groups, seen = np.arange(len(X)) // 4, []
    share = model_selection.out_of_fold_share

    def noted(*given, cv, **settings):
        seen.extend(cv)
        return share(*given, cv=cv, **settings)

    monkeypatch.setattr(model_selection, "out_of_fold_share", noted)
    kind(noise="pairing", class_order="rising", random_state=0).fit(X, pairs.with_groups(groups))
    assert len(seen) == 5
    for train, test in seen:
        assert not np.intersect1d(groups[train], groups[test]).size
