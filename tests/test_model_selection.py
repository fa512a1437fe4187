from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV
from sklearn.neighbors import KNeighborsRegressor

from noisypairs import (
    CleanPairs,
    LabelingNoise,
    LossCorrectionClassifier,
    NotIdentifiable,
    PairingNoise,
    Pairs,
    WeightedPairClassifier,
    algebra,
    datasets,
    sample_pairs,
)
from noisypairs.model_selection import (
    HeldOutShare,
    choose_alpha,
    choose_rates,
    out_of_fold_share,
    share_model,
)
from noisypairs.pairs import ItemCounts

rate = st.floats(0.0, 0.45)
priors = st.floats(0.02, 0.98)


def draw(noise, prior=0.3, seed=0, n_items=2000, n_pairs=20_000):
    X, y = datasets.gaussians(n_items, prior=prior, random_state=seed)
    return X, y, sample_pairs(y, n_pairs, noise, random_state=seed)


# --- the identity everything rests on -------------------------------------------------------------


@given(first=rate, second=rate, prior=priors, labeling=st.booleans(), eta=st.tuples(priors, priors))
def test_the_pair_posterior_is_bilinear_in_the_share(first, second, prior, labeling, eta):
    """P(same | x, x') = p + u + u' + c u u', against the sum over both classes."""
    S = (LabelingNoise if labeling else PairingNoise)(first, second).same_probability()
    b, a = (S[k, 0] * (1 - prior) + S[k, 1] * prior for k in (0, 1))
    assume(abs(a - b) > 1e-3)
    p = prior * a + (1 - prior) * b
    c = (S[1, 1] - 2 * S[0, 1] + S[0, 0]) / (a - b) ** 2
    u, v = (a * e + b * (1 - e) - p for e in eta)  # P(same | x) − p
    by_classes = sum(
        (eta[0] if y else 1 - eta[0]) * S[y, z] * (eta[1] if z else 1 - eta[1])
        for y in (0, 1)
        for z in (0, 1)
    )
    assert p + u + v + c * u * v == pytest.approx(by_classes, abs=1e-12)


@given(similar_flip=rate, dissimilar_flip=rate, prior=priors)
def test_alpha_shows_in_the_pairs_under_pairing_noise(similar_flip, dissimilar_flip, prior):
    """p − 1/c = α = (1 − ρ_S + ρ_D)/2, whatever the prior."""
    assume(abs(prior - 0.5) > 0.01)
    S = PairingNoise(similar_flip, dissimilar_flip).same_probability()
    p = algebra.same_rate(S, prior)
    c = (S[1, 1] - 2 * S[0, 1] + S[0, 0]) / algebra.signal(S, prior) ** 2
    assert p - 1 / c == pytest.approx((1 - similar_flip + dissimilar_flip) / 2, abs=1e-12)


def test_alpha_does_not_show_under_labeling_noise():
    S = LabelingNoise(0.3, 0.1).same_probability()
    c = (S[1, 1] - 2 * S[0, 1] + S[0, 0]) / algebra.signal(S, 0.2) ** 2
    assert abs(algebra.same_rate(S, 0.2) - 1 / c - algebra.alpha(S, 0.2)) > 0.01


# --- out-of-fold shares ---------------------------------------------------------------------------


class Recorder(RegressorMixin, BaseEstimator):
    """Remembers which items (named by the first column) it was fitted on and asked about."""

    log: list = []  # noqa: RUF012 - shared on purpose: clones must write into one list

    def fit(self, X, y, sample_weight=None):
        self.seen_ = {
            int(i): (float(t), float(w)) for i, t, w in zip(X[:, 0], y, sample_weight, strict=True)
        }
        return self

    def predict(self, X):
        Recorder.log.append((self.seen_, {int(i) for i in X[:, 0]}))
        return X[:, 1]


