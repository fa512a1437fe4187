"""Which classifier is chosen: its score against Bethe's likelihood, and what is tried at all."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from noisypairs import PairingNoise, Pairs, sample_pairs
from noisypairs.estimators.inner.defaults import default_candidates
from noisypairs.estimators.inner.gaussian import GaussianClasses
from noisypairs.estimators.inner.ridge import RidgeClasses
from noisypairs.estimators.joint.beliefs.calibration import calibrated
from noisypairs.estimators.joint.choice import Choice, is_fast
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.inference import em
from noisypairs.inference.posteriors import bethe_log_likelihood
from noisypairs.inference.propagation import propagate

from .builders import Given, inferred, labelled, numbered, softened


@pytest.fixture
def fits(monkeypatch):
    monkeypatch.setattr(Given, "fits", [])
    monkeypatch.setattr(Given, "sizes", [])
    return Given.fits


# --- the score -----------------------------------------------------------------------------------


def propagated(problem, phi, noise):
    """Belief propagation at its fixed point, as what the rounds found."""
    S = noise.same_probability(phi.shape[1])
    beliefs = propagate(problem.graph, np.log(phi), S, tol=1e-12, max_iter=2000)
    assert beliefs.converged
    value = bethe_log_likelihood(problem.graph, beliefs, S)
    return em.Inference(beliefs, phi, S, noise, value, True, [])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loops", [0, 25])  # a tree, where Bethe's likelihood is exact, and none
def test_the_score_is_the_change_of_the_likelihood_to_first_order(n_classes, loops, monkeypatch):
    monkeypatch.setattr("noisypairs.estimators.joint.choice.calibrated", lambda phi, _: phi)
    n, rng = 60, np.random.default_rng(0)
    y, noise = rng.integers(n_classes, size=n), PairingNoise(0.25, 0.15)
    left = np.r_[np.arange(1, n), rng.integers(0, 30, loops)]
    right = np.r_[[rng.integers(i) for i in range(1, n)], rng.integers(30, n, loops)]
    flip = rng.random(len(left)) < 0.2
    pairs = Pairs(left, right, (y[left] == y[right]) ^ flip, n_items=n)
    problem = numbered(y, pairs)
    problem.folds = [(np.arange(n), np.arange(n))]  # one fold of all items: the sum is whole
    phi = rng.dirichlet(np.full(n_classes, 5.0), n)
    found = propagated(problem, phi, noise)
    away = rng.dirichlet(np.full(n_classes, 5.0), n) - phi
    exact, errors = [], []
    for step in (0.1, 0.01):
        other = phi + step * away
        choice = Choice(problem, found, {"other": Given(other), "same": Given(phi)})
        choice.choose()
        exact.append(propagated(problem, other, noise).log_likelihood - found.log_likelihood)
        errors.append(choice.gains["other"] - choice.gains["same"] - exact[-1])
    # A tenth of the step: a tenth of the change, and a hundredth of what is left out.
    assert exact[0] / exact[1] == pytest.approx(10, rel=0.5)
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.3)
    assert abs(errors[1]) < 0.1 * abs(exact[1])


def with_items_alone(n_alone, names):
    """Two candidates that differ on items in no pair, too, tried on one fold of all items."""
    y, pairs, noise = labelled()
    pairs = Pairs(pairs.left, pairs.right, pairs.same, n_items=300 + n_alone)
    y = np.r_[y, np.arange(n_alone) % 2]
    problem = numbered(y, pairs)
    problem.folds = [(np.arange(len(y)), np.arange(len(y)))]
    phis = {"little": softened(y, 0.55), "much": softened(y, 0.75)}
    candidates = {name: Given(phis[name], name) for name in names}
    choice = Choice(problem, inferred(problem, y, noise), candidates)
    choice.choose()
    return choice


@pytest.mark.parametrize("names", [("little", "much"), ("much", "little")])
def test_items_in_no_pair_neither_count_nor_keep_candidates_from_being_tried(fits, names):
    choice = with_items_alone(600, names)
    assert fits == list(names)
    assert choice.members == ["much"]
    lead = choice.gains["much"] - choice.gains["little"]
    without = with_items_alone(0, names)
    assert lead == pytest.approx(without.gains["much"] - without.gains["little"], rel=0.1)


# --- what is chosen ------------------------------------------------------------------------------


def chosen_on(X, y, per_item, noise=None, **settings):
    noise = noise or PairingNoise(0.1, 0.1)
    pairs = sample_pairs(y, per_item * len(y), noise, random_state=0)
    problem = JointProblem(X, pairs, [2], 3, 0)
    found = inferred(problem, y, noise)
    candidates = default_candidates(X, problem.seed)
    choice = Choice(problem, found, candidates, **settings)
    choice.choose()
    return choice


def test_trees_are_chosen_on_a_checkerboard():
    X = np.random.default_rng(0).uniform(0, 4, (900, 2))
    y = X.astype(int).sum(axis=1) % 2
    choice = chosen_on(X, y, per_item=6)
    assert "trees" in choice.members[0]
    assert choice.gains[choice.members[0]] > choice.gains["linear"] + 50
    proba = choice.fit(choice.beliefs, np.arange(900)).predict_proba(X)
    assert np.mean(proba.argmax(axis=1) == y) > 0.95


def test_a_straight_line_needs_no_trees():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    y = (X @ [2.0, 1.0, 0.0, 0.0, -1.0] + rng.logistic(size=600) > 0).astype(int)
    choice = chosen_on(X, y, per_item=8)
    assert not any("trees" in name for name in choice.members)
    assert {"linear", "kernel, C=1", "kernel, C=15"} & set(choice.members)


class Listening(Given):
    """Keep what it is taught, by the number of the item."""

    taught: dict = {}  # noqa: RUF012 (shared by all clones on purpose)

    def fit_beliefs(self, X, beliefs):
        self.taught |= dict(zip(X[:, 0].astype(int), beliefs, strict=True))
        return super().fit_beliefs(X, beliefs)


def test_candidates_are_taught_what_the_answers_say_and_no_opinion_of_ridge(monkeypatch):
    monkeypatch.setattr(Listening, "taught", {})
    y, pairs, noise = labelled()
    problem = numbered(y, pairs)
    found = inferred(problem, y, noise)
    Choice(problem, found, {n: Listening(softened(y, 0.7), n) for n in "ab"}).choose()
    assert len(Listening.taught) > 100
    odds, own = (b[:, 1] / b[:, 0] for b in (found.beliefs.item, found.potential))
    shares = found.beliefs.item.mean(axis=0)  # every item is in a pair
    for item, (zero, one) in Listening.taught.items():
        assert one / zero == pytest.approx(odds[item] / own[item] * shares[1] / shares[0])


def test_weak_evidence_still_shows_that_trees_are_right():
    """Ridge makes the beliefs, is wrong in half of the squares, and must not decide by that."""
    X = np.random.default_rng(3).uniform(0, 3, (1500, 4))
    y = (X[:, :2].astype(int).sum(axis=1) % 2).astype(int)
    choice = chosen_on(X, y, 3, PairingNoise(0.3, 0.3))
    assert choice.problem.gain(choice.found) < 0.1 * len(y)
    assert "trees" in choice.members[0]


def test_one_candidate_is_not_tried(fits):
    y, pairs, noise = labelled()
    problem = numbered(y, pairs)
    choice = Choice(problem, inferred(problem, y, noise), {"only": Given(softened(y, 0.7))})
    choice.choose()
    assert choice.members == ["only"]
    assert fits == []


def test_who_is_behind_is_tried_on_one_fold_only(fits):
    y, pairs, noise = labelled()
    problem = numbered(y, pairs)
    good, bad = softened(y, 0.75), softened(1 - y, 0.75)
    candidates = {"good": Given(good, "good"), "bad": Given(bad, "bad")}
    choice = Choice(problem, inferred(problem, y, noise), candidates)
    choice.choose()
    assert choice.members == ["good"]
    assert fits == ["good", "bad"]
    assert choice.gains["good"] > choice.gains["bad"] + 50


def test_who_cannot_gain_is_not_tried_where_answers_leave_no_room(fits):
    """Thirty answers per item, one of twenty wrong: they tell every class, whatever x says."""
    y, pairs, noise = labelled(per_item=30, flip=0.05)
    problem = numbered(y, pairs)
    first, second = Given(softened(y, 0.999), "first"), Given(softened(y, 0.9), "second")
    choice = Choice(problem, inferred(problem, y, noise), {"first": first, "second": second})
    choice.choose()
    assert choice.members == ["first"]
    assert fits == ["first"]
    assert "second" not in choice.gains


def test_of_many_items_some_show_who_goes_on(fits, monkeypatch):
    monkeypatch.setattr("noisypairs.estimators.joint.choice.SAMPLES", ((40, 2),))
    y, pairs, noise = labelled()
    problem = numbered(y, pairs)
    phis = {"bad": softened(1 - y, 0.7), "good": softened(y, 0.7), "better": softened(y, 0.75)}
    candidates = {name: Given(phi, name) for name, phi in phis.items()}
    choice = Choice(problem, inferred(problem, y, noise), candidates)
    choice.choose()
    assert fits[:3] == list(phis)
    assert Given.sizes[:3] == [40] * 3
    assert set(fits[3:]) == {"good", "better"}
    assert set(Given.sizes[3:]) == {200}
    assert choice.members == ["better"]


class Stages(Given):
    """After each stage it is right with another probability, given as {stage: probability}."""

    def __init__(self, y=None, right=None, max_iter=9):
        self.y = y
        self.right = right
        self.max_iter = max_iter

    def stages(self, X, y, sample_weight, X_new, first=1):
        del X, y, sample_weight  # the potentials are given
        for number, right in self.right.items():
            if number < first:
                continue
            self.fits.append(number)
            yield number, softened(self.y, right)[X_new[:, 0].astype(int)]

    def fit(self, X, y, sample_weight):
        del X, sample_weight  # the potentials are given
        self.fits.append(f"to {self.max_iter}")
        self.classes_ = np.unique(y)
        self.phi = softened(self.y, self.right[self.max_iter])
        return self

    fit_beliefs = property()  # it learns from rows, as whoever has stages does


@pytest.mark.parametrize(
    ("right", "last", "best"),
    [
        ({1: 0.6, 2: 0.7, 5: 0.75, 9: 0.8}, 9, 9),
        ({1: 0.6, 2: 0.8, 5: 0.7, 9: 0.9}, 5, 2),  # worse than before: the rest is not looked at
    ],
)
def test_as_many_stages_as_the_first_fold_calls_for(fits, right, last, best):
    y, pairs, noise = labelled()
    problem = numbered(y, pairs)
    given = Stages(y, right)
    candidates = {"staged": given, "blind": GaussianClasses()}
    choice = Choice(problem, inferred(problem, y, noise), candidates)
    choice.choose()
    assert choice.members == ["staged"]
    assert fits == [number for number in right if number <= last]
    assert choice.tuned["staged"].max_iter == best
    assert given.max_iter == 9
    assert choice.fit(choice.beliefs, np.arange(300)).max_iter == best
    assert fits[-1] == f"to {best}"


@pytest.mark.parametrize(
    ("right", "last"),
    [
        ({1: 0.6, 2: 0.601, 5: 0.602, 9: 0.603}, 2),  # the second stage gains next to nothing
        ({1: 0.501, 2: 0.502, 5: 0.503, 9: 0.504}, 1),  # the first one, on the class shares
    ],
)
def test_stages_that_would_not_reach_the_leader_are_left(fits, right, last, monkeypatch):
    monkeypatch.setattr("noisypairs.estimators.joint.choice.calibrated", lambda phi, _: phi)
    y, pairs, noise = labelled()
    problem = numbered(y, pairs)
    candidates = {"good": Given(softened(y, 0.7), "good"), "slow": Stages(y, right)}
    choice = Choice(problem, inferred(problem, y, noise), candidates)
    choice.choose()
    assert choice.members == ["good"]
    assert fits == ["good", *range(1, last + 1)]


class Moments(Given):
    """Keep the moments that it is given, by the number of items."""

    takes_moments = True
    given: list = []  # noqa: RUF012 (shared by all clones on purpose)

    def fit_beliefs(self, X, beliefs, moments=None):
        self.given.append((len(X), moments))
        return super().fit_beliefs(X, beliefs)


def test_moments_of_whole_folds_are_known_from_the_starts(monkeypatch):
    monkeypatch.setattr("noisypairs.estimators.joint.choice.SAMPLES", ((40, 3),))
    monkeypatch.setattr(Moments, "given", [])
    y, pairs, noise = labelled()
    problem = numbered(y, pairs)
    problem.Z = problem.X  # as if candidates saw what ridge regression sees
    alike = {name: Moments(softened(y, 0.7), name) for name in "abc"}
    choice = Choice(problem, inferred(problem, y, noise), alike)
    choice.choose()
    assert [moments for size, moments in Moments.given if size == 40] == [None] * 3
    known = problem.fast_potential.moments
    whole = [moments for size, moments in Moments.given if size == 200]
    assert list(map(id, whole)) == [id(moments) for moments in known for _ in range(3)]
    Moments.given.clear()
    choice.potential(problem.in_pairs, None)(choice.beliefs.copy())
    choice.potential(problem.in_pairs.copy(), None)(choice.beliefs)  # other items to learn from
    assert [moments for _, moments in Moments.given] == [*known, None, None, None]


# --- what was chosen, used -----------------------------------------------------------------------


def nearly_equal():
    """Two candidates that err on different items, so that their mean explains the answers best."""
    y, pairs, noise = labelled()
    problem, rng = numbered(y, pairs), np.random.default_rng(1)
    phis = [softened(np.where(rng.random(len(y)) < 0.2, 1 - y, y), 0.9) for _ in range(2)]
    candidates = {name: Given(phi, name) for name, phi in zip("ab", phis, strict=True)}
    choice = Choice(problem, inferred(problem, y, noise), candidates, averaged=True)
    choice.choose()
    tests = [test for _, test in problem.folds]
    for phi in phis:  # as they are predicted: through the line of their fold
        for test in tests:
            phi[test] = calibrated(phi[test], choice.evidence[test])
    return choice, phis


def test_the_mean_is_chosen_where_it_explains_more(fits):
    choice, phis = nearly_equal()
    assert sorted(choice.members) == ["a", "b"]
    assert choice.gains[choice.name] > max(choice.gains["a"], choice.gains["b"])
    items = np.arange(len(phis[0]))
    model = choice.fit(choice.beliefs, items)
    X = choice.problem.X
    assert_allclose(model.predict_proba(X), np.mean(phis, axis=0), atol=1e-12)
    assert_array_equal(model.predict(X), np.mean(phis, axis=0).argmax(axis=1))
    assert len(model.estimators_) == 2


def test_folds_known_from_the_race_are_not_fitted_again(fits):
    choice, phis = nearly_equal()
    assert sorted(fits) == ["a"] * 3 + ["b"] * 3
    fits.clear()
    potential = choice.potential(choice.problem.in_pairs, None)
    assert_allclose(potential(choice.beliefs), np.mean(phis, axis=0), atol=1e-12)
    assert fits == []
    potential(choice.beliefs.copy())  # other beliefs, as far as one can tell
    assert sorted(fits) == ["a"] * 3 + ["b"] * 3
    fits.clear()
    choice.potential(choice.problem.in_pairs.copy(), None)(choice.beliefs)  # other items to learn
    assert sorted(fits) == ["a"] * 3 + ["b"] * 3


def test_a_leader_found_early_is_fitted_on_the_other_folds_only(fits):
    y, pairs, noise = labelled()
    problem = numbered(y, pairs)
    phis = {"good": softened(y, 0.75), "bad": softened(1 - y, 0.75)}
    candidates = {name: Given(phi, name) for name, phi in phis.items()}
    choice = Choice(problem, inferred(problem, y, noise), candidates)
    choice.choose()
    fits.clear()
    wanted, first = phis["good"], problem.folds[0][1]
    wanted[first] = calibrated(wanted[first], choice.evidence[first])
    potential = choice.potential(problem.in_pairs, None)
    assert_allclose(potential(choice.beliefs), wanted, atol=1e-12)
    assert fits == ["good"] * 2


class Clusters(Given, GaussianClasses):
    """Gaussian classes whose potentials are given."""

    def leave_one_out(self, *_):
        return np.array(self.phi)


@pytest.mark.parametrize("right", [0.72, 0.8])
def test_gaussian_classes_need_a_lead_and_are_in_no_mean(right, monkeypatch):
    monkeypatch.setattr("noisypairs.estimators.joint.choice.calibrated", lambda phi, _: phi)
    y, pairs, noise = labelled()
    problem, rng = numbered(y, pairs), np.random.default_rng(1)
    mixed = np.where(rng.random(len(y)) < 0.05, 1 - y, y)
    candidates = {"clusters": Clusters(softened(y, right)), "other": Given(softened(mixed, 0.74))}
    choice = Choice(problem, inferred(problem, y, noise), candidates, averaged=True)
    choice.choose()
    lead = choice.gains["clusters"] - choice.gains["other"]
    assert lead > 1
    assert (lead > 9) == (right == 0.8)
    assert choice.members[0] == ("clusters" if lead > 9 else "other")
    assert lead > 9 or choice.members == ["other"]
    choice = Choice(problem, inferred(problem, y, noise), candidates, clusters=True)
    choice.choose()  # where the start has shown clusters they are trusted
    assert choice.members == ["clusters"]


def test_ridge_of_the_starts_is_used_as_it_is():
    y, pairs, noise = labelled()
    problem = numbered(y, pairs)
    twin = RidgeClasses(random_state=problem.seed)
    assert is_fast(twin, problem)
    assert not is_fast(RidgeClasses(penalty=2.0, random_state=problem.seed), problem)
    assert not is_fast(LogisticRegression(), problem)
    choice = Choice(problem, inferred(problem, y, noise), {"ridge": twin, "g": GaussianClasses()})
    choice.members = ["ridge"]
    potential = choice.potential(problem.in_pairs, None)
    assert_allclose(potential(choice.beliefs), problem.fast_potential(choice.beliefs), atol=1e-9)
