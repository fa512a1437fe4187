"""Which pairs to ask next: a batch that teaches most under the noise model, and some at random.

Chosen pairs teach more, but their answers are no sample of all pairs: how many of them are "same"
says nothing about the classes' shares, and how often they agree with a prediction nothing about its
accuracy. So a share of every batch is drawn at random, and each pair says which kind it is
(``chosen``), for `Pairs(..., chosen=...)`.

An answer is worth, in bits, before it is given: the answer a about items i and j, believed to be of
classes y and y' with P(y) P(y'), brings

    gain(i, j) = ½ I(a; y, y') + ½ (I(a; y) + I(a; y')).

The first half counts what it says about the two classes together: two unknown items that are tied
become known at once when one of them does. The second half counts what it says about each of them
now. Both are largest where "same" and "different" are about equally likely, so that among many
classes the pairs asked about are those that are likely to be the same.

Answers in one batch repeat each other where they share an item. So for each item of a pair that is
taken, the beliefs that it may have once the answer is there are kept, with their chances, and all
of its other pairs are weighed by the mean over these.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import scale
from sklearn.utils.validation import check_is_fitted

from noisypairs.algebra import Array, noise_matrix
from noisypairs.estimators.inner.features import finite_numbers
from noisypairs.graph.information import (
    binary_entropy,
    independent_laws,
    pair_information,
)
from noisypairs.noise import NoiseModel, RandomState
from noisypairs.pairs.counts import pair_ends, pair_keys
from noisypairs.sampling import random_pairs

Positions = NDArray[np.intp]

#: Share of a batch that is drawn at random.
RANDOM_SHARE = 0.2
#: All pairs of so many items are weighed, of more items those of a sample: half of it the doubtful
#: ones. It grows with the batch up to the second number.
FEW_ITEMS, MOST_ITEMS = 1_000, 3_000
#: No item is in more than so many times its fair share of the pairs.
FAIR_SHARES = 3
#: Before there is a model: how many nearest items one may be compared with.
N_NEAREST = 3

#: Possible beliefs kept for an item at most; of more, so many are drawn by their chances.
MOST_BELIEFS = 8


@dataclass(frozen=True)
class NextPairs:
    """Pairs to ask, each array of shape (n,): best first, those drawn at random spread among them.

    ``chosen`` says which were chosen and not drawn at random; ``information`` is I(answer; y, y'),
    the bits that an answer is expected to tell about the two classes.
    """

    left: Positions
    right: Positions
    chosen: NDArray[np.bool_]
    information: Array

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, rows: NDArray[np.generic] | slice) -> NextPairs:
        return NextPairs(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


class NextPairsMixin:
    """The loop of a learner with ``item_proba_`` and ``noise_``: answers in, next pairs out."""

    if TYPE_CHECKING:
        item_proba_: Array
        noise_: NoiseModel
        asked_: NDArray[np.intp] | None

    def next_pairs(
        self, n: int, *, random_share: float = RANDOM_SHARE, random_state: RandomState = None
    ) -> NextPairs:
        """Return ``n`` pairs of training items to ask next, none that was asked before.

        They are chosen as one batch by what their answers are expected to tell under the fitted
        noise, but for ``random_share`` of them, which are drawn at random: see `choose_pairs`.
        Then fit again with the answers (`Pairs.with_answers`); ``warm_start=True`` makes that fast.

        >>> from noisypairs import JointPairClassifier, PairingNoise, datasets, sample_pairs
        >>> X, y = datasets.load("gaussians", n_samples=200, random_state=0)
        >>> pairs = sample_pairs(y, 300, PairingNoise(0.1, 0.1), random_state=0)
        >>> clf = JointPairClassifier(class_order="rising", warm_start=True, random_state=0)
        >>> ask = clf.fit(X, pairs).next_pairs(10, random_state=0)
        >>> len(ask), int(ask.chosen.sum())
        (10, 8)
        >>> answers = y[ask.left] == y[ask.right]
        >>> more = pairs.with_answers(ask.left, ask.right, answers, chosen=ask.chosen)
        >>> clf.fit(X, more).start_
        'last fit'
        """
        check_is_fitted(self, "item_proba_")
        S = self.noise_.same_probability(self.item_proba_.shape[1])
        return choose_pairs(
            self.item_proba_,
            S,
            n,
            asked=self.asked_,
            random_share=random_share,
            random_state=random_state,
        )


def choose_pairs(
    belief: ArrayLike,
    same: ArrayLike,
    n: int,
    *,
    asked: ArrayLike | None = None,
    random_share: float = RANDOM_SHARE,
    random_state: RandomState = None,
) -> NextPairs:
    """Return ``n`` pairs never asked before, by what their answers are expected to tell together.

    - ``belief`` (n_items, K): P(class | everything known); ``same``: S, shape (K, K).
    - ``asked``: positions (left, right), (2, m), of the pairs asked already, in any order.
    - ``random_share`` of them, rounded, are drawn at random from the pairs never asked; the others
      are taken one by one, each the best beside those before it (see `Gains`).

    Fewer come back where fewer have not been asked.

    >>> S = np.array([[0.9, 0.2], [0.2, 0.9]])
    >>> belief = np.array([[0.99, 0.01], [0.02, 0.98], [0.01, 0.99], [0.5, 0.5]])
    >>> found = choose_pairs(belief, S, 1, random_share=0.0)
    >>> sorted([int(found.left[0]), int(found.right[0])])  # the doubtful item with the surest one
    [0, 3]
    """
    P, S = np.asarray(belief, dtype=float), np.asarray(same, dtype=float)
    _check(n, random_share)
    if P.ndim != 2 or P.shape[1:] != S.shape[:1]:
        raise ValueError(f"belief has shape {P.shape}, expected (n_items, {len(S)}) as S is K×K")
    rng = np.random.default_rng(random_state)
    n_items = len(P)
    old = _asked_keys(asked, n_items)
    drawn = unasked_pairs(n_items, round(random_share * n), old, rng)
    old = np.union1d(old, drawn)
    left, right = _best(P, S, n - len(drawn), old, rng)
    more = pair_ends(drawn, n_items)
    left, right = np.concatenate([left, more[0]]), np.concatenate([right, more[1]])
    bits = pair_information(independent_laws(P[left], P[right]), S)
    return _spread(NextPairs(left, right, np.arange(len(left)) < len(left) - len(drawn), bits))


def first_pairs(
    X: Any,
    n: int,
    *,
    asked: ArrayLike | None = None,
    near_share: float = 0.5,
    random_state: RandomState = None,
) -> NextPairs:
    """Return ``n`` pairs to begin with, before there is any answer: some near, some at random.

    ``near_share`` of them pair an item with one of its nearest in X, (n_items, d), standardised:
    among many classes hardly any random pair is "same", and answers that are all alike teach
    nothing. All are drawn at random where X is not numeric. Where the first answers show no classes
    yet, ask more: ``asked`` are the pairs to leave out. ``information`` is not known: NaN.

    >>> found = first_pairs(np.array([[0.0], [0.1], [5.0], [5.1]]), 4, random_state=0)
    >>> found.chosen.sum(), len(set(zip(found.left.tolist(), found.right.tolist())))
    (np.int64(2), 4)
    """
    _check(n, near_share)
    rng = np.random.default_rng(random_state)
    numbers = finite_numbers(X)
    n_items = X.shape[0] if hasattr(X, "shape") else len(X)
    old = _asked_keys(asked, n_items)
    near = np.empty(0, dtype=np.int64)
    if numbers is not None and n_items > 2:
        near = _near_pairs(numbers, old, rng)[: round(near_share * n)]
    drawn = unasked_pairs(n_items, n - len(near), np.union1d(old, near), rng)
    left, right = pair_ends(np.concatenate([near, drawn]), n_items)
    chosen = np.arange(len(left)) < len(near)
    return _spread(NextPairs(left, right, chosen, np.full(len(left), np.nan)))


def unasked_pairs(
    n_items: int, n: int, asked: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return keys of ``n`` pairs drawn uniformly from those whose keys are not in ``asked``."""
    n = min(n, n_items * (n_items - 1) // 2 - len(asked))
    if n_items <= FEW_ITEMS:
        left, right = np.triu_indices(n_items, 1)
        return rng.choice(np.setdiff1d(pair_keys(left, right, n_items), asked), n, replace=False)
    found = np.empty(0, dtype=np.int64)
    while len(found) < n:
        more = pair_keys(*random_pairs(n_items, 2 * n, rng), n_items)
        new = np.concatenate([found, more[~np.isin(more, asked)]])
        found = new[np.sort(np.unique(new, return_index=True)[1])][:n]
    return found


def _check(n: int, share: float) -> None:
    if not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n={n!r}: expected at least one pair to ask, a whole number")
    if not 0 <= share <= 1:
        raise ValueError(f"a share of {share} of the pairs: expected a number in [0, 1]")


def _spread(found: NextPairs) -> NextPairs:
    """Return the pairs with those drawn at random among the others, evenly: any part has some."""
    place = np.empty(len(found))
    for kind in (found.chosen, ~found.chosen):
        place[kind] = (np.arange(kind.sum()) + 0.5) / max(kind.sum(), 1)
    return found[np.argsort(place, kind="stable")]


def _asked_keys(asked: ArrayLike | None, n_items: int) -> NDArray[np.int64]:
    """Return the keys of the distinct pairs of two items."""
    left, right = np.empty((2, 0), dtype=np.intp) if asked is None else np.asarray(asked)
    proper = left != right
    return np.unique(pair_keys(left[proper], right[proper], n_items))


def _best(
    P: Array, S: Array, n: int, asked: NDArray[np.int64], rng: np.random.Generator
) -> tuple[Positions, Positions]:
    """Take pairs one by one, the best first, where both items have room (`_room`)."""
    items = _weighed(P, n, rng)
    gains, room = Gains(P[items], S), _room(len(P), n, asked)[items]
    place = np.full(len(P), -1)
    place[items] = np.arange(len(items))
    ends = np.array([place[end] for end in pair_ends(asked, len(P))])
    gains.close(*ends[:, (ends >= 0).all(axis=0)])
    most = np.where(room > 0, gains.values.max(axis=1), -np.inf)
    taken: list[tuple[int, int]] = []
    while len(taken) < n:
        i = int(most.argmax())
        row = np.where(room > 0, gains.values[i], -np.inf)
        j = int(row.argmax())
        if most[i] == -np.inf:
            if gains.values.max() == -np.inf:
                break  # every pair was asked
            room += 1  # where the items are few, everybody gets one place more
            most = np.where(room > 0, gains.values.max(axis=1), -np.inf)
        elif row[j] < most[i]:
            most[i] = row[j]  # gains only fall: an old maximum is a bound
        else:
            taken.append((i, j))
            gains.take(i, j, rng)
            room[[i, j]] -= 1
            most[[i, j]] = np.where(room[[i, j]] > 0, gains.values[[i, j]].max(axis=1), -np.inf)
    chosen = items[np.array(taken, dtype=np.intp).reshape(-1, 2)]
    return chosen[:, 0], chosen[:, 1]


def _room(n_items: int, n: int, asked: NDArray[np.int64]) -> Positions:
    """Return in how many more pairs each item may be, shape (n_items,).

    The surest item would be the best partner of every doubtful one, and an item that nobody can
    judge would be asked about for ever. No item gets more than `FAIR_SHARES` times the mean, of
    this batch and of all that was asked.
    """
    times = np.bincount(np.concatenate(pair_ends(asked, n_items)), minlength=n_items)
    in_batch = max(FAIR_SHARES - 1, np.ceil(FAIR_SHARES * 2 * n / n_items))
    in_all = np.ceil(FAIR_SHARES * (2 * n / n_items + times.mean())) - times
    room: Positions = np.clip(in_all, 0, in_batch).astype(np.intp)
    return room


def _weighed(P: Array, n: int, rng: np.random.Generator) -> Positions:
    """Return the items whose pairs are weighed: all, or half by their doubt and half at random."""
    size = min(len(P), max(FEW_ITEMS, min(n, MOST_ITEMS)))
    if size == len(P):
        return np.arange(len(P))
    doubt = entr(P).sum(axis=1) + 1e-6
    doubtful = rng.choice(len(P), size // 2, replace=False, p=doubt / doubt.sum())
    others = rng.permutation(np.setdiff1d(np.arange(len(P)), doubtful))[: size - len(doubtful)]
    return np.sort(np.concatenate([doubtful, others]))


def _near_pairs(X: Array, asked: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return keys of the pairs of an item and one of its nearest, not asked yet, in any order."""
    n_nearest = min(N_NEAREST, len(X) - 1)
    standard = scale(X) if not hasattr(X, "tocsr") else scale(X, with_mean=False)
    found = NearestNeighbors(n_neighbors=n_nearest + 1).fit(standard).kneighbors(standard)[1]
    item = np.repeat(np.arange(len(X)), n_nearest)
    # An item comes first among its own nearest, unless others are equal to it.
    other = np.array([row[row != i][:n_nearest] for i, row in enumerate(found)]).ravel()
    return rng.permutation(np.setdiff1d(pair_keys(item, other, len(X)), asked))


class Gains:
    """Expected gains of all pairs of m items, ``values`` (m, m), −inf where a pair is closed.

    ``belief`` (m, K), ``same`` is S, shape (K, K).

    >>> S = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> gains = Gains(np.array([[0.5, 0.5], [1.0, 0.0], [1.0, 0.0]]), S)
    >>> gains.values.round(3).tolist()  # of an unknown and a known item: 1 − h(.1), and nothing
    [[-inf, 0.531, 0.531], [0.531, -inf, 0.0], [0.531, 0.0, -inf]]
    >>> gains.take(0, 1, np.random.default_rng(0))
    >>> gains.values.round(3).tolist()[0]  # less is left to be said about item 0
    [-inf, -inf, 0.211]
    """

    def __init__(self, belief: Array, same: Array) -> None:
        self.belief, self.same = belief, noise_matrix(same)
        self.yes: Array = belief @ self.same  # P("same" | class of the other item), (m, K)
        self.doubt = binary_entropy(self.yes)
        self.noise: Array = belief @ binary_entropy(self.same)
        self.possible = [(np.ones(1), row[None, :]) for row in belief]
        self.values = self._gain(belief)
        np.fill_diagonal(self.values, -np.inf)

    def _gain(self, belief: Array) -> Array:
        """Return the gains of pairs of such beliefs, (s, K), with all items, shape (s, m)."""
        chance = np.clip(belief @ self.yes.T, 0.0, 1.0)
        entropy = binary_entropy(chance)
        together = entropy - belief @ self.noise.T
        own = entropy - belief @ self.doubt.T
        other = entropy - binary_entropy(belief @ self.same) @ self.belief.T
        gain: Array = (together + own + other) / 2
        return gain

    def close(self, left: Any, right: Any) -> None:
        """Never take these pairs."""
        self.values[left, right] = self.values[right, left] = -np.inf

    def take(self, i: int, j: int, rng: np.random.Generator) -> None:
        """Count on an answer about items i and j: close the pair, weigh their others again."""
        self.close(i, j)
        for item, other in ((i, j), (j, i)):
            chance, belief = self.possible[item]
            after = np.concatenate([belief * self.yes[other], belief * (1.0 - self.yes[other])])
            total = after.sum(axis=1)
            kept = np.flatnonzero(total > 0)
            chance = (np.tile(chance, 2) * total)[kept]
            after = after[kept] / total[kept, None]
            if len(after) > MOST_BELIEFS:
                after = after[rng.choice(len(after), MOST_BELIEFS, p=chance / chance.sum())]
                chance = np.full(MOST_BELIEFS, 1.0 / MOST_BELIEFS)
            self.possible[item] = chance, after
            # The pair is worth no more than what either of its items leaves of it.
            row = np.minimum(self.values[item], chance @ self._gain(after))
            self.values[item], self.values[:, item] = row, row
