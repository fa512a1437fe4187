"""Kinds: what people tell apart may be finer than the classes one wants, and is named afterwards.

Pairs never name classes, so somebody has to name the groups anyway. With ``n_kinds`` the joint
learner infers kinds instead of classes, as many as predict answers about held-out items best; a few
names, of kinds or of items, then turn kinds into classes (`KindNames`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.utils.validation import check_is_fitted

from noisypairs.algebra import Array, class_prior
from noisypairs.assess.words import N_SHOWN
from noisypairs.errors import ClassNamesWarning, warn_user
from noisypairs.estimators.inner.features import finite_numbers

#: Numbers of kinds to choose from where nothing is said, besides smaller ones that were asked for.
AUTOMATIC = (3, 4, 5, 6, 8, 10, 12)


@dataclass(frozen=True)
class Kind:
    """One kind: its share of the items, its name, and items to look at.

    ``typical`` are those that answers and features agree on most, ``doubtful`` those of this kind
    that are nearest to another one. Positions of items, best first.
    """

    number: int
    share: float
    name: Hashable | None
    typical: tuple[int, ...]
    doubtful: tuple[int, ...]


def kind_numbers(n_kinds: int | Sequence[int] | Literal["auto"], n_labels: int) -> list[int]:
    """Return the numbers of kinds in question, rising: no fewer than there are labels.

    >>> kind_numbers(5, 0), kind_numbers("auto", 4), kind_numbers([8, 4], 0)
    ([5], [4, 5, 6, 8, 10, 12], [4, 8])
    """
    if isinstance(n_kinds, str):
        if n_kinds != "auto":
            raise ValueError(f"n_kinds={n_kinds!r}: expected an int, several, or 'auto'")
        numbers: Sequence[int] = AUTOMATIC
    else:
        numbers = [n_kinds] if isinstance(n_kinds, int | np.integer) else list(n_kinds)
    found = sorted({int(number) for number in numbers if number >= n_labels})
    if not found or found[0] < 2:
        least = max(2, n_labels)
        raise ValueError(f"n_kinds={n_kinds!r}: n_kinds must be {least} or more")
    return found


class KindNames:
    """What a learner of kinds can do: show them, and be told their names."""

    n_kinds: Any
    classes_: NDArray[Any]
    names_known_: bool
    item_proba_: Array
    oof_proba_: Array
    item_kinds_: Array | None  # P(kind | everything), (n_items, Q); None without kinds
    oof_kinds_: Array | None  # out-of-fold P(kind | x), (n_items, Q)
    kind_class_: NDArray[np.intp] | None = None  # position of every kind's class in classes_
    kind_shares_: Array  # of the items in pairs, (Q,)
    prior_: Any
    kind_names_: dict[int, Hashable]
    kind_means_: Array | None

    def kinds(self, n_items: int = N_SHOWN) -> list[Kind]:
        """Return all kinds, with items to look at before naming them."""
        beliefs = self._beliefs_or_error()
        agreed = beliefs * np.asarray(self.oof_kinds_)
        second = np.sort(beliefs, axis=1)[:, -2]
        found = []
        for number in range(beliefs.shape[1]):
            own = np.flatnonzero(beliefs.argmax(axis=1) == number)
            typical = np.argsort(-agreed[:, number], kind="stable")[:n_items]
            doubtful = own[np.argsort(-second[own], kind="stable")][:n_items]
            share, name = float(beliefs[:, number].mean()), self.kind_names_.get(number)
            shown = tuple(map(int, typical)), tuple(map(int, doubtful))
            found.append(Kind(number, share, name, *shown))
        return found

    def name_kinds(self, names: Mapping[int, Hashable]) -> Self:
        """Give kinds the names of classes, {kind: class}; several kinds may have one name.

        `predict` then gives classes. Kinds without a name are classes of their own, ``group 3``.
        """
        n_kinds = self._n_kinds_or_error()
        for kind in names:
            if kind not in range(n_kinds):
                raise ValueError(f"there is no kind {kind!r}: kinds are 0 to {n_kinds - 1}")
        if len(names) == n_kinds and len(set(names.values())) == 1:
            raise ValueError(
                f"all kinds have the name {next(iter(names.values()))!r}: give two or more names"
            )
        self.kind_names_ = dict(names)
        missing = [kind for kind in range(n_kinds) if kind not in names]
        if missing and names:
            warn_user(
                f"no name is given for kind {', '.join(map(str, missing))}: they stay classes of "
                "their own. Look at their typical items with kinds(), and name them, too",
                ClassNamesWarning,
            )
        called = [
            names.get(kind, f"group {kind + 1}" if names else kind) for kind in range(n_kinds)
        ]
        if len({type(name) for name in called}) > 1:
            called = [str(name) for name in called]
        self.classes_, self.kind_class_ = np.unique(np.array(called), return_inverse=True)
        self.names_known_ = bool(names)
        shares = np.bincount(self.kind_class_, weights=self.kind_shares_)
        self.prior_ = float(shares[1]) if len(shares) == 2 else shares
        if self.item_kinds_ is not None and self.oof_kinds_ is not None:
            self.item_proba_ = self._of_classes(self.item_kinds_)
            self.oof_proba_ = self._of_classes(self.oof_kinds_)
        return self

    def join_kinds(self, n_classes: int) -> Self:
        """Join kinds whose items look alike until so many classes are left; a guess, not a name.

        Ward's rule on the means of the kinds' features, weighted by their sizes. What people call
        "same" plays no part in it: that is how the kinds came about.
        """
        beliefs, means = self._beliefs_or_error(), self.kind_means_
        if means is None:
            raise ValueError("kinds can be joined only where the features are numbers: name them")
        if not 2 <= n_classes <= beliefs.shape[1]:
            raise ValueError(
                f"n_classes={n_classes!r}: expected 2 to {beliefs.shape[1]}, the kinds"
            )
        # Ward's rule counts points: a kind stands there as often as it has items, at least once.
        size = np.maximum(np.round(beliefs.sum(axis=0)), 1).astype(int)
        group = fcluster(linkage(np.repeat(means, size, axis=0), "ward"), n_classes, "maxclust")
        first = np.cumsum(size) - size
        return self.name_kinds({k: int(group[start]) - 1 for k, start in enumerate(first)})

    def _fitted_beliefs(self, given: Any) -> tuple[Array, Array]:
        """Return beliefs and out-of-fold P(· | x) as fitted, of kinds or classes, in this order."""
        found = self.item_kinds_, self.oof_kinds_
        if self.kind_class_ is None:
            found = self.item_proba_, self.oof_proba_
        return given.reordered_items(found[0]), given.reordered_items(found[1])

    def _n_kinds_or_error(self) -> int:
        check_is_fitted(self)
        if self.kind_class_ is None:  # classes are named as kinds are
            self.kind_class_ = np.arange(len(self.classes_))
            self.kind_shares_ = class_prior(self.prior_, len(self.classes_))
            self.kind_names_, self.kind_means_ = {}, None
            self.item_kinds_ = getattr(self, "item_proba_", None)
            self.oof_kinds_ = getattr(self, "oof_proba_", None)
        return len(self.kind_class_)

    def _beliefs_or_error(self) -> Array:
        self._n_kinds_or_error()
        if self.item_kinds_ is None:
            raise ValueError("the model was read from a file, which keeps nothing of its items")
        return self.item_kinds_

    def _of_classes(self, proba: Array) -> Array:
        """Return P(class), (n, K), from P(kind), (n, Q); as it is where there are no kinds."""
        if self.kind_class_ is None:
            return proba
        classes = np.zeros((len(proba), len(self.classes_)))
        np.add.at(classes.T, self.kind_class_, proba.T)
        return classes

    def _store_kinds(self, X: Any, labels: Mapping[int, Hashable]) -> None:
        """Take what was fitted for kinds, not classes; labels of items name their kinds."""
        self.item_kinds_, self.oof_kinds_ = self.item_proba_, self.oof_proba_
        self.kind_shares_ = class_prior(self.prior_, self.item_proba_.shape[1])
        self.kind_class_ = np.arange(len(self.kind_shares_))
        numbers, beliefs = finite_numbers(X), self.item_proba_
        self.kind_means_ = None
        if numbers is not None and not hasattr(numbers, "toarray"):
            total = np.maximum(beliefs.sum(axis=0), 1e-12)[:, None]
            columns = np.asarray(numbers, dtype=np.float64)
            means = beliefs.T @ columns / total
            within = (
                columns.var(axis=0) - beliefs.mean(axis=0) @ (means - columns.mean(axis=0)) ** 2
            )
            self.kind_means_ = means / np.sqrt(np.maximum(within, 1e-12))
        self.name_kinds(kind_votes(beliefs, labels))


def kind_votes(beliefs: Array, labels: Mapping[int, Hashable]) -> dict[int, Hashable]:
    """Return the name that labels {item: name} give to kinds, by beliefs (n_items, Q) of ½ or more.

    >>> kind_votes(np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]), {0: "a", 1: "b", 2: "c"})
    {0: 'a', 1: 'b'}
    """
    votes: dict[int, dict[Hashable, float]] = {}
    for item, label in labels.items():
        for kind in np.flatnonzero(beliefs[item] >= 0.5).tolist():
            own = votes.setdefault(kind, {})
            own[label] = own.get(label, 0.0) + float(beliefs[item, kind])
    return {kind: max(own, key=lambda name: own[name]) for kind, own in votes.items()}
