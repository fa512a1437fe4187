"""The recipe "add a noise model": a class defined outside the package is used everywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from noisypairs import (
    JointPairClassifier,
    LossCorrectionClassifier,
    MatrixNoise,
    NoiseModel,
    datasets,
    sample_pairs,
)
from noisypairs.noise import families, family


@dataclass(frozen=True)
class UnequalNoise(NoiseModel, family="unequal"):
    """Pairs inside class 0 are missed at the rate ``miss``; other answers err at ``slip``."""

    miss: float
    slip: float

    def same_probability(self, n_classes=2):
        S = np.where(np.eye(n_classes, dtype=bool), 1 - self.slip, self.slip)
        S[0, 0] = 1 - self.miss
        return S

    @classmethod
    def fit(cls, same_counts, different_counts):
        wrong = np.where(np.eye(len(same_counts), dtype=bool), different_counts, same_counts)
        total = same_counts + different_counts
        miss = (wrong[0, 0] + 1) / (total[0, 0] + 10)
        slip = (wrong.sum() - wrong[0, 0] + 1) / (total.sum() - total[0, 0] + 10)
        return cls(float(miss), float(slip))

    @classmethod
    def from_rates(cls, first, second):
        return cls(first, second)

    @classmethod
    def n_parameters(cls, n_classes):
        return min(2, n_classes)


class ConstantNoise(NoiseModel, family="unequal-constant"):
    """Has no parameters, so nothing can be fitted."""

    def same_probability(self, n_classes=2):
        return np.where(np.eye(n_classes, dtype=bool), 0.8, 0.1)


@pytest.fixture(scope="module")
def problem():
    X, y = datasets.load("gaussians", n_samples=400, prior=0.3, random_state=0)
    return X, y, sample_pairs(y, 3000, UnequalNoise(0.4, 0.1), random_state=0)


def test_the_joint_learner_estimates_it(problem):
    X, y, pairs = problem
    labelled = pairs.with_labels({int(np.flatnonzero(y == k)[0]): k for k in (0, 1)})
    model = JointPairClassifier(n_classes=2, noise="unequal", random_state=0).fit(X, labelled)
    assert model.noise_model_ == "unequal"
    assert model.score(X, y) > 0.95
    # Three standard errors: some 1,400 pairs inside class 0, 1,600 others.
    assert model.noise_.miss == pytest.approx(0.4, abs=0.04)
    assert model.noise_.slip == pytest.approx(0.1, abs=0.025)


@pytest.mark.filterwarnings("ignore::noisypairs.ClassNumberWarning")
def test_without_labels_no_class_can_be_number_zero(problem):
    X, _, pairs = problem
    model = JointPairClassifier(n_classes=2, noise="unequal", class_order="falling", random_state=0)
    with pytest.raises(ValueError, match=r"UnequalNoise with its classes renumbered .* label at"):
        model.fit(X, pairs)


@dataclass(frozen=True)
class OneUnequalNoise(UnequalNoise, family="unequal-one"):
    """The same for any class ``which``, so that renumbering stays in the family."""

    which: int = 0

    def same_probability(self, n_classes=2):
        return super().same_probability(n_classes)[np.ix_(*[self._order(n_classes)] * 2)]

    def _order(self, n_classes):
        order = np.arange(n_classes)
        order[[0, self.which]] = self.which, 0
        return order

    @classmethod
    def fit(cls, same_counts, different_counts):
        missed = np.diag(different_counts) / (np.diag(same_counts + different_counts) + 1)
        which = int(missed.argmax())
        order = cls(0.1, 0.1, which)._order(len(same_counts))
        found = super().fit(*(n[np.ix_(order, order)] for n in (same_counts, different_counts)))
        return cls(found.miss, found.slip, which)

    def permuted(self, order):
        return OneUnequalNoise(self.miss, self.slip, list(order).index(self.which))


@pytest.mark.parametrize("order", ["falling", "rising"])
def test_its_classes_are_renumbered_with_the_items(problem, order):
    """Whatever the numbers of the classes: the pairs missed are those inside the larger one."""
    X, _, pairs = problem
    model = JointPairClassifier(n_classes=2, noise="unequal-one", class_order=order, random_state=0)
    model.fit(X, pairs)
    larger = int(np.argmax(model.item_proba_.mean(axis=0)))
    S = model.noise_.same_probability()
    assert larger == model.noise_.which == (order == "rising")
    assert S[larger, larger] == pytest.approx(0.6, abs=0.04)
    assert S[1 - larger, 1 - larger] == pytest.approx(0.9, abs=0.04)


def test_permuting_leaves_its_family_only_where_it_must():
    noise = UnequalNoise(0.4, 0.1)
    assert noise.permuted([0, 2, 1]) is noise
    swapped = noise.permuted([1, 0])
    assert swapped == MatrixNoise([[0.9, 0.1], [0.1, 0.6]])


def test_point_wise_learners_choose_its_rates(problem):
    X, y, _ = problem
    pairs = sample_pairs(y, 10_000, UnequalNoise(0.1, 0.2), random_state=0)
    model = LossCorrectionClassifier(noise="unequal", class_order="falling", random_state=0)
    model.fit(X, pairs)
    assert isinstance(model.noise_, UnequalNoise)
    assert model.score(X, y) > 0.9


def test_auto_does_not_try_it_unasked():
    assert "unequal" in families()
    assert "unequal" not in families(auto=True)


def test_what_cannot_be_fitted_is_refused_before_any_work(problem):
    X, _, pairs = problem
    reason = "ConstantNoise cannot be fitted to counted answers .* Pass noise= with known"
    with pytest.raises(ValueError, match=f"noise='unequal-constant': {reason}"):
        JointPairClassifier(n_classes=2, noise="unequal-constant").fit(X, pairs)
    with pytest.raises(ValueError, match="ConstantNoise is not given by two rates"):
        LossCorrectionClassifier(noise="unequal-constant").fit(X, pairs)
    with pytest.raises(NotImplementedError, match="ConstantNoise cannot be fitted"):
        ConstantNoise.fit(np.zeros((2, 2)), np.zeros((2, 2)))
    with pytest.raises(NotImplementedError, match="ConstantNoise is not given by two rates"):
        ConstantNoise.from_rates(0.1, 0.1)


def test_what_cannot_be_fitted_can_still_be_given(problem):
    X, y, pairs = problem
    model = JointPairClassifier(
        n_classes=2, noise=ConstantNoise(), class_order="falling", random_state=0
    )
    assert model.fit(X, pairs).score(X, y) > 0.95
    assert ConstantNoise.n_parameters(3) == 6  # by default as many as a free matrix has


@pytest.mark.parametrize("name", ["auto", "given", "pairing"])
def test_a_name_means_one_model(name):
    with pytest.raises(ValueError, match=f"family='{name}' .* choose another name"):
        type("Other", (ConstantNoise,), {}, family=name)


def test_a_model_defined_again_replaces_the_old_one():
    """As when a cell of a notebook runs twice."""
    again = type("UnequalNoise", (UnequalNoise,), {"__module__": __name__}, family="unequal")
    assert family("unequal") is again