def test_no_model_sees_the_item_it_predicts_nor_its_pairs():
    Recorder.log.clear()
    _, y, pairs = draw(CleanPairs(), n_items=100, n_pairs=1000)
    X = np.column_stack([np.arange(100), -y])  # prior .3: "same" is rarer for class 1
    found = out_of_fold_share(Recorder(), X, pairs, cv=4, random_state=0)
    assert len(Recorder.log) == 4
    asked = [item for _, test in Recorder.log for item in test]
    assert sorted(asked) == list(range(100))
    for seen, test in Recorder.log:
        assert not seen.keys() & test
        same, total = dict.fromkeys(range(100), 0), dict.fromkeys(range(100), 0)
        for i, j, answer in zip(
            pairs.left.tolist(), pairs.right.tolist(), pairs.same.tolist(), strict=True
        ):
            if i not in test and j not in test:
                for end in (i, j):
                    total[end] += 1
                    same[end] += answer
        mean = np.mean([total[i] for i in seen])
        for item, (target, weight) in seen.items():
            assert target == pytest.approx(same[item] / total[item])
            assert weight == pytest.approx(total[item] / mean)
    assert found.rate == pytest.approx(pairs.same.mean())


def test_the_slope_calibrates_what_was_predicted():
    """E[u · answer] = E[u²] over occurrences, however flat the prediction was."""
    X, _, pairs = draw(PairingNoise(0.1, 0.2), n_items=500, n_pairs=5000)
    counts = pairs.item_counts()
    for penalty, flat in ((1.0, False), (1e5, True)):
        found = out_of_fold_share(Ridge(alpha=penalty), X, pairs, random_state=0)
        u = found.centred
        assert u @ counts.same - found.rate * (u @ counts.total) == pytest.approx(
            u**2 @ counts.total, rel=1e-9
        )
        assert u @ counts.total == pytest.approx(0.0, abs=1e-8)
        assert found.slope > 4 if flat else 0.8 < found.slope < 1.2


def test_shares_are_the_same_for_any_number_of_jobs_and_leave_out_self_pairs():
    X, _, pairs = draw(PairingNoise(0.1, 0.2), n_items=300, n_pairs=3000)
    with_self = Pairs(
        np.r_[pairs.left, 7], np.r_[pairs.right, 7], np.r_[pairs.same, False], n_items=300
    )
    one = out_of_fold_share(Ridge(), X, pairs, random_state=3)
    with parallel_config("threading"):
        two = out_of_fold_share(Ridge(), X, with_self, random_state=3, n_jobs=2)
    np.testing.assert_array_equal(one.centred, two.centred)
    assert (one.rate, one.slope, one.pairs) == (two.rate, two.slope, two.pairs)
    other = out_of_fold_share(Ridge(), X, pairs, random_state=4)
    assert not np.array_equal(one.centred, other.centred)


class Oracle(ClassifierMixin, BaseEstimator):
    """A classifier that remembers the rows it was given."""

    def fit(self, X, y, sample_weight):
        self.rows_ = sorted(zip(X[:, 0].tolist(), y.tolist(), sample_weight.tolist(), strict=True))
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def test_a_classifier_learns_answers_with_the_counts_as_weights():
    X, counts = (
        np.array([[0.25], [0.5], [0.75]]),
        ItemCounts(np.array([2.0, 0, 0]), np.r_[1.0, 3, 0]),
    )
    oracle = Oracle()
    predict = share_model(oracle, X, counts)
    assert oracle.rows_ == [(0.25, 0, 0.5), (0.25, 1, 1.0), (0.5, 0, 1.5)]  # mean one
    np.testing.assert_array_equal(predict(X), [0.25, 0.5, 0.75])


def test_a_regressor_learns_the_share_of_items_in_pairs():
    X = np.arange(4.0)[:, None]
    counts = ItemCounts(np.array([1.0, 3, 0, 2]), np.array([1.0, 1, 0, 0]))
    weighted = share_model(Ridge(alpha=0.0), X, counts)
    by_hand = np.polyfit([0, 1, 3], [0.5, 0.75, 1.0], 1, w=np.sqrt([2, 4, 2]))
    np.testing.assert_allclose(weighted(X), np.polyval(by_hand, X[:, 0]), rtol=0, atol=1e-12)
    nearest = share_model(KNeighborsRegressor(1), X, counts)  # takes no weights
    np.testing.assert_allclose(nearest(X[[0, 1, 3]]), [0.5, 0.75, 1.0])


