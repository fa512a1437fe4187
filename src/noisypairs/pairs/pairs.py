"""Pairs: who was compared with whom, the answer, by whom; the only gatekeeper of input.

Pairs are a graph on the items. Indexing takes items, not pairs, and gives the sub-graph on them, so
that scikit-learn's own splitters keep training and test items apart.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.pairs import answers
from noisypairs.pairs.audit import Audit, audit_pairs
from noisypairs.pairs.columns import (
    check_amounts,
    check_annotators,
    check_couples,
    check_index,
    check_labels,
    check_lengths,
    check_n_items,
    check_positions,
    check_weight,
    number_items,
    read_columns,
)

logger = logging.getLogger(__name__)

IntArray = NDArray[np.integer[Any]]
Labels = Mapping[int, Hashable]


@dataclass(frozen=True, init=False, eq=False, repr=False, slots=True)
class Pairs:
    """Noisy answers to "are these two the same class?" about items at positions 0 … n_items−1.

    Parameters
    ----------
    left, right : positions into the items table, shape (n_pairs,)
        The order of the two does not matter. Self pairs are kept: they say nothing about classes
        but something about noise (see `without_self_pairs`).
    same : bool, 0/1, ±1 or words such as "same"/"different", shape (n_pairs,)
        Stored as bool, True for "same".
    n_items : number of items; by default the largest position + 1
    annotator : who answered, any ids, shape (n_pairs,)
        Stored as codes into `annotator_names`, which are sorted.
    weight : positive finite numbers, shape (n_pairs,)
        A pair of weight 2 counts as two equal answers. Zero is refused: `select` drops pairs.
    labels : the few known classes, {item position: class}

    Also kept: `item_ids`, the ids behind the positions when `from_frame` made them (else None), and
    `dropped`, how many rows `from_frame` left out and why. A pair costs 9 bytes, 17 with annotator
    and weight. All arrays are read-only.

    >>> pairs = Pairs([0, 1, 0], [1, 2, 3], ["same", "different", "same"])
    >>> pairs
    Pairs(n_items=4, n_pairs=3, same=2, different=1)
    >>> pairs[[3, 0]].left, pairs[[3, 0]].right
    (array([1], dtype=int32), array([0], dtype=int32))
    """

    left: IntArray
    right: IntArray
    same: NDArray[np.bool_]
    n_items: int
    annotator: NDArray[np.int32] | None
    annotator_names: NDArray[Any] | None
    weight: NDArray[np.float32] | None
    labels: Labels
    item_ids: NDArray[Any] | None
    dropped: Mapping[str, int]

    def __init__(
        self,
        left: ArrayLike,
        right: ArrayLike,
        same: ArrayLike,
        n_items: int | None = None,
        annotator: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        labels: Labels | None = None,
    ) -> None:
        first, second = check_positions(left, "left"), check_positions(right, "right")
        answered = answers.parse(same).same
        size = check_n_items(first, second, n_items)
        dtype = np.int32 if size <= 2**31 else np.int64
        check_lengths(first.size, right=second, same=answered)
        codes, names = check_annotators(annotator, first.size)
        self._store(
            left=first.astype(dtype),
            right=second.astype(dtype),
            same=answered,
            n_items=size,
            annotator=codes,
            annotator_names=names,
            weight=check_weight(weight, first.size),
            labels=check_labels(labels, size),
            item_ids=None,
            dropped={},
        )

    def _store(self, **values: Any) -> Self:
        """Set every field, arrays and mappings made read-only: the one place that writes."""
        for field in fields(self):
            value = values[field.name]
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            elif isinstance(value, Mapping):
                value = MappingProxyType(dict(value))
            object.__setattr__(self, field.name, value)
        return self

    def _state(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _replace(self, **changes: Any) -> Pairs:
        """Return a copy with some fields changed, already valid; unchanged arrays are shared."""
        return Pairs.__new__(Pairs)._store(**(self._state() | changes))

    @property
    def n_pairs(self) -> int:
        """Number of answers, repeats and self pairs included."""
        return int(self.left.size)

    @property
    def shape(self) -> tuple[int]:
        """(n_items,): beside X, pairs have one entry per item."""
        return (self.n_items,)

    @property
    def nbytes(self) -> int:
        """Bytes held by all arrays."""
        return sum(v.nbytes for v in self._state().values() if isinstance(v, np.ndarray))

    def __len__(self) -> int:
        return self.n_items

    def __repr__(self) -> str:
        n_same = int(np.count_nonzero(self.same))
        parts = [f"n_items={self.n_items}", f"n_pairs={self.n_pairs}"]
        parts += [f"same={n_same}", f"different={self.n_pairs - n_same}"]
        if self.annotator_names is not None:
            parts.append(f"annotators={self.annotator_names.size}")
        if self.weight is not None:
            parts.append(f"weight={float(self.weight.sum()):g}")
        if self.labels:
            parts.append(f"labels={len(self.labels)}")
        return f"Pairs({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pairs):
            return NotImplemented

        def columns(of: Pairs) -> tuple[Any, ...]:
            who = None if of.annotator_names is None else of.annotator_names[of.annotator]
            return of.left, of.right, of.same, of.weight, who, of.item_ids

        alike = all(map(np.array_equal, columns(self), columns(other)))
        return alike and self.n_items == other.n_items and self.labels == other.labels

    def __copy__(self) -> Self:
        return self  # nothing in here can change

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return self._state() | {"labels": dict(self.labels), "dropped": dict(self.dropped)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._store(**state)  # numpy forgets that arrays were read-only

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.object_]:
        """Return the class of each item as far as an array can tell: nobody knows, so all None.

        scikit-learn asks for this array to find out the kind of target; "unknown" makes it choose a
        plain KFold for `cv=5`, which is the right split here.
        """
        if dtype is not None and np.dtype(dtype) != np.dtype(object):
            raise TypeError(f"Pairs are no array of {dtype}: use .left, .right and .same")
        return np.full(self.n_items, None, dtype=object)

    def __getitem__(self, rows: Any) -> Pairs:
        """Return the sub-graph on the items `rows`, renumbered in the order given.

        Positions, boolean mask or slice; also `pairs[rows, ...]`. Pairs with an end outside are
        left out. Annotator codes keep their meaning.
        """
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            rows = rows[0]
        kept = check_index(rows, self.n_items, "items")
        moved = np.full(self.n_items, -1, dtype=np.int64)
        moved[kept] = np.arange(kept.size)
        if np.count_nonzero(moved >= 0) != kept.size:
            raise ValueError(
                f"{kept.size} rows name only {np.unique(kept).size} different items: an item can "
                f"stand in a sub-graph once; to count pairs more often use reweighted(...)"
            )
        left, right = moved[self.left], moved[self.right]
        inside = (left >= 0) & (right >= 0)
        return self._replace(
            **self._of_pairs(inside),
            left=left[inside].astype(self.left.dtype),
            right=right[inside].astype(self.left.dtype),
            n_items=int(kept.size),
            labels={int(moved[k]): name for k, name in self.labels.items() if moved[k] >= 0},
            item_ids=None if self.item_ids is None else self.item_ids[kept],
            dropped={},
        )

    def _of_pairs(self, which: Any) -> dict[str, Any]:
        """Fields that belong to pairs and do not name items, at `which` pairs."""
        return {
            "same": self.same[which],
            "annotator": None if self.annotator is None else self.annotator[which],
            "weight": None if self.weight is None else self.weight[which],
        }

    def select(self, which: ArrayLike | slice) -> Pairs:
        """Keep all items but only these pairs: mask, positions (repeats allowed) or slice.

        >>> Pairs([0, 1], [1, 2], [1, 0]).select([True, False])
        Pairs(n_items=3, n_pairs=1, same=1, different=0)
        """
        chosen = check_index(which, self.n_pairs, "pairs")
        return self._replace(
            **self._of_pairs(chosen), left=self.left[chosen], right=self.right[chosen], dropped={}
        )

    def without_self_pairs(self) -> Pairs:
        """Leave out pairs of an item with itself; the same object if there are none."""
        proper = self.left != self.right
        return self if proper.all() else self.select(proper)

    def reweighted(self, weight: ArrayLike | None) -> Pairs:
        """Return the same pairs with other weights, shape (n_pairs,); None removes them."""
        return self._replace(weight=check_weight(weight, self.n_pairs))

    def with_labels(self, labels: Labels | None) -> Pairs:
        """Return the same pairs with these known classes, {item position: class}, and no others."""
        return self._replace(labels=check_labels(labels, self.n_items))

    def audit(self) -> Audit:
        """Report repeats, contradictions, isolated items, components, degrees and triangles.

        >>> Pairs([0, 1, 0], [1, 2, 2], [1, 1, 0]).audit().triangles
        Triangles(closed=1, broken=1, sampled=False)
        """
        return audit_pairs(
            self.left,
            self.right,
            self.same,
            self.n_items,
            annotator=self.annotator,
            weight=self.weight,
            **self.dropped,
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        left: str | None = None,
        right: str | None = None,
        same: str | None = None,
        annotator: str | Literal[False] | None = None,
        weight: str | Literal[False] | None = None,
        items: ArrayLike | None = None,
        unsure: answers.Treatment = "raise",
        unknown: answers.Treatment = "raise",
    ) -> Pairs:
        """Read pairs from a pandas or polars DataFrame or a pyarrow Table.

        Columns not named are guessed from common spellings; `annotator=False` or `weight=False`
        leaves that column out. `items` holds the item ids in table order (`range(len(X))` if the
        columns hold positions); without it integers ≥ 0 are positions, up to the largest one seen,
        and other ids are numbered as they appear (see `item_ids`). Missing or unsure answers and
        unknown ids raise, or are dropped with a warning and counted in the audit.

        >>> import pandas as pd
        >>> table = pd.DataFrame({"id1": ["p", "q"], "id2": ["q", "r"], "answer": ["Yes", "no"]})
        >>> pairs = Pairs.from_frame(table)
        >>> pairs.right, pairs.item_ids
        (array([1, 2], dtype=int32), array(['p', 'q', 'r'], dtype='<U1'))
        """
        named = {"left": left, "right": right, "same": same}
        table = read_columns(frame, named | {"annotator": annotator, "weight": weight})
        column = f"column {table['same'].name!r}"
        answered = answers.parse(table["same"].values, unsure=unsure, name=column)
        logger.info("%s read as %s", column, answered.mapping)
        table = {role: c._replace(values=c.values[answered.usable]) for role, c in table.items()}
        first, second, ids = number_items(table["left"], table["right"], items, unknown)
        known = (first >= 0) & (second >= 0)
        n_dropped = answered.usable.size - known.size, int(np.count_nonzero(~known))
        if any(n_dropped):
            warnings.warn(
                "{} missing or unsure answers and {} pairs with unknown items were dropped "
                "from {} rows".format(*n_dropped, answered.usable.size),
                UserWarning,
                stacklevel=2,
            )
        who, weights = (
            table[k].values[known] if k in table else None for k in ("annotator", "weight")
        )
        size = None if ids is None else len(ids)
        pairs = cls(first[known], second[known], answered.same[known], size, who, weights)
        dropped = dict(zip(("unsure", "unknown"), n_dropped, strict=True))
        return pairs._replace(item_ids=ids, dropped=dropped)

    @classmethod
    def from_tuples(cls, tuples: ArrayLike, y: ArrayLike) -> tuple[NDArray[Any], Pairs]:
        """Turn metric-learn's form, tuples of shape (n, 2, d) and y in ±1, into `(X, pairs)`.

        Equal rows are one item; the items, shape (n_items, d), are in lexicographic order.

        >>> X, pairs = Pairs.from_tuples([[[0.0], [1.0]], [[1.0], [5.0]]], [1, -1])
        >>> X.ravel(), pairs.left, pairs.same
        (array([0., 1., 5.]), array([0, 1], dtype=int32), array([ True, False]))
        """
        array = np.asarray(tuples)
        if array.ndim != 3 or array.shape[1] != 2:
            raise ValueError(f"tuples has shape {array.shape}, expected (n_pairs, 2, n_features)")
        rows = array.reshape(-1, array.shape[2])
        items, position = np.unique(rows, axis=0, return_inverse=True)
        left, right = position.reshape(-1, 2).T
        return items, cls(left, right, y, n_items=len(items))

    @classmethod
    def from_constraints(
        cls, must_link: ArrayLike, cannot_link: ArrayLike, n_items: int | None = None
    ) -> Pairs:
        """Turn two lists of position pairs, shapes (m, 2) and (c, 2), into pairs, must-links first.

        >>> Pairs.from_constraints([(0, 1)], [(1, 2), (0, 2)])
        Pairs(n_items=3, n_pairs=3, same=1, different=2)
        """
        must = check_couples(must_link, "must_link")
        cannot = check_couples(cannot_link, "cannot_link")
        both = np.concatenate([must, cannot])
        return cls(both[:, 0], both[:, 1], np.arange(len(both)) < len(must), n_items)

    @classmethod
    def from_scores(
        cls,
        left: ArrayLike,
        right: ArrayLike,
        score: ArrayLike,
        n_items: int | None = None,
        annotator: ArrayLike | None = None,
    ) -> Pairs:
        """Turn soft scores p in [0, 1] into "same" of weight p and "different" of weight 1 − p.

        Answers of weight zero are left out. The audit counts a soft score as a contradiction.

        >>> Pairs.from_scores([0, 1], [1, 2], [0.75, 0.0]).weight
        array([0.75, 0.25, 1.  ], dtype=float32)
        """
        given = check_amounts(score, "score", 1.0)
        return cls.from_votes(left, right, given, 1 - given, n_items, annotator)

    @classmethod
    def from_votes(
        cls,
        left: ArrayLike,
        right: ArrayLike,
        n_same: ArrayLike,
        n_different: ArrayLike,
        n_items: int | None = None,
        annotator: ArrayLike | None = None,
    ) -> Pairs:
        """Turn vote counts into answers "same", then "different", with the counts as weights.

        >>> Pairs.from_votes([0, 1], [1, 2], [3, 0], [1, 2]).weight
        array([3., 1., 2.], dtype=float32)
        """
        first, second = check_positions(left, "left"), check_positions(right, "right")
        votes = check_amounts(n_same, "n_same"), check_amounts(n_different, "n_different")
        size = check_n_items(first, second, n_items)
        who = None if annotator is None else answers.column(annotator, "annotator")
        check_lengths(first.size, right=second, same=votes[0], different=votes[1], annotator=who)
        weight = np.concatenate(votes)
        kept = np.flatnonzero(weight)
        row = kept % max(first.size, 1)
        who = None if who is None else who[row]
        return cls(first[row], second[row], kept < first.size, size, who, weight[kept])
