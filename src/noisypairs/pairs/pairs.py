"""Pairs: who was compared with whom, the answer, by whom; the only gatekeeper of input.

Pairs are a graph on the items. Indexing takes items, not pairs, and gives the sub-graph on them, so
that scikit-learn's own splitters keep training and test items apart.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.pairs import answers
from noisypairs.pairs.arrays import AnswerArrays
from noisypairs.pairs.audit import Audit, audit_pairs
from noisypairs.pairs.checks import (
    check_amounts,
    check_couples,
    check_index,
    check_lengths,
    check_n_items,
    check_positions,
)
from noisypairs.pairs.columns import OPTIONAL, Column, frame_of, read_columns
from noisypairs.pairs.counts import (
    Array,
    ItemCounts,
    count_by_item,
    sum_by_item,
    sum_neighbours,
)
from noisypairs.pairs.ids import number_items, warn_dropped
from noisypairs.pairs.protocol import Batch

logger = logging.getLogger(__name__)


class Pairs(AnswerArrays):
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
    chosen : True where a pair was chosen by what is known of its items, such as by `next_pairs`, by
        blocking or by hand; False where it was drawn at random; shape (n_pairs,)
        Without it all count as drawn at random. What rests on that uses `drawn_at_random`.
    question : which answers were given together, any ids, shape (n_pairs,)
        Who groups m items at once gives m(m−1)/2 answers, of which m−1 are free: their weights are
        multiplied by 2/m. Ids need to be unique only for each annotator. Stored as codes.
    groups : which items show the same thing, such as visits of one patient; shape (n_items,)
        Texts, numbers or other ids, such as a column of a data frame. Folds keep a group together.
        Stored as codes into `group_names`, which are sorted. An item whose group is missing (None
        or NaN) is a group of its own.

    Also kept: `item_ids`, the ids behind the positions when `from_frame` made them (else None), and
    `dropped`, how many rows `from_frame` left out and why. A pair costs 9 bytes, 17 with annotator
    and weight. All arrays are read-only.

    >>> pairs = Pairs([0, 1, 0], [1, 2, 3], ["same", "different", "same"])
    >>> pairs
    Pairs(n_items=4, n_pairs=3, same=2, different=1)
    >>> pairs[[3, 0]].left, pairs[[3, 0]].right
    (array([1], dtype=int32), array([0], dtype=int32))
    """

    __slots__ = ()

    def audit(self) -> Audit:
        """Report repeats, copies, contradictions, lone items, components, degrees and triangles.

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

    # --- what a `PairTable` answers too, see `protocol.Answers` ------------------------------

    def to_pairs(self) -> Pairs:
        """Return these pairs: they are in memory."""
        return self

    def sample(self, n_pairs: int) -> Pairs:  # noqa: ARG002 -- a table needs it
        """Return these pairs: only a `PairTable` of more than ``n_pairs`` is sampled."""
        return self

    def among_some_items(
        self,
        n_pairs: int,  # noqa: ARG002 -- a table needs it
    ) -> tuple[Pairs, NDArray[np.int64]]:
        """Return these pairs and all items: only a `PairTable` is cut down to ``n_pairs``."""
        return self, np.arange(self.n_items)

    def pooled_answers(self) -> Pairs:
        """Return these pairs without self pairs: only a `PairTable` is added up."""
        return self.without_self_pairs()

    def batches(self, size: int = 1_000_000) -> Iterator[Batch]:
        """Stream all answers, in their order, in batches of at most ``size``."""
        for start in range(0, self.n_pairs, size):
            rows = slice(start, start + size)
            of = self._of_pairs(rows)
            ends = self.left[rows], self.right[rows]
            yield Batch(*ends, of["same"], of["annotator"], of["weight"])

    def _proper_weights(self) -> Array:
        """Weights with zero for self pairs, which count nowhere below."""
        return np.where(self.left == self.right, 0.0, self.weights)

    def item_counts(self) -> ItemCounts:
        """Count the occurrences of every item by weight; self pairs do not count.

        >>> Pairs([0, 0], [1, 2], [True, False]).item_counts()
        ItemCounts(same=array([1., 1., 0.]), different=array([1., 0., 1.]))
        """
        if self.weight is None:
            some = self.without_self_pairs()
            counts = count_by_item(some.left, some.right, some.same, self.n_items)
            return ItemCounts(*(each.astype(float) for each in counts))
        weight = self._proper_weights()
        same = sum_by_item(self.left, self.right, weight * self.same, self.n_items)
        return ItemCounts(same, sum_by_item(self.left, self.right, weight, self.n_items) - same)

    def degrees(self) -> NDArray[np.int64]:
        """Return the number of answers about each item, self pairs aside, shape (n_items,)."""
        proper = (self.left != self.right).astype(float)
        return sum_by_item(self.left, self.right, proper, self.n_items).astype(np.int64)

    def neighbour_sums(self, values: ArrayLike) -> tuple[Array, Array]:
        """Return Σ_j w·values[j] over "same" and over "different" answers, (n_items, k) each.

        ``values`` is (n_items, k); self pairs do not count. Indicators of folds as values count
        the answers of each item by the fold of the other one.

        >>> pairs = Pairs([0, 0], [1, 2], [True, False])
        >>> pairs.neighbour_sums(np.array([[1.0], [2.0], [4.0]]))[0].ravel()
        array([2., 1., 0.])
        """
        return sum_neighbours(self.left, self.right, self.same, self._proper_weights(), values)

    def with_answers(
        self,
        left: ArrayLike,
        right: ArrayLike,
        same: ArrayLike,
        annotator: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        chosen: ArrayLike | None = None,
    ) -> Pairs:
        """Return these answers and more of them, about the same items, behind.

        Who answered and what an answer weighs must be said of all or of none; where some were
        ``chosen``, the others count as drawn at random.

        >>> pairs = Pairs([0], [1], [True], n_items=3)
        >>> pairs.with_answers([1], [2], ["different"], chosen=[True])
        Pairs(n_items=3, n_pairs=2, same=1, different=1, chosen=1)
        """
        more = Pairs(left, right, same, self.n_items, annotator, weight, self.labels, chosen)
        of_items = {
            name: getattr(self, name) for name in ("groups", "group_names", "item_ids", "dropped")
        }
        more = more._replace(**of_items)
        if not (self.n_pairs and more.n_pairs):
            return more if more.n_pairs else self
        columns: dict[str, tuple[Any, Any]]
        columns = {"left": (self.left, more.left), "right": (self.right, more.right)}
        columns |= {"same": (self.same, more.same), "weight": (self.weight, more.weight)}
        columns["annotator"] = self._who(), more._who()
        if self.chosen is not None or more.chosen is not None:
            columns["chosen"] = self._marks(), more._marks()
        for name, (one, other) in columns.items():
            if (one is None) != (other is None):
                raise ValueError(f"{name} is known of some answers only: give it for all, or none")
        joined = {k: np.concatenate(both) for k, both in columns.items() if both[0] is not None}
        whole = Pairs(**joined, n_items=self.n_items, labels=self.labels)
        return whole._replace(**of_items)

    def _who(self) -> NDArray[Any] | None:
        """Return the name of who gave each answer, if known."""
        return None if self.annotator_names is None else self.annotator_names[self.annotator]

    def _marks(self) -> NDArray[np.bool_]:
        return np.zeros(self.n_pairs, dtype=bool) if self.chosen is None else self.chosen

    # --- other forms that answers come in ---------------------------------------------------

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
        words: Mapping[str, str] | None = None,
    ) -> Pairs:
        """Read pairs from a pandas or polars DataFrame or a pyarrow Table.

        Columns not named are guessed from common spellings; `annotator=False` or `weight=False`
        leaves that column out. `items` holds the item ids in table order (`range(len(X))` if the
        columns hold positions); without it integers ≥ 0 are positions, up to the largest one seen,
        and other ids are numbered as they appear (see `item_ids`). Missing or unsure answers and
        unknown ids raise, or are dropped with a warning and counted in the audit. ``words`` says
        what answers of your own mean: {"aye": "same", "nay": "different", "hm": "unsure"}.

        >>> import pandas as pd
        >>> table = pd.DataFrame({"id1": ["p", "q"], "id2": ["q", "r"], "answer": ["Yes", "no"]})
        >>> pairs = Pairs.from_frame(table)
        >>> pairs.right, pairs.item_ids
        (array([1, 2], dtype=int32), array(['p', 'q', 'r'], dtype='<U1'))
        """
        named = {"left": left, "right": right, "same": same}
        table = read_columns(frame, named | {"annotator": annotator, "weight": weight})
        column = f"column {table['same'].name!r}"
        answered = answers.parse(table["same"].values, unsure=unsure, name=column, words=words)
        logger.info("%s read as %s", column, answered.mapping)
        who, weights = (table[role].values if role in table else None for role in OPTIONAL)
        pairs = cls.from_ids(
            table["left"], table["right"], answered, who, weights, items=items, unknown=unknown
        )
        warn_dropped(pairs.dropped, answered.usable.size, stacklevel=2)
        return pairs

    def ids_of(self, positions: ArrayLike) -> NDArray[Any]:
        """Return the ids of items at these positions: as they were given, else the positions.

        >>> Pairs.from_ids(["p", "q"], ["q", "r"], [True, False]).ids_of([2, 0])
        array(['r', 'p'], dtype='<U1')
        """
        at = check_index(positions, self.n_items, "items")
        return at if self.item_ids is None else self.item_ids[at]

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the answers as a data frame: what `from_frame` was given, the ids included.

        Columns left, right, same, and annotator and weight where there are any. ``backend`` is
        "pandas", "polars" or "pyarrow".

        >>> pairs = Pairs.from_ids(["p", "q"], ["q", "r"], [True, False], annotator=["ann", "bob"])
        >>> pairs.to_frame().values.tolist()
        [['p', 'q', True, 'ann'], ['q', 'r', False, 'bob']]
        """
        columns = {"left": self.ids_of(self.left), "right": self.ids_of(self.right)}
        columns["same"] = np.array(self.same)
        if self.annotator is not None and self.annotator_names is not None:
            columns["annotator"] = self.annotator_names[self.annotator]
        if self.weight is not None:
            columns["weight"] = np.array(self.weight)
        return frame_of(columns, backend)

    @classmethod
    def from_ids(
        cls,
        left: ArrayLike | Column,
        right: ArrayLike | Column,
        same: ArrayLike | answers.Parsed,
        annotator: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        items: ArrayLike | None = None,
        unknown: answers.Treatment = "raise",
        copies: int = 0,
        chosen: ArrayLike | None = None,
    ) -> Pairs:
        """Take answers about items named by ids; see `from_frame` for what ``items`` does.

        ``dropped`` counts the answers that were unsure (where ``same`` was parsed already), those
        left out for an unknown id, with `unknown="drop"`, and ``copies`` left out before.

        >>> Pairs.from_ids(["p", "q"], ["q", "r"], [True, False], items=["r", "q", "p"]).left
        array([2, 1], dtype=int32)
        """
        parsed = same if isinstance(same, answers.Parsed) else answers.parse(same)
        who = None if annotator is None else answers.column(annotator, "annotator")
        amount = None if weight is None else answers.column(weight, "weight")
        ends = [
            end if isinstance(end, Column) else Column(name, answers.column(end, name))
            for name, end in (("left", left), ("right", right))
        ]
        sizes = {"right": ends[1].values, "same": parsed.usable}
        marks = None if chosen is None else answers.column(chosen, "chosen")
        check_lengths(ends[0].values.size, **sizes, annotator=who, weight=amount, chosen=marks)
        ends = [end._replace(values=end.values[parsed.usable]) for end in ends]
        first, second, ids = number_items(ends[0], ends[1], items, unknown)
        known = (first >= 0) & (second >= 0)
        rows = np.flatnonzero(parsed.usable)[known]
        pairs = cls(
            first[known],
            second[known],
            parsed.same[known],
            None if ids is None else len(ids),
            None if who is None else who[rows],
            None if amount is None else amount[rows],
            chosen=None if marks is None else marks[rows],
        )
        n_unsure = parsed.usable.size - known.size
        dropped = {"unsure": n_unsure, "unknown": int(np.count_nonzero(~known))}
        dropped |= {"copies": copies} if copies else {}
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