@pytest.mark.parametrize("estimator", [LogisticRegression(), Ridge()], ids=repr)
@pytest.mark.parametrize("constant", [False, True], ids=["noise features", "constant features"])
def test_features_that_carry_nothing_are_no_ground_for_tuning(estimator, constant):
    """Features as good as noise pass by chance with probability .02 or less; seeds are fixed."""
    rng = np.random.default_rng(5)
    y = rng.random(500) < 0.3
    X = np.ones((500, 2)) if constant else rng.normal(size=(500, 2))
    pairs = sample_pairs(y, 5000, PairingNoise(0.1, 0.2), random_state=rng)
    with pytest.raises(NotIdentifiable, match="do not predict how often they are called 'same'"):
        out_of_fold_share(estimator, X, pairs, random_state=0)


def test_balanced_classes_are_no_ground_for_tuning():
    """At prior ½ even perfect features say nothing about the share of "same"."""
    y = np.arange(1000) % 2
    X = 4.0 * y[:, None] + np.random.default_rng(0).normal(size=(1000, 1))
    pairs = sample_pairs(y, 10_000, PairingNoise(0.1, 0.1), random_state=2)
    with pytest.raises(NotIdentifiable, match="the prior is near ½"):
        out_of_fold_share(Ridge(), X, pairs, random_state=0)


def test_too_few_pairs_to_cross_validate():
    pairs = Pairs([0], [1], [True], n_items=4)  # at most one of two folds can hold it
    with pytest.raises(ValueError, match="no pair lies inside 2 of 4 items: too few pairs"):
        out_of_fold_share(Ridge(), np.arange(4.0)[:, None], pairs, cv=2, random_state=1)


# --- choosing α and the rates ---------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [LogisticRegression(), Ridge()], ids=repr)
@pytest.mark.parametrize("prior", [0.2, 0.65])
@pytest.mark.parametrize("flips", [(0.1, 0.3), (0.3, 0.1), (0.2, 0.2)], ids=str)
def test_alpha_is_found_at_unequal_rates(flips, prior, estimator):
    """20,000 pairs: the standard error is about .005, .02 is four of them.

    Neither estimator has the right shape (m has a floor and a ceiling), so this also tests that
    the criterion does not need it.
    """
    noise = PairingNoise(*flips)
    X, _, pairs = draw(noise, prior, seed=1)
    found = choose_alpha(out_of_fold_share(estimator, X, pairs, random_state=0))
    assert found == pytest.approx((1 - flips[0] + flips[1]) / 2, abs=0.02)


def test_alpha_falls_back_on_one_half_where_pairs_say_nothing():
    pairs = Pairs([0, 1], [1, 2], [True, False])
    unknown = HeldOutShare(pairs, rate=0.9, centred=np.full(3, 1e-9), slope=1.0)
    assert choose_alpha(unknown) == pytest.approx(0.5, abs=1e-3)


def test_alpha_needs_some_same_answers():
    pairs = Pairs([0, 1], [1, 2], [False, False])
    with pytest.raises(NotIdentifiable, match="almost no answer is 'same'"):
        choose_alpha(HeldOutShare(pairs, rate=0.01, centred=np.zeros(3), slope=1.0))


def implied_alpha(noise, p):
    """Return α of the chosen noise at the prior that its share of "same" implies."""
    S = noise.same_probability()
    return algebra.alpha(S, algebra.prior_roots(S, p)[0])


@pytest.mark.parametrize("flips", [(0.05, 0.3), (0.3, 0.1)], ids=str)
def test_rates_are_chosen_that_imply_the_right_alpha(flips):
    """Bounded features tell the rates apart: trees find the floor and the ceiling of m."""
    noise = PairingNoise(*flips)
    X, _, pairs = draw(noise, prior=0.3, seed=2)
    trees = HistGradientBoostingRegressor(max_iter=30, min_samples_leaf=50, random_state=0)
    held_out = out_of_fold_share(trees, X, pairs, random_state=0)
    found = choose_rates(held_out)
    assert implied_alpha(found.noise, held_out.rate) == pytest.approx(
        (1 - flips[0] + flips[1]) / 2, abs=0.04
    )
    assert found.noise.similar_flip == pytest.approx(flips[0], abs=0.06)
    assert found.noise.dissimilar_flip == pytest.approx(flips[1], abs=0.06)


