"""One fit of the joint learner as a problem: graph, folds, known labels, fixed features or none."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from noisypairs.algebra import Array
from noisypairs.estimators.base import known_classes, label_names, match_labels
from noisypairs.estimators.inner.features import KernelColumns, finite_numbers
from noisypairs.estimators.inner.front import PreparedItems
from noisypairs.estimators.inner.gaussian import GaussianClasses
from noisypairs.estimators.joint.beliefs import starts
from noisypairs.estimators.joint.beliefs.alignment import Alignment
from noisypairs.estimators.joint.beliefs.potentials import EstimatorPotential, RidgePotential
from noisypairs.inference import em
from noisypairs.inference.graph import PairGraph
from noisypairs.pairs import Answers, Pairs

#: Pairs whose potentials are looked up at once.
BLOCK = 1 << 13


class JointProblem:
    """What every stage of one fit needs: the graph, folds, known labels and fixed features.

    Without features, ``X=None``, the answers alone tell the classes, and no folds are needed.
    """

    def __init__(
        self,
        X: Any,
        pairs: Pairs,
        n_classes: list[int],
        cv: int | Literal["auto"],
        random_state: Any,
    ) -> None:
        self.X, self.all_pairs, self.pairs = X, pairs, pairs.without_self_pairs()
        self.n_classes, self.cv = n_classes, n_folds(pairs.n_items) if cv == "auto" else cv
        self.random_state = check_random_state(random_state)
        self.seed = 0 if X is None else int(self.random_state.randint(2**31 - 1))
        self.graph = PairGraph.from_pairs(pairs)
        self.in_pairs: NDArray[np.bool_] = pairs.item_counts().total > 0
        self.sampled = sampled_items(pairs, self.in_pairs)
        self.names = label_names(pairs, min(n_classes), every=False)
        self.clamp = None if self.names is None else known_classes(pairs, self.names)
        self.share = float(np.average(self.pairs.same, weights=self.pairs.weight))
        self.Z: Array | None = None
        self.numbers: Any = None
        self.fast_potential: em.Potential = em.class_shares
        if X is not None:
            self._add_features(X)

    def _add_features(self, X: Any) -> None:
        """Set folds by item, and fixed features with their potential where X is numeric."""
        splitter = KFold(self.cv, shuffle=True, random_state=self.seed)
        self.folds = list(splitter.split(np.arange(self.pairs.n_items)))
        self.items = PreparedItems(X)
        self.numbers = numbers = finite_numbers(X)
        if numbers is not None:
            columns = Pipeline([("columns", KernelColumns(random_state=self.seed))])
            prepared = self.items if numbers is X else PreparedItems(numbers)
            self.Z = np.asarray(prepared.through(columns)[1])
        if self.Z is not None:
            self.fast_potential = RidgePotential(self.Z, self.folds, self.in_pairs.astype(float))

    @cached_property
    def alignment(self) -> Alignment | None:
        """How far the answers follow the features, made once for every number of classes."""
        return None if self.Z is None else Alignment(self.Z, self.pairs)

    @property
    def blind_log_likelihood(self) -> float:
        """Log-likelihood of the answers when nothing is known but the share of "same"."""
        weight = self.pairs.weight
        total = self.pairs.n_pairs if weight is None else float(weight.sum())
        p = min(max(self.share, 1e-12), 1 - 1e-12)
        return total * float(p * np.log(p) + (1 - p) * np.log1p(-p))

    def gain(self, found: em.Inference) -> float:
        """Return by how many nats the answers are explained better than blindly (Bethe)."""
        return found.log_likelihood - self.blind_log_likelihood

    def predicted_gain(self, potential: Array) -> float:
        """Return by how many nats P(class | x) alone predicts the answers better than blindly.

        ½ n log 1/(1 − r²) with r, if positive, the correlation between the answers and
        P(same class | x, x'): that of the best rates, where signals are weak. The potentials are
        out of fold, so agreeing with oneself does not help.
        """
        if self.Z is None:
            return 0.0
        pairs = self.pairs
        alike = _products(potential, pairs)
        moments = np.cov(alike, pairs.same, aweights=pairs.weight)
        variance = float(moments[0, 0] * moments[1, 1])
        if variance <= 1e-12 or moments[0, 1] <= 0:
            return 0.0
        return -0.5 * pairs.n_pairs * float(np.log1p(-min(moments[0, 1] ** 2 / variance, 0.999)))

    def shuffled(self) -> JointProblem:
        """Return the same problem with the answers permuted among the pairs."""
        order = self.random_state.permutation(self.pairs.n_pairs)
        pairs = self.pairs
        permuted = Pairs(pairs.left, pairs.right, pairs.same[order], n_items=pairs.n_items)
        if pairs.weight is not None:
            permuted = permuted.reweighted(pairs.weight[order])
        return JointProblem(self.X, permuted, self.n_classes, self.cv, self.random_state)

    def with_pairs(self, pairs: Pairs) -> JointProblem:
        """Return the problem with other pairs of the same items: folds and features are kept."""
        other = copy(self)
        vars(other).pop("alignment", None)
        other.all_pairs, other.pairs = pairs, pairs.without_self_pairs()
        other.graph = PairGraph.from_pairs(pairs)
        other.in_pairs = pairs.item_counts().total > 0
        other.sampled = sampled_items(pairs, other.in_pairs)
        other.share = float(np.average(other.pairs.same, weights=other.pairs.weight))
        if self.Z is not None:
            weight = other.in_pairs.astype(float)
            other.fast_potential = RidgePotential(self.Z, self.folds, weight)
        return other

    @property
    def has_gaussian(self) -> bool:
        """Whether the features allow for Gaussian classes: numbers, and not sparse."""
        return self.numbers is not None and not issparse(self.numbers)

    def potential_of(self, start: str) -> em.Potential:
        """Return what learns P(class | x) in the rounds of the start of this name.

        Clusters of the features suit a model of the features themselves, `GaussianClasses`; all
        other starts a discriminative one.
        """
        if not is_gaussian(start):
            return self.fast_potential
        items = self.items if self.numbers is self.X else PreparedItems(self.numbers)
        return EstimatorPotential(GaussianClasses(), items, self.folds, self.in_pairs)

    def guesses(
        self,
        kinds: tuple[str, ...],
        n_classes: int,
        n_random: int,
        shares: tuple[float, ...] | None = None,
    ) -> dict[str, Array]:
        """Return the starting guesses, columns matched to the known labels where there are any.

        ``shares`` are those of features in Gaussian starts, if not all are wanted.
        """
        found = starts.guesses(
            kinds,
            self.Z,
            self.pairs,
            self.graph,
            n_classes,
            n_random,
            self.random_state,
            self.alignment if "aligned" in kinds else None,
            self.numbers if self.has_gaussian else None,
            shares,
        )
        if self.names is None:
            return found
        return {
            name: guess[:, match_labels(guess, self.pairs, self.names)]
            for name, guess in found.items()
        }


def _products(potential: Array, pairs: Pairs) -> Array:
    """Return Σ_k φ_k(x) φ_k(x') of every pair, (n_pairs,), a block at a time."""
    found = np.empty(pairs.n_pairs)
    for first in range(0, pairs.n_pairs, BLOCK):
        rows = slice(first, first + BLOCK)
        ends = potential[pairs.left[rows]], potential[pairs.right[rows]]
        np.einsum("nk,nk->n", *ends, out=found[rows])
    return found


def is_gaussian(start: str) -> bool:
    """Return whether the rounds of the start of this name have Gaussian classes."""
    return start.startswith("gaussian")


def sampled_items(pairs: Answers, in_pairs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which items stand for all of them: those in pairs, (n_items,), drawn at random.

    Chosen pairs are about doubtful items, which show the classes' shares no more than their share
    of "same" does. Where no pair was drawn at random, all items must do.
    """
    if not isinstance(pairs, Pairs) or pairs.chosen is None:
        return in_pairs
    sampled: NDArray[np.bool_] = pairs.drawn_at_random().item_counts().total > 0
    return sampled if sampled.any() else np.ones_like(sampled)


def n_folds(n_items: int) -> int:
    """Return how many folds leave enough items to learn from: the fewer, the more items there are.

    >>> [n_folds(n) for n in (500, 5_000, 50_000)]
    [5, 3, 2]
    """
    return 5 if n_items < 2_000 else 3 if n_items < 20_000 else 2


def any_order(S: Array) -> bool:
    """Return whether exchanging classes leaves S as it is, as pairing noise does."""
    off = S[~np.eye(len(S), dtype=bool)]
    return bool(np.ptp(np.diag(S)) < 1e-12 and np.ptp(off) < 1e-12)


def reordered(found: em.Inference, order: NDArray[np.intp]) -> em.Inference:
    """Return the inference with its classes in another order.

    Of 2K states the clear and the hard ones are put in that order each.
    """
    n_states = found.beliefs.item.shape[1]
    states = np.concatenate([order + first for first in range(0, n_states, len(order))])
    return replace(
        found,
        beliefs=found.beliefs.reordered(states),
        potential=found.potential[:, states],
        noise=found.noise.permuted(order),
        matrices=found.matrices[..., states, :][..., states],
    )
