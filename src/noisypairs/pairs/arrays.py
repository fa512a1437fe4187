"""Answers as flat read-only arrays: checked once, indexed by items, selected by pairs, pickled."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.pairs import answers
from noisypairs.pairs.checks import (
    check_annotators,
    check_chosen,
    check_index,
    check_labels,
    check_lengths,
    check_n_items,
    check_positions,
    check_weight,
)
from noisypairs.pairs.copies import copied
from noisypairs.pairs.counts import Array, IntArray, answer_weights, pair_keys
from noisypairs.pairs.groups import check_groups
from noisypairs.pairs.ids import labelled_positions
from noisypairs.pairs.protocol import Labels, OneEntryPerItem
from noisypairs.pairs.questions import check_questions, question_weights


@dataclass(frozen=True, init=False, eq=False, repr=False, slots=True)
class AnswerArrays(OneEntryPerItem):
    """The arrays of `Pairs`, which says what each of them holds."""

    left: IntArray
    right: IntArray
    same: NDArray[np.bool_]
    n_items: int
    annotator: NDArray[np.int32] | None
    annotator_names: NDArray[Any] | None
    weight: NDArray[np.float32] | None
    labels: Labels
    chosen: NDArray[np.bool_] | None
    item_ids: NDArray[Any] | None
    dropped: Mapping[str, int]
    question: NDArray[np.int32] | None
    groups: NDArray[np.int32] | None
    group_names: NDArray[Any] | None

    def __init__(
        self,
        left: ArrayLike,
        right: ArrayLike,
        same: ArrayLike,
        n_items: int | None = None,
        annotator: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        labels: Labels | None = None,
        chosen: ArrayLike | None = None,
        question: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> None:
        first, second = check_positions(left, "left"), check_positions(right, "right")
        answered = answers.parse(same).same
        size = check_n_items(first, second, n_items)
        dtype = np.int32 if size <= 2**31 else np.int64
        check_lengths(first.size, right=second, same=answered)
        codes, names = check_annotators(annotator, first.size)
        amounts = check_weight(weight, first.size)
        asked = check_questions(question, codes, first.size)
        if asked is not None:
            share = question_weights(asked, first, second)
            amounts = share if amounts is None else amounts * share
        members, group_names = check_groups(groups, size)
        self._store(
            left=first.astype(dtype),
            right=second.astype(dtype),
            same=answered,
            n_items=size,
            annotator=codes,
            annotator_names=names,
            weight=amounts,
            labels=check_labels(labels, size),
            chosen=check_chosen(chosen, first.size),
            item_ids=None,
            dropped={},
            question=asked,
            groups=members,
            group_names=group_names,
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

    def _replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed, already valid; unchanged arrays are shared."""
        return type(self).__new__(type(self))._store(**(self._state() | changes))

    @property
    def n_pairs(self) -> int:
        """Number of answers, repeats and self pairs included."""
        return int(self.left.size)

    @property
    def weights(self) -> Array:
        """Weight of each answer in double precision, one where none is given; (n_pairs,)."""
        return answer_weights(self.weight, self.n_pairs)

    @property
    def total_weight(self) -> float:
        """Weight of all answers together: their number where none is given."""
        return float(self.n_pairs if self.weight is None else self.weight.sum())

    @property
    def pair_keys(self) -> NDArray[np.int64]:
        """One number per unordered pair of items, equal for repeats; (n_pairs,)."""
        return pair_keys(self.left, self.right, self.n_items)

    @property
    def n_groups(self) -> int:
        """Number of groups among the items; that of the items where no groups are given."""
        return self.n_items if self.groups is None else int(np.unique(self.groups).size)

    @property
    def nbytes(self) -> int:
        """Bytes held by all arrays."""
        return sum(v.nbytes for v in self._state().values() if isinstance(v, np.ndarray))

    def __repr__(self) -> str:
        n_same = int(np.count_nonzero(self.same))
        parts = [f"n_items={self.n_items}", f"n_pairs={self.n_pairs}"]
        parts += [f"same={n_same}", f"different={self.n_pairs - n_same}"]
        if self.annotator_names is not None:
            parts.append(f"annotators={self.annotator_names.size}")
        if self.weight is not None:
            parts.append(f"weight={float(self.weight.sum()):g}")
        if self.chosen is not None:
            parts.append(f"chosen={int(np.count_nonzero(self.chosen))}")
        if self.labels:
            parts.append(f"labels={len(self.labels)}")
        if self.groups is not None:
            parts.append(f"groups={self.n_groups}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AnswerArrays):
            return NotImplemented

        def columns(of: AnswerArrays) -> tuple[Any, ...]:
            who = None if of.annotator_names is None else of.annotator_names[of.annotator]
            group = None if of.group_names is None else of.group_names[of.groups]
            rest = of.chosen, of.item_ids, of.question, group
            return of.left, of.right, of.same, of.weight, who, *rest

        alike = all(map(np.array_equal, columns(self), columns(other)))
        return alike and self.n_items == other.n_items and self.labels == other.labels

    def __getstate__(self) -> dict[str, Any]:
        return self._state() | {"labels": dict(self.labels), "dropped": dict(self.dropped)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # numpy forgets that arrays were read-only; older pickles lack the newer fields
        newer = dict.fromkeys(("chosen", "question", "groups", "group_names"))
        self._store(**newer | state)

    def __getitem__(self, rows: Any) -> Self:
        """Return the sub-graph on the items `rows`, renumbered in the order given.

        Positions, boolean mask or slice; also `pairs[rows, ...]`. Pairs with an end outside are
        left out. The codes of annotators and groups keep their meaning.
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
            groups=None if self.groups is None else self.groups[kept],
            dropped=self.dropped if kept.size == self.n_items else {},
        )

    def _of_pairs(self, which: Any) -> dict[str, Any]:
        """Fields that belong to pairs and do not name items, at `which` pairs."""
        return {
            "same": self.same[which],
            "annotator": None if self.annotator is None else self.annotator[which],
            "weight": None if self.weight is None else self.weight[which],
            "chosen": None if self.chosen is None else self.chosen[which],
            "question": None if self.question is None else self.question[which],
        }

    def drawn_at_random(self) -> Self:
        """Leave out the answers about chosen pairs; the same object if there are none.

        What is left shows the classes' shares by its share of "same", and the accuracy of a
        prediction by how often it agrees. Chosen pairs show neither.

        >>> from noisypairs import Pairs
        >>> Pairs([0, 1], [1, 2], [1, 0], chosen=[True, False]).drawn_at_random()
        Pairs(n_items=3, n_pairs=1, same=0, different=1)
        """
        if self.chosen is None:
            return self
        return self.select(~self.chosen)._replace(chosen=None)

    def select(self, which: ArrayLike | slice) -> Self:
        """Keep all items but only these pairs: mask, positions (repeats allowed) or slice.

        >>> from noisypairs import Pairs
        >>> Pairs([0, 1], [1, 2], [1, 0]).select([True, False])
        Pairs(n_items=3, n_pairs=1, same=1, different=0)
        """
        chosen = check_index(which, self.n_pairs, "pairs")
        return self._replace(
            **self._of_pairs(chosen), left=self.left[chosen], right=self.right[chosen], dropped={}
        )

    def in_order(self) -> tuple[Self, NDArray[np.intp]]:
        """Return the same answers in an order of their own, and where each of them was, (n_pairs,).

        The lower position is left; answers are sorted by (left, right, answer, annotator, weight),
        so that neither their order nor that of their ends matters any more.

        >>> from noisypairs import Pairs
        >>> ordered, place = Pairs([2, 0], [1, 1], [True, False]).in_order()
        >>> ordered.left, ordered.right, place
        (array([0, 1], dtype=int32), array([1, 2], dtype=int32), array([1, 0]))
        """
        labels = dict(sorted(self.labels.items()))
        key = 2 * self.pair_keys + self.same
        if (np.diff(key) > 0).all() and (self.left <= self.right).all():
            return self._replace(labels=labels), np.arange(self.n_pairs)
        more = [one for one in (self.chosen, self.weight, self.annotator) if one is not None]
        place = np.lexsort((*more, key)) if more else np.argsort(key, kind="stable")
        low, high = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        ends = {"left": low[place], "right": high[place]}
        return self._replace(**self._of_pairs(place), **ends, labels=labels), place

    def without_self_pairs(self) -> Self:
        """Leave out pairs of an item with itself; the same object if there are none."""
        proper = self.left != self.right
        return self if proper.all() else self.select(proper)

    def copies(self) -> NDArray[np.bool_]:
        """Return which answers copy an earlier one: same pair, answer, annotator and weight.

        Without annotators every repetition of an answer on a pair counts as a copy.
        """
        return copied(self.left, self.right, self.same, self.n_items, self.annotator, self.weight)

    def without_copies(self) -> Self:
        """Leave out `copies`; the same object if there are none. `dropped` counts them.

        >>> from noisypairs import Pairs
        >>> Pairs([0, 1, 0], [1, 0, 1], [1, 1, 0], annotator=["ann"] * 3).without_copies()
        Pairs(n_items=2, n_pairs=2, same=1, different=1, annotators=1)
        """
        again = self.copies()
        if not again.any():
            return self
        copies = self.dropped.get("copies", 0) + int(np.count_nonzero(again))
        return self.select(~again)._replace(dropped={**self.dropped, "copies": copies})

    def reweighted(self, weight: ArrayLike | None) -> Self:
        """Return the same pairs with other weights, shape (n_pairs,); None removes them."""
        return self._replace(weight=check_weight(weight, self.n_pairs))

    def with_labels(
        self, labels: Mapping[Any, Hashable] | None, by: Literal["position", "id"] | None = None
    ) -> Self:
        """Return the same pairs with these known classes, {item: class}, and no others.

        Items are named by position or, where there are `item_ids`, by id. Without ``by``, whole
        numbers are positions and all else is an id; where ids are other whole numbers, ``by`` must
        say which is meant.

        >>> from noisypairs import Pairs
        >>> pairs = Pairs.from_ids(["p", "q"], ["q", "r"], [True, False])
        >>> pairs.with_labels({"r": "cat"}).labels == pairs.with_labels({2: "cat"}).labels
        True
        """
        known = labelled_positions(labels, lambda: self.item_ids, by)
        return self._replace(labels=check_labels(known, self.n_items))

    def with_groups(self, groups: ArrayLike | None) -> Self:
        """Return the same pairs with these groups of items, shape (n_items,); None removes them.

        >>> from noisypairs import Pairs
        >>> pairs = Pairs.from_ids(["p1", "p2"], ["q1", "q1"], [True, False])
        >>> pairs.with_groups([name[0] for name in pairs.item_ids]).groups
        array([0, 1, 0], dtype=int32)
        """
        codes, names = check_groups(groups, self.n_items)
        return self._replace(groups=codes, group_names=names)