@pytest.mark.parametrize(
    ("family", "noise"),
    [("pairing", PairingNoise(0.1, 0.3)), ("labeling", LabelingNoise(0.2, 0.1))],
)
def test_chosen_rates_explain_held_out_answers_better_than_none(family, noise):
    X, _, pairs = draw(noise, prior=0.75, seed=3)
    held_out = out_of_fold_share(LogisticRegression(), X, pairs, random_state=0)
    found = choose_rates(held_out, family, rates=np.arange(0.0, 0.45, 0.1))
    assert type(found.noise) is type(noise)
    clean = found.grid[(found.grid[:, :2] == 0).all(axis=1)]
    assert clean.shape == (1, 3)
    assert (found.log_posterior - clean[0, 2]) * pairs.n_pairs > 10  # nats
    assert found.log_posterior >= found.grid[:, 2].max()  # the grid's best, refined
    assert (found.grid[:, :2].sum(axis=1) < 0.95).all()


def test_clean_pairs_are_recognised():
    """Small trees leave m a little flat, which looks like a few per cent of noise."""
    X, _, pairs = draw(CleanPairs(), prior=0.3, n_items=1000, n_pairs=10_000)
    trees = HistGradientBoostingRegressor(max_iter=30, min_samples_leaf=20, random_state=0)
    found = choose_rates(out_of_fold_share(trees, X, pairs, random_state=0))
    assert max(found.noise.similar_flip, found.noise.dissimilar_flip) < 0.1


def test_the_grid_holds_the_likelihood_of_the_answers():
    """One grid point against a loop over the answers, with the weak prior on the rates."""
    X, _, pairs = draw(PairingNoise(0.1, 0.2), prior=0.3, n_items=300, n_pairs=1000)
    held_out = out_of_fold_share(Ridge(), X, pairs, random_state=0)
    S, p = PairingNoise(0.1, 0.2).same_probability(), held_out.rate
    grid = choose_rates(held_out, rates=(0.1, 0.2)).grid
    best = -np.inf
    for prior in algebra.prior_roots(S, p):
        b, a = algebra.same_given_class(S, prior)
        total = 0.0
        for i, j, same in zip(pairs.left, pairs.right, pairs.same, strict=True):
            x, z = (min(max((p + held_out.centred[k] - b) / (a - b), 0.0), 1.0) for k in (i, j))
            chance = np.array([1 - x, x]) @ S @ np.array([1 - z, z])
            total += np.log(chance if same else 1 - chance)
        best = max(best, total)
    row = grid[(grid[:, 0] == 0.1) & (grid[:, 1] == 0.2)][0]
    weak_prior = 2 * np.log(0.9) + 2 * np.log(0.8)
    assert row[2] == pytest.approx((best + weak_prior) / 1000, abs=1e-9)


def test_an_unknown_family_gets_a_suggestion():
    pairs = Pairs([0, 1], [1, 2], [True, False])
    held_out = HeldOutShare(pairs, 0.6, np.zeros(3), 1.0)
    with pytest.raises(ValueError, match=r"noise='labelling': did you mean 'labeling'\?"):
        choose_rates(held_out, "labelling")


def test_a_share_of_same_that_no_two_classes_give():
    held_out = HeldOutShare(
        Pairs([0, 1], [1, 2], [True, False]), 0.2, np.array([-0.1, 0, 0.1]), 1.0
    )
    with pytest.raises(NotIdentifiable, match=r"no rates of pairing noise explain that 20\.0%"):
        choose_rates(held_out, rates=(0.0, 0.1))


def test_only_so_many_pairs_are_looked_at(monkeypatch):
    """Every step-th pair: the answer is that of the thinned pairs, and weights go along."""
    X, _, pairs = draw(PairingNoise(0.1, 0.2), n_items=300, n_pairs=5000)
    held_out = out_of_fold_share(Ridge(), X, pairs, random_state=0)
    thinned = HeldOutShare(
        pairs.select(slice(None, None, 5)), held_out.rate, held_out.centred, held_out.slope
    )
    expected, all_pairs = choose_alpha(thinned), choose_alpha(held_out)
    monkeypatch.setattr("noisypairs.model_selection.MOST_PAIRS", 1000)
    assert choose_alpha(held_out) == pytest.approx(expected, abs=1e-9)
    assert expected != pytest.approx(all_pairs, abs=1e-4)


# --- scikit-learn's own searches ------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::noisypairs.WeakEstimatorWarning")  # at a wrong α
def test_grid_search_finds_alpha_on_noisy_pairs():
    noise = PairingNoise(0.05, 0.35)
    X, _, pairs = draw(noise, prior=0.25, n_items=1000, n_pairs=15_000)
    model = WeightedPairClassifier(LogisticRegression(), noise=noise, prior=0.25)
    search = GridSearchCV(model, {"alpha": [0.35, 0.5, 0.65, 0.75]}, cv=KFold(3))
    search.fit(X, pairs)
    assert search.best_params_ == {"alpha": 0.65}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.alpha_ == 0.65


def test_randomized_search_finds_the_noise_on_noisy_pairs():
    noise = PairingNoise(0.1, 0.3)
    X, y, pairs = draw(noise, prior=0.25, n_items=1000, n_pairs=15_000)
    candidates = [CleanPairs(), noise, PairingNoise(0.0, 0.2), PairingNoise(0.2, 0.4)]
    model = LossCorrectionClassifier(class_order="falling")
    search = RandomizedSearchCV(
        model, {"noise": candidates}, n_iter=4, cv=KFold(3), random_state=0
    ).fit(X, pairs)
    assert search.best_params_ == {"noise": noise}
    assert search.best_estimator_.noise_ == noise
    assert (search.predict(X) == y).mean() > 0.98


def test_grid_search_scores_are_those_of_item_disjoint_folds():
    """The score of one candidate by hand: fit and judge on the two sub-graphs of each fold."""
    noise = PairingNoise(0.1, 0.2)
    X, _, pairs = draw(noise, n_items=300, n_pairs=6000)
    model = LossCorrectionClassifier(Ridge(), noise=noise, prior=0.3)
    search = GridSearchCV(model, {"estimator__alpha": [1.0]}, cv=KFold(3)).fit(X, pairs)
    for k, (train, test) in enumerate(KFold(3).split(X)):
        fitted = LossCorrectionClassifier(Ridge(), noise=noise, prior=0.3).fit(
            X[train], pairs[train]
        )
        score = fitted.score(X[test], pairs[test])
        assert search.cv_results_[f"split{k}_test_score"][0] == pytest.approx(score, abs=1e-12)


def test_the_seed_decides_the_folds():
    X, _, pairs = draw(PairingNoise(0.1, 0.2), n_items=300, n_pairs=3000)
    one, again, other = (
        out_of_fold_share(Ridge(), X, pairs, random_state=seed).centred for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, again)
    assert np.abs(one - other).max() > 1e-6


@pytest.mark.parametrize(
    ("flips", "prior", "better"), [((0.1, 0.2), 0.8, 1), ((0.3, 0.05), 0.4, 0)]
)
def test_the_grid_counts_weights_and_takes_the_better_root(flips, prior, better):
    noise = LabelingNoise(*flips)
    S = noise.same_probability()
    p = algebra.same_rate(S, prior)
    rng = np.random.default_rng(0)
    y = (rng.random(600) < prior).astype(int)
    left, right = rng.permutation(600).reshape(2, -1)
    weight = rng.choice([0.5, 4.0], 300)
    pairs = Pairs(left, right, noise.corrupt(y, left, right, random_state=1), weight=weight)
    m = algebra.same_given_class(S, prior)[y]
    means = []
    for root in algebra.prior_roots(S, p):
        b, a = algebra.same_given_class(S, root)
        eta = np.clip((m - b) / (a - b), 0, 1)
        both = np.column_stack([1 - eta, eta])
        chance = [both[i] @ S @ both[j] for i, j in zip(left, right, strict=True)]
        log = np.log(np.where(pairs.same, chance, 1 - np.array(chance)))
        means.append(float(np.average(log, weights=weight)))
    assert means[better] > means[1 - better] + 0.05
    grid = choose_rates(HeldOutShare(pairs, p, m - p, 1.0), "labeling", flips, exponent=0.0).grid
    row = grid[(grid[:, 0] == flips[0]) & (grid[:, 1] == flips[1])][0]
    assert row[2] == pytest.approx(means[better], abs=1e-6)
