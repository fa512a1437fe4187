"""Pairs: who was compared with whom, the answer, by whom; the only gatekeeper of input.

Pairs are a graph on the items. Indexing takes items, not pairs, and gives the sub-graph on them, so
that scikit-learn's own splitters keep training and test items apart.
"""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.errors import warn_user
from noisypairs.pairs import answers
from noisypairs.pairs.answers import column, factorise
from noisypairs.pairs.audit import Audit, audit_pairs
from noisypairs.pairs.columns import (
    OPTIONAL,
    Backend,
    Column,
    columns_as_written,
    columns_of_items,
    frame_of,
    read_columns,
)
from noisypairs.pairs.counts import (
    Array,
    IntArray,
    ItemCounts,
    count_by_item,
    pair_keys,
    sum_by_item,
    sum_neighbours,
    weights_of,
)
from noisypairs.pairs.groups import check_groups, copied, group_number
from noisypairs.pairs.ids import (
    clean_ids,
    id_array,
    labelled_positions,
    number_items,
    order_by_ids,
    warn_dropped,
)
from noisypairs.pairs.levels import PLAIN, Scale, level_codes, scale_of
from noisypairs.pairs.protocol import Answers, Batch, Labels, OneEntryPerItem

logger = logging.getLogger(__name__)

#: Columns with an entry for each answer, besides its two ends.
PER_ANSWER = ("same", "annotator", "weight", "chosen", "question", "level")


@dataclass(frozen=True, init=False, eq=False, repr=False, slots=True)
class Pairs(OneEntryPerItem):
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
        Without it all count as drawn at random. Prior estimates use only random pairs.
    question : which answers were given together, any ids, shape (n_pairs,)
        Sorting m items yields m(m−1)/2 dependent answers, so their weights are multiplied by 2/m.
        Ids need to be unique only for each annotator. Stored as codes.
    groups : which items show the same thing, such as visits of one patient; shape (n_items,)
        Texts, numbers or other ids, such as a column of a data frame. Folds keep a group together.
        Stored as codes into `group_names`, which are sorted. An item whose group is missing (None
        or NaN) is a group of its own.

    Answers of more than two levels come from `from_levels`: then ``level`` (n_pairs,) has the code
    of each answer and ``scale`` what the codes mean, and ``same`` is a view of them.

    Also kept: `item_ids`, the ids behind the positions when `from_frame` made them (else None), and
    `dropped`, how many rows `from_frame` left out and why. A pair costs 9 bytes, 17 with annotator
    and weight. All arrays are read-only.

    >>> pairs = Pairs([0, 1, 0], [1, 2, 3], ["same", "different", "same"])
    >>> pairs
    Pairs[4 items](n_pairs=3, same=2, different=1)
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
    class_names: tuple[Hashable, ...]
    chosen: NDArray[np.bool_] | None
    item_ids: NDArray[Any] | None
    dropped: Mapping[str, int]
    question: NDArray[np.int32] | None
    groups: NDArray[np.int32] | None
    group_names: NDArray[Any] | None
    level: NDArray[np.int8] | None
    scale: Scale

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
        known = check_labels(labels, size)
        self._store(
            left=first.astype(dtype),
            right=second.astype(dtype),
            same=answered,
            n_items=size,
            annotator=codes,
            annotator_names=names,
            weight=amounts,
            labels=known,
            class_names=names_in(known),
            chosen=check_chosen(chosen, first.size),
            item_ids=None,
            dropped={},
            question=asked,
            groups=members,
            group_names=group_names,
            level=None,
            scale=PLAIN,
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

    def __repr__(self) -> str:
        n_same = int(np.count_nonzero(self.same))
        parts = [f"n_pairs={self.n_pairs}"]
        if self.level is None:
            parts += [f"same={n_same}", f"different={self.n_pairs - n_same}"]
        else:
            times = np.bincount(self.level, minlength=self.scale.n_levels).tolist()
            names = self.scale.meanings()
            parts += [f"{name!r}: {n}" for name, n in zip(names, times, strict=True)]
        more = {
            "annotators": None if self.annotator_names is None else self.annotator_names.size,
            "weight": None if self.weight is None else f"{float(self.weight.sum()):g}",
            "chosen": None if self.chosen is None else np.count_nonzero(self.chosen),
            "labels": len(self.labels) or None,
            "groups": group_number(self.groups),
        }
        parts += [f"{name}={value}" for name, value in more.items() if value is not None]
        return f"{type(self).__name__}[{self.n_items} items]({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pairs):
            return NotImplemented

        columns = ("left", "right", *PER_ANSWER, "item_ids", "groups")
        named: Any = [[of._named(one) for one in columns] for of in (self, other)]
        rest = ("scale", "n_items", "labels")
        return all(map(np.array_equal, *named)) and all(
            getattr(self, one) == getattr(other, one) for one in rest
        )

    def __getstate__(self) -> dict[str, Any]:
        return self._state() | {"labels": dict(self.labels), "dropped": dict(self.dropped)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # numpy forgets that arrays were read-only; older pickles lack the newer fields
        newer = dict.fromkeys(("chosen", "question", "groups", "group_names", "level"))
        names = names_in(state["labels"])
        self._store(**newer | {"scale": PLAIN, "class_names": names} | state)

    def __getitem__(self, rows: Any) -> Self:
        """Return the sub-graph on the items `rows`, renumbered in the order given.

        Positions, boolean mask or slice; also `pairs[rows, ...]`. Pairs with an end outside are
        left out. The codes of annotators and groups keep their meaning, and all class names stay
        known.
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
        given = {name: getattr(self, name) for name in PER_ANSWER}
        return {name: None if one is None else one[which] for name, one in given.items()}

    def yes_or_no(self) -> Self:
        """Return the answers as "same" or "different" alone, unsure ones left out and counted.

        What reads only these sees this; the same object where there is nothing else.

        >>> from noisypairs import Pairs
        >>> Pairs.from_levels([0, 1], [1, 2], [3, 0], levels=[1, 2, 3, 4], unsure=0).yes_or_no()
        Pairs[3 items](n_pairs=1, same=1, different=0)
        """
        if self.level is None:
            return self
        decided = self.level < self.scale.n_ordered
        n_unsure = self.dropped.get("unsure", 0) + int(np.count_nonzero(~decided))
        plain = self if decided.all() else self.select(decided)
        dropped = self.dropped if decided.all() else {**self.dropped, "unsure": n_unsure}
        return plain._replace(level=None, scale=PLAIN, dropped=dropped)

    def aligned_to(self, ids: ArrayLike) -> Self:
        """Return the same answers with the items in the order of these ids, shape (n_items,).

        >>> from noisypairs import Pairs
        >>> pairs = Pairs.from_ids(["p", "q"], ["q", "r"], [True, False])
        >>> pairs.aligned_to(["r", "p", "q"]).item_ids
        array(['r', 'p', 'q'], dtype='<U1')
        """
        return self if (order := order_by_ids(self.item_ids, ids)) is None else self[order]

    def select(self, which: ArrayLike | slice) -> Self:
        """Keep all items but only these pairs: mask, positions (repeats allowed) or slice.

        >>> from noisypairs import Pairs
        >>> Pairs([0, 1], [1, 2], [1, 0]).select([True, False])
        Pairs[3 items](n_pairs=1, same=1, different=0)
        """
        chosen = check_index(which, self.n_pairs, "pairs")
        return self._replace(
            **self._of_pairs(chosen), left=self.left[chosen], right=self.right[chosen], dropped={}
        )

    def without_self_pairs(self) -> Self:
        """Leave out pairs of an item with itself; the same object if there are none."""
        proper = self.left != self.right
        return self if proper.all() else self.select(proper)

    def without_copies(self) -> Self:
        """Leave out answers that copy an earlier one; the same object if there are none.

        A copy has the same pair, answer, annotator and weight. Without annotators every repetition
        of an answer on a pair counts as one. `dropped` counts them.

        >>> from noisypairs import Pairs
        >>> Pairs([0, 1, 0], [1, 0, 1], [1, 1, 0], annotator=["ann"] * 3).without_copies()
        Pairs[2 items](n_pairs=2, same=1, different=1, annotators=1)
        """
        ends, who = (self.left, self.right), self.annotator
        again = copied(*ends, levels_of(self), self.n_items, who, self.weight)
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

        Parts of the pairs remember the names of all classes that have a label here.

        Items are named by position or, where there are `item_ids`, by id. Without ``by``, whole
        numbers are positions and all else is an id; where ids are other whole numbers, ``by`` must
        say which is meant. A Series of pandas names items by its index.

        >>> from noisypairs import Pairs
        >>> pairs = Pairs.from_ids(["p", "q"], ["q", "r"], [True, False])
        >>> pairs.with_labels({"r": "cat"}).labels == pairs.with_labels({2: "cat"}).labels
        True
        """
        labels = getattr(labels, "to_dict", lambda: labels)()  # a Series, by its index
        known = check_labels(labelled_positions(labels, lambda: self.item_ids, by), self.n_items)
        return self._replace(labels=known, class_names=names_in(known))

    def with_groups(self, groups: ArrayLike | None) -> Self:
        """Return the same pairs with these groups of items, shape (n_items,); None removes them.

        >>> from noisypairs import Pairs
        >>> pairs = Pairs.from_ids(["p1", "p2"], ["q1", "q1"], [True, False])
        >>> pairs.with_groups([name[0] for name in pairs.item_ids]).groups
        array([0, 1, 0], dtype=int32)
        """
        codes, names = check_groups(groups, self.n_items)
        return self._replace(groups=codes, group_names=names)

    def audit(self) -> Audit:
        """Report repeats, copies, contradictions, lone items, components, degrees and triangles.

        >>> Pairs([0, 1, 0], [1, 2, 2], [1, 1, 0]).audit().triangles
        Triangles(closed=1, broken=1, sampled=False)
        """
        return audit_pairs(self.yes_or_no())

    if not TYPE_CHECKING:  # which would then take any name for one of `Pairs`

        def __getattr__(self, name: str) -> Any:
            if name not in FORMER and name not in FORMER_VALUES:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            instead, old = (FORMER | FORMER_VALUES)[name]
            warn_user(f"Pairs.{name} goes away in the next version: {instead}", FutureWarning)
            return partial(old, self) if name in FORMER else old(self)

    # --- what a `PairTable` answers too, see `protocol.Answers` ------------------------------

    def item_counts(self) -> ItemCounts:
        """Count the occurrences of every item by weight; self pairs do not count.

        >>> Pairs([0, 0], [1, 2], [True, False]).item_counts()
        ItemCounts(same=array([1., 1., 0.]), different=array([1., 0., 1.]))
        """
        if self.weight is None:
            some = self.without_self_pairs()
            counts = count_by_item(some.left, some.right, some.same, self.n_items)
            return ItemCounts(*(each.astype(float) for each in counts))
        weight = np.where(self.left == self.right, 0.0, weights_of(self))
        same = sum_by_item(self.left, self.right, weight * self.same, self.n_items)
        return ItemCounts(same, sum_by_item(self.left, self.right, weight, self.n_items) - same)

    def with_answers(
        self,
        left: ArrayLike,
        right: ArrayLike,
        same: ArrayLike,
        annotator: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        chosen: ArrayLike | None = None,
        n_items: int | None = None,
        question: ArrayLike | None = None,
    ) -> Pairs:
        """Return these answers and more of them behind, see `update`.

        Items are named by position, or by id where they have ids that are no numbers. ``n_items``
        makes room for new items by position. Where answers have levels, ``same`` holds names of
        levels.

        >>> pairs = Pairs([0], [1], [True], n_items=3)
        >>> pairs.with_answers([1], [3], ["different"], chosen=[True], n_items=4)
        Pairs[4 items](n_pairs=2, same=1, different=1, chosen=1)
        """
        level = None if self.level is None else level_codes(same, self.scale)
        answered = same if level is None else self.scale.same_levels[level]
        if weight is None and self.question is not None:
            weight = np.ones(np.size(answered))
        more: dict[str, Any] = {
            "annotator": annotator,
            "weight": weight,
            "chosen": chosen,
            "question": question,
        }
        if self.item_ids is not None and column(left, "left").dtype.kind not in "biuf":
            new = Pairs.from_ids(left, right, answered, **more)
        else:
            new = Pairs(left, right, answered, n_items or self.n_items, **more)
            if self.item_ids is not None and new.n_items > self.n_items:
                raise ValueError(
                    "the items of these pairs have ids, and n_items gives the new ones none: name "
                    "left and right by their ids"
                )
            new = new._replace(item_ids=self.item_ids)
        return self.update(new._replace(level=level, scale=self.scale))

    def update(self, more: Pairs) -> Pairs:
        """Return these answers and ``more`` behind, such as those of today; both keep their fields.

        Items are matched by their ids where they have some, else by position; new ones come behind.
        Who answered and what an answer weighs must be said of all or of none; where some answers
        were ``chosen``, the others count as drawn at random. Labels of ``more`` win.

        >>> monday = Pairs.from_ids(["p", "q"], ["q", "r"], [True, False])
        >>> week = monday.update(Pairs.from_ids(["s"], ["p"], [True]))
        >>> week, week.item_ids[week.left[2:]]
        (Pairs[4 items](n_pairs=3, same=2, different=1), array(['s'], dtype='<U1'))
        """
        if not isinstance(more, Pairs):
            raise TypeError(
                f"more is a {type(more).__name__}, expected Pairs: build them with "
                "Pairs.from_frame, Pairs.from_ids or Pairs(left, right, same)"
            )
        if self.scale != more.scale:
            raise ValueError(
                f"these answers are {self.scale} and the new ones {more.scale}: give both the same "
                "levels"
            )
        ids, place = _joined_items(self, more)
        both = self, more
        marks = [np.zeros(p.n_pairs, bool) if p.chosen is None else p.chosen for p in both]
        given: dict[str, Any] = {"chosen": np.concatenate(marks)}
        for name in ("annotator", "weight"):
            one, other = (part._named(name) for part in both)
            if self.n_pairs and more.n_pairs and (one is None) != (other is None):
                which = "new" if other is None else "first"
                raise ValueError(
                    f"{name} is given for some answers only: give it for the {which} ones too"
                )
            known = [values for values in (one, other) if values is not None and values.size]
            given[name] = np.concatenate(known) if known else None
        size = max(self.n_items, int(place.max(initial=-1)) + 1) if ids is None else len(ids)
        groups = np.full(size, None, dtype=object)
        for part, where in ((self, np.arange(self.n_items)), (more, place)):
            if (named := part._named("groups")) is not None:
                groups[where] = named
        names = {*self.class_names, *more.class_names}
        graded = None if self.level is None else np.concatenate([self.level, levels_of(more)])
        return Pairs(
            np.concatenate([self.left, place[more.left]]),
            np.concatenate([self.right, place[more.right]]),
            np.concatenate([self.same, more.same]),
            size,
            labels={**self.labels, **{int(place[k]): name for k, name in more.labels.items()}},
            groups=None if self.groups is more.groups is None else groups,
            **given,
        )._replace(
            class_names=names_in(dict(enumerate(names))),
            item_ids=ids,
            dropped=self.dropped,
            question=_joined_questions(self, more),
            level=graded,
            scale=self.scale,
        )

    def _named(self, column: str) -> NDArray[Any] | None:
        """Return a column as it was given: annotators and groups by their names."""
        values: NDArray[Any] | None = getattr(self, column)
        names = {"annotator": self.annotator_names, "groups": self.group_names}.get(column)
        return values if names is None else np.asarray(names[values])

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
        scale: Scale | None = None,
    ) -> Pairs:
        """Read pairs from a pandas or polars DataFrame or a pyarrow Table.

        Columns not named are guessed from common spellings; `annotator=False` or `weight=False`
        leaves that column out. `items` holds the item ids in table order (`range(len(X))` if the
        columns hold positions); without it integers ≥ 0 are positions, up to the largest one seen,
        and other ids are numbered as they appear (see `item_ids`). Missing or unsure answers and
        unknown ids raise, or are dropped with a warning and counted in the audit. ``words`` says
        what answers of your own mean: {"aye": "same", "nay": "different", "hm": "unsure"}.

        What `to_frame` wrote comes back: columns called chosen (true or false) and question (whole
        numbers), groups and labels with ``items=pairs.items_frame()``, and levels with
        ``scale=pairs.scale``.

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
        extra = columns_as_written(frame)
        about = {} if items is None else columns_of_items(items)
        pairs = cls.from_ids(
            table["left"],
            table["right"],
            answered,
            who,
            weights,
            items=None if "position" in about else about.get("id", items),
            unknown=unknown,
            chosen=extra.get("chosen"),
            question=extra.get("question"),
        )
        if "position" in about:
            size = check_n_items(pairs.left, pairs.right, len(about["position"]))
            pairs = pairs._replace(n_items=size)
        if "group" in about:
            pairs = pairs.with_groups(about["group"])
        if "label" in about:
            known = enumerate(about["label"].tolist())
            labels = {k: one for k, one in known if one is not None and one == one}
            pairs = pairs.with_labels(labels, "position")
        if scale is None and "level" in extra and table["same"].values.dtype.kind == "b":
            warn_user(
                "the column level was not read, only yes or no of each answer: give scale=, such "
                "as the scale of the pairs that wrote it",
                UserWarning,
            )
        if scale is not None and not scale.is_plain:
            if "level" not in extra or pairs.n_pairs != len(extra["level"]):
                raise ValueError(
                    "scale= reads the column level, of every row: the table has none, or rows were "
                    "dropped. Use Pairs.from_levels for answers on a scale of your own"
                )
            pairs = pairs._replace(level=level_codes(extra["level"], scale), scale=scale)
        warn_dropped(pairs.dropped, answered.usable.size, stacklevel=2)
        return pairs

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return the answers as a data frame, from which `from_frame` makes the same pairs.

        Columns left, right, same, and annotator, weight, chosen, question and level where there are
        any. Groups and labels are in `items_frame`. ``backend`` is "pandas", "polars" or "pyarrow".

        >>> pairs = Pairs.from_ids(["p", "q"], ["q", "r"], [True, False], annotator=["ann", "bob"])
        >>> pairs.to_frame().values.tolist()
        [['p', 'q', True, 'ann'], ['q', 'r', False, 'bob']]
        """
        columns = {"left": ids_of(self, self.left), "right": ids_of(self, self.right)}
        for name in ("same", "annotator", "weight", "chosen", "question"):
            if (values := self._named(name)) is not None:
                columns[name] = np.array(values)
        if "question" in columns:  # weights without the share that questions take
            columns["weight"] /= question_weights(columns["question"], self.left, self.right)
        if self.level is not None:
            columns["level"] = words_of(self)
        return frame_of(columns, backend)

    def items_frame(self, backend: Backend = "pandas") -> Any:
        """Return the items as a data frame: id, or else position, and group and label if known.

        >>> pairs = Pairs.from_ids(["p"], ["q"], [True]).with_labels({"p": "dog", "q": "cat"})
        >>> pairs.items_frame().values.tolist()
        [['p', 'dog'], ['q', 'cat']]
        """
        key = "position" if self.item_ids is None else "id"
        columns: dict[str, NDArray[Any]] = {key: ids_of(self, np.arange(self.n_items))}
        if (groups := self._named("groups")) is not None:
            columns["group"] = groups
        if self.labels:
            columns["label"] = np.array([self.labels.get(k) for k in range(self.n_items)], object)
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
        question: ArrayLike | None = None,
    ) -> Pairs:
        """Take answers about items named by ids; see `from_frame` for what ``items`` does.

        ``dropped`` counts the answers that were unsure (where ``same`` was parsed already), those
        left out for an unknown id, with `unknown="drop"`, and ``copies`` left out before.

        >>> Pairs.from_ids(["p", "q"], ["q", "r"], [True, False], items=["r", "q", "p"]).left
        array([2, 1], dtype=int32)
        """
        parsed = same if isinstance(same, answers.Parsed) else answers.parse(same)
        given = {"annotator": annotator, "weight": weight, "chosen": chosen, "question": question}
        more: dict[str, Any] = {
            name: column(one, name) for name, one in given.items() if one is not None
        }
        ends = [
            end if isinstance(end, Column) else Column(name, column(end, name))
            for name, end in (("left", left), ("right", right))
        ]
        sizes = {"right": ends[1].values, "same": parsed.usable}
        check_lengths(ends[0].values.size, **sizes, **more)
        ends = [end._replace(values=end.values[parsed.usable]) for end in ends]
        first, second, ids = number_items(ends[0], ends[1], items, unknown)
        known = (first >= 0) & (second >= 0)
        rows = np.flatnonzero(parsed.usable)[known]
        pairs = cls(
            first[known],
            second[known],
            parsed.same[known],
            None if ids is None else len(ids),
            **{name: one[rows] for name, one in more.items()},
        )
        n_unsure = parsed.usable.size - known.size
        dropped = {"unsure": n_unsure, "unknown": int(np.count_nonzero(~known))}
        dropped |= {"copies": copies} if copies else {}
        return pairs._replace(item_ids=ids, dropped=dropped)

    @classmethod
    def from_levels(
        cls,
        left: ArrayLike,
        right: ArrayLike,
        level: ArrayLike,
        levels: Sequence[object],
        unsure: object | None = None,
        n_items: int | None = None,
        annotator: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        same_from: object | None = None,
        **more: Any,
    ) -> Pairs:
        """Take answers on a scale: ``levels`` from low to high, ``unsure`` outside of the order.

        ``same`` is a view: levels from ``same_from`` on, the upper half unless given, read as
        "same". `JointPairClassifier` learns from the levels themselves, and from unsure answers.
        Two levels without unsure are plain answers. ``more`` are other arguments of `Pairs`.

        >>> pairs = Pairs.from_levels([0, 1, 0], [1, 2, 2], [4, 2, 0], [1, 2, 3, 4], unsure=0)
        >>> pairs
        Pairs[3 items](n_pairs=3, '1': 0, '2': 1, '3': 0, '4': 1, '0': 1)
        >>> pairs.same.tolist(), pairs.level.tolist(), pairs.scale.unsure
        ([True, False, False], [3, 1, 4], '0')
        """
        scale = scale_of(levels, unsure, same_from)
        later = np.zeros(np.size(level), dtype=bool)
        pairs = cls(left, right, later, n_items, annotator, weight, **more)
        return with_levels(pairs, level, scale)

    @classmethod
    def from_confidence(
        cls,
        left: ArrayLike,
        right: ArrayLike,
        same: ArrayLike,
        confidence: ArrayLike,
        levels: Sequence[object] | None = None,
        **more: Any,
    ) -> Pairs:
        """Take yes or no with a confidence each: from "different, sure" to "same, sure".

        ``confidence`` holds numbers from 0 to 1, which are cut into thirds, or words, whose order
        ``levels`` gives from low to high. What a confidence is worth is learnt as that of a grade;
        a ``weight`` counts an answer more often and is something else.

        >>> pairs = Pairs.from_confidence([0, 1], [1, 2], ["yes", "no"], ["low", "high"],
        ...                               levels=["low", "high"])
        >>> pairs.scale.names
        ('different, high', 'different, low', 'same, low', 'same, high')
        >>> pairs.level.tolist(), pairs.same.tolist()
        ([2, 0], [True, False])
        """
        pairs = cls(left, right, answers.parse(same).same, **more)
        return with_confidence(pairs, confidence, levels)

    @classmethod
    def from_groups(
        cls,
        groups: Sequence[Sequence[ArrayLike]] | Sequence[Sequence[int]],
        n_items: int | None = None,
        annotator: ArrayLike | None = None,
    ) -> Pairs:
        """Take groups into which somebody sorted items at once, as answers to one question each.

        ``groups`` are lists of item positions, [[0, 1], [2]], sorted by one person; or a list of
        such sortings, then with one ``annotator`` for each. Every two items of a sorting are a
        pair. Only m − 1 of its m(m − 1)/2 answers are free, and they weigh as many.

        >>> pairs = Pairs.from_groups([[0, 1], [2]])
        >>> pairs.same.tolist(), pairs.question.tolist(), pairs.weight.round(2)
        ([True, False, False], [0, 0, 0], array([0.67, 0.67, 0.67], dtype=float32))
        """
        given: list[Any] = list(groups)
        nested = bool(given) and all(
            len(one) and np.ndim(one[0]) == 1 for one in given if hasattr(one, "__len__")
        )
        sortings = given if nested else [given]
        who = None if annotator is None else np.atleast_1d(np.asarray(annotator))
        if who is not None and len(who) != len(sortings):
            raise ValueError(
                f"annotator has {len(who)} entries but there are {len(sortings)} sortings: give "
                "one for each"
            )
        ends, same, question = [], [], []
        for k, sorting in enumerate(sortings):
            items = np.concatenate([np.asarray(group, dtype=np.int64) for group in sorting])
            if np.unique(items).size < items.size:
                raise ValueError(f"sorting {k} has an item in two places: {items.tolist()}")
            group = np.repeat(np.arange(len(sorting)), [len(one) for one in sorting])
            first, second = np.triu_indices(items.size, 1)
            ends.append(np.stack([items[first], items[second]]))
            same.append(group[first] == group[second])
            question.append(np.full(first.size, k))
        left, right = np.concatenate(ends, axis=1)
        asked = np.concatenate(question)
        people = None if who is None else who[asked]
        return cls(left, right, np.concatenate(same), n_items, people, question=asked)

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
        Pairs[3 items](n_pairs=3, same=1, different=2)
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


Positions = NDArray[np.integer[Any]]

_HERE = "pairs are in memory already"
#: Methods of `Pairs` in 0.2.0, for one version: what to write instead, and what they did.
FORMER: dict[str, tuple[str, Callable[..., Any]]] = {
    "among_some_items": (_HERE, lambda pairs, _: (pairs, np.arange(pairs.n_items))),
    "batches": (
        "read left, right, same, annotator and weight",
        lambda p, *_: iter([Batch(p.left, p.right, p.same, p.annotator, p.weight)]),
    ),
    "copies": (
        "write without_copies()",
        lambda p: copied(p.left, p.right, levels_of(p), p.n_items, p.annotator, p.weight),
    ),
    "degrees": (
        "use item_counts().total",
        lambda pairs: pairs.reweighted(None).item_counts().total.astype(np.int64),
    ),
    "drawn_at_random": ("select(~pairs.chosen)", lambda pairs: drawn_at_random(pairs)),
    "ids_of": ("write item_ids[positions]", lambda p, at: ids_of(p, np.asarray(at))),
    "in_order": ("sort what to_frame() returns", lambda pairs: sorted_answers(pairs)),
    "neighbour_sums": ("use item_counts()", lambda pairs, values: neighbour_sums(pairs, values)),
    "pooled_answers": ("write without_self_pairs()", lambda pairs: pairs.without_self_pairs()),
    "sample": (_HERE, lambda pairs, _: pairs),
    "to_pairs": (_HERE, lambda pairs: pairs),
}
#: The same of its attributes.
FORMER_VALUES: dict[str, tuple[str, Callable[..., Any]]] = {
    "nbytes": ("leave it out", lambda pairs: 9 * pairs.n_pairs),
    "pair_keys": ("use left and right", lambda pairs: keys_of(pairs)),
    "total_weight": ("add up weight", lambda pairs: float(weights_of(pairs).sum())),
    "weights": ("read weight, None where all are 1", weights_of),
}


def in_memory(answers: Answers, at_most: int | None = None) -> Pairs:
    """Return answers in memory: all, or about ``at_most`` of a `PairTable`; never part of `Pairs`.

    >>> in_memory(Pairs([0, 1], [1, 2], [True, False]), at_most=1).n_pairs
    2
    """
    if isinstance(answers, Pairs):
        return answers
    table: Any = answers
    some: Pairs = table.to_pairs() if at_most is None else table.sample(at_most)
    return some


def pooled_answers(answers: Answers) -> Pairs:
    """Return answers without self pairs; of a `PairTable` the two sums, "same" and "different"."""
    table: Any = answers
    in_memory = isinstance(answers, Pairs)
    pooled: Pairs = table.without_self_pairs() if in_memory else table.pooled_answers()
    return pooled


def drawn_at_random(pairs: Pairs) -> Pairs:
    """Leave out the answers about chosen pairs; the same object if there are none.

    What is left shows the classes' shares by its share of "same", and the accuracy of a
    prediction by how often it agrees. Chosen pairs show neither.

    >>> drawn_at_random(Pairs([0, 1], [1, 2], [1, 0], chosen=[True, False]))
    Pairs[3 items](n_pairs=1, same=0, different=1)
    """
    if pairs.chosen is None:
        return pairs
    return pairs.select(~pairs.chosen)._replace(chosen=None)


def ids_of(pairs: Pairs, positions: NDArray[Any]) -> NDArray[Any]:
    """Return the ids of items at these positions: as they were given, else the positions.

    >>> ids_of(Pairs.from_ids(["p", "q"], ["q", "r"], [True, False]), np.array([2, 0]))
    array(['r', 'p'], dtype='<U1')
    """
    return positions if pairs.item_ids is None else pairs.item_ids[positions]


def keys_of(pairs: Pairs) -> NDArray[np.int64]:
    """Return one number per unordered pair of items, equal for repeats; (n_pairs,)."""
    return pair_keys(pairs.left, pairs.right, pairs.n_items)


def levels_of(pairs: Pairs) -> NDArray[np.integer[Any]]:
    """Return the level of each answer as a code of its `scale`: 0 different, 1 same where plain."""
    return pairs.same.astype(np.int8) if pairs.level is None else pairs.level


def words_of(pairs: Pairs) -> NDArray[np.str_]:
    """Return each answer in words: "same" and "different", or the name of its level; (n_pairs,).

    >>> graded = Pairs.from_levels([0, 1], [1, 2], [3, 0], levels=[1, 2, 3, 4], unsure=0)
    >>> words_of(graded).tolist()
    ['3', '0']
    """
    names = np.array([*pairs.scale.meanings()], dtype=str)
    return np.asarray(names[levels_of(pairs)])


def scores_of(pairs: Pairs) -> Array:
    """Return how near to "same" each answer is, from 0 to 1, (n_pairs,); unsure is the mean."""
    score: Array = pairs.scale.scores[levels_of(pairs)]
    known = np.isfinite(score)
    mean = np.average(score[known], weights=weights_of(pairs)[known]) if known.any() else 0.5
    return np.where(known, score, mean)


def neighbour_sums(answers: Answers, values: ArrayLike) -> tuple[Array, Array]:
    """Return Σ_j w·values[j] over "same" and over "different" answers, (n_items, k) each.

    ``values`` is (n_items, k); self pairs do not count. Indicators of folds as values count the
    answers of each item by the fold of the other one.

    >>> neighbour_sums(Pairs([0, 0], [1, 2], [True, False]), [[1.0], [2.0], [4.0]])[0].ravel()
    array([2., 1., 0.])
    """
    if not isinstance(answers, Pairs):
        table: Any = answers
        sums: tuple[Array, Array] = table.neighbour_sums(values)
        return sums
    weight = np.where(answers.left == answers.right, 0.0, weights_of(answers))
    return sum_neighbours(answers.left, answers.right, answers.same, weight, values)


def sorted_answers(pairs: Pairs) -> tuple[Pairs, NDArray[np.intp]]:
    """Return the same answers in an order of their own, and where each of them was, (n_pairs,).

    The lower position is left; answers are sorted by (left, right, answer, annotator, weight),
    so that neither their order nor that of their ends matters any more.

    >>> ordered, place = sorted_answers(Pairs([2, 0], [1, 1], [True, False]))
    >>> ordered.left, ordered.right, place
    (array([0, 1], dtype=int32), array([1, 2], dtype=int32), array([1, 0]))
    """
    labels = dict(sorted(pairs.labels.items()))
    key = 2 * keys_of(pairs) + pairs.same
    if (np.diff(key) > 0).all() and (pairs.left <= pairs.right).all():
        return pairs._replace(labels=labels), np.arange(pairs.n_pairs)
    columns = (pairs.chosen, pairs.weight, pairs.annotator, pairs.level)
    more = [one for one in columns if one is not None]
    place = np.lexsort((*more, key)) if more else np.argsort(key, kind="stable")
    low, high = np.minimum(pairs.left, pairs.right), np.maximum(pairs.left, pairs.right)
    ends = {"left": low[place], "right": high[place]}
    return pairs._replace(**pairs._of_pairs(place), **ends, labels=labels), place


def with_levels(pairs: Pairs, level: ArrayLike, scale: Scale) -> Pairs:
    """Return the same pairs with these answers, (n_pairs,), levels of a scale.

    >>> from noisypairs.pairs.levels import Scale
    >>> with_levels(Pairs([0], [1], [False]), ["yes"], Scale(("no", "yes"), "unsure"))
    Pairs[2 items](n_pairs=1, 'no': 0, 'yes': 1, 'unsure': 0)
    """
    codes = level_codes(level, scale)
    check_lengths(pairs.n_pairs, level=codes)
    same = scale.same_levels[codes]
    if scale.is_plain:
        return pairs._replace(same=same, level=None, scale=PLAIN)
    return pairs._replace(same=same, level=codes, scale=scale)


def with_confidence(
    pairs: Pairs, confidence: ArrayLike, levels: Sequence[object] | None = None
) -> Pairs:
    """Return the same answers of yes or no as levels, by how sure each is, (n_pairs,).

    As `Pairs.from_confidence`. Numbers may be written as text.

    >>> with_confidence(Pairs([0, 1], [1, 2], [1, 0]), ["0.9", "0.2"]).level.tolist()
    [5, 2]
    """
    if levels is None:
        given = answers.column(confidence, "confidence")
        try:
            amount = check_amounts(given.astype(np.float64), "confidence", 1.0)
        except ValueError as error:
            raise ValueError(f"{error}; of words say the order, lowest first: levels") from error
        cuts = np.unique(np.quantile(amount, [1 / 3, 2 / 3])) if amount.size else amount
        cuts = cuts[cuts < amount.max(initial=0.0)]
        code: NDArray[np.integer[Any]] = np.searchsorted(cuts, amount, side="left")
        ends = [f"{cut:.3g}" for cut in cuts.tolist()]
        names = [f"up to {end}" for end in ends] + [f"above {ends[-1]}" if ends else "any"]
    else:
        names = [str(name).strip() for name in levels]
        code = level_codes(answers.column(confidence, "confidence"), Scale(tuple(names)))
    m = len(names)
    check_lengths(pairs.n_pairs, confidence=code)
    ordered = [f"different, {name}" for name in names[::-1]] + [f"same, {n}" for n in names]
    level = np.where(pairs.same, m + code, m - 1 - code)
    return with_levels(pairs, np.array(ordered)[level], Scale(tuple(ordered), None, m))


def with_families(pairs: Pairs, family: ArrayLike) -> Pairs:
    """Return the same answers, everybody called "family/name"; ``family`` is (n_pairs,).

    >>> pairs = Pairs([0, 1], [1, 2], [1, 0], annotator=["long", "short"])
    >>> with_families(pairs, ["gpt", "gpt"]).annotator_names.tolist()
    ['gpt/long', 'gpt/short']
    """
    if pairs.annotator is None or pairs.annotator_names is None:
        raise ValueError("a family is that of an annotator: say who answered, too")
    given = answers.column(family, "family")
    check_lengths(pairs.n_pairs, family=given)
    own = np.asarray(pairs.annotator_names)[pairs.annotator].tolist()
    names = [f"{one}/{name}" for one, name in zip(given.tolist(), own, strict=True)]
    codes, sorted_names = check_annotators(np.array(names, dtype=object), pairs.n_pairs)
    return pairs._replace(annotator=codes, annotator_names=sorted_names)


def with_questions(pairs: Pairs, question: ArrayLike | None) -> Pairs:
    """Return the same answers, given together where ``question`` (n_pairs,) is equal.

    Their weights are multiplied by 2/m, see `Pairs`; ids need to be unique only for each
    annotator. None forgets what was asked together, and leaves weights as they are.

    >>> pairs = Pairs([0, 0, 1], [1, 2, 2], [True, False, False])
    >>> with_questions(pairs, ["q", "q", "q"]).weight.round(2)
    array([0.67, 0.67, 0.67], dtype=float32)
    """
    codes = check_questions(question, pairs.annotator, pairs.n_pairs)
    if codes is None:
        return pairs._replace(question=None)
    share = question_weights(codes, pairs.left, pairs.right)
    weight = share if pairs.weight is None else pairs.weight * share
    return pairs._replace(question=codes, weight=weight)


def _joined_items(first: Pairs, more: Pairs) -> tuple[NDArray[Any] | None, NDArray[np.int64]]:
    """Return the ids of all items, and where each item of ``more`` is among them."""
    if first.item_ids is None and more.item_ids is None:
        return None, np.arange(more.n_items)
    if first.item_ids is None or more.item_ids is None:
        known, other = ("first", "new") if more.item_ids is None else ("new", "first")
        raise ValueError(
            f"items have ids in the {known} pairs only: build the {other} ones with from_frame or "
            "from_ids too"
        )
    place = {item: k for k, item in enumerate(first.item_ids.tolist())}
    for item in more.item_ids.tolist():
        place.setdefault(item, len(place))
    where = np.array([place[item] for item in more.item_ids.tolist()], dtype=np.int64)
    return (first.item_ids if len(place) == first.n_items else id_array(list(place))), where


def _joined_questions(first: Pairs, more: Pairs) -> NDArray[np.int32] | None:
    """Return the questions of both; answers that were given alone are questions of their own."""
    if first.question is None and more.question is None:
        return None
    codes, n = [], 0
    for one in (first, more):
        own = np.arange(one.n_pairs) if one.question is None else one.question
        codes.append(own + n)
        n += int(own.max(initial=-1)) + 1
    return np.concatenate(codes).astype(np.int32)


def check_positions(values: ArrayLike, name: str) -> NDArray[np.int64]:
    """Return item positions as int64, shape (n,); whole floats pass, anything else is refused."""
    array = column(values, name)
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"{name} holds values such as {array.tolist()[0]!r}, expected integer positions; "
            f"for ids use Pairs.from_frame(..., items=ids)"
        )
    wrong = ~(array >= 0) | ~np.isfinite(array) | (array != np.floor(array))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(
            f"{name} has {array[at]} at pair {at}, expected a whole number ≥ 0: "
            f"positions count the rows of the items table from 0"
        )
    return array.astype(np.int64)


def check_couples(values: ArrayLike, name: str) -> NDArray[np.int64]:
    """Return position pairs as an array of shape (n, 2); an empty list has none."""
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"{name} has shape {array.shape}, expected (n_pairs, 2): two positions per row"
        )
    return np.column_stack([check_positions(ends, name) for ends in array.T])


def check_n_items(left: Positions, right: Positions, n_items: int | None) -> int:
    """Return the number of items: the one given if all positions are below it, else max + 1."""
    largest = int(max(left.max(initial=-1), right.max(initial=-1)))
    if n_items is None:
        if largest < 0:
            raise ValueError("there are no pairs, so n_items cannot be guessed: give n_items")
        return largest + 1
    size = operator.index(n_items)
    if size <= largest:
        raise ValueError(
            f"position {largest} is too large for n_items={size}: positions begin at 0. If these "
            "begin at 1, subtract 1; for new items give a larger n_items"
        )
    return size


def check_lengths(n_pairs: int, **columns: NDArray[Any] | None) -> None:
    """Raise unless every column has one entry per pair."""
    wrong = {k: v.size for k, v in columns.items() if v is not None and v.size != n_pairs}
    if wrong:
        sizes = ", ".join(f"{name} has {size}" for name, size in wrong.items())
        raise ValueError(f"left has {n_pairs} entries but {sizes}: give one per pair to each")


def check_amounts(values: ArrayLike, name: str, upper: float = np.inf) -> NDArray[np.float32]:
    """Return finite numbers from 0 to `upper` as float32, shape (n,)."""
    array = column(values, name)
    if array.size and array.dtype.kind not in "biuf":
        raise TypeError(f"{name} holds {array.dtype} values, expected numbers")
    with np.errstate(over="ignore"):  # too large for float32: infinite, and refused below
        single = array.astype(np.float32)
    wrong = ~((single >= 0) & (single <= upper) & np.isfinite(single))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(
            f"{name} has {array[at]} at pair {at}, expected a number in [0, {upper:g}]"
        )
    return single


def check_weight(weight: ArrayLike | None, n_pairs: int) -> NDArray[np.float32] | None:
    """Return positive finite weights as float32, shape (n_pairs,)."""
    if weight is None:
        return None
    amounts = check_amounts(weight, "weight")
    check_lengths(n_pairs, weight=amounts)
    if not amounts.all():
        raise ValueError(
            f"weight is 0 at pair {int(np.argmin(amounts))}, expected positive numbers: "
            f"leave pairs of no weight out with select(weight > 0)"
        )
    return amounts


def check_annotators(
    annotator: ArrayLike | None, n_pairs: int
) -> tuple[NDArray[np.int32] | None, NDArray[Any] | None]:
    """Return annotators as int32 codes, shape (n_pairs,), and their sorted names."""
    if annotator is None:
        return None, None
    array = column(annotator, "annotator")
    check_lengths(n_pairs, annotator=array)
    distinct, codes = factorise(array)
    cleaned = clean_ids(distinct, "annotator")
    try:
        names = sorted(set(cleaned))
    except TypeError as error:
        raise TypeError("annotator mixes text and numbers: use ids of one type") from error
    code = {name: index for index, name in enumerate(names)}
    return np.array([code[name] for name in cleaned], np.int32)[codes], id_array(names)


def check_labels(labels: Mapping[int, Hashable] | None, n_items: int) -> dict[int, Hashable]:
    """Return known classes by item position; refuse unknown items and missing classes."""
    if labels is None:
        return {}
    if not isinstance(labels, Mapping):
        raise TypeError(
            f"labels is a {type(labels).__name__}, expected {{item position: class}}: of a column "
            "of classes, dict(enumerate(column)) without the unknown ones"
        )
    known = {operator.index(item): name for item, name in labels.items()}
    for item, name in known.items():
        if not 0 <= item < n_items:
            raise ValueError(f"labels names item {item}, but the items are 0 … {n_items - 1}")
        if name is None or name != name:
            raise ValueError(f"labels gives {name} for item {item}: leave unknown classes out")
    return known


def names_in(labels: Mapping[int, Hashable]) -> tuple[Hashable, ...]:
    """Return the sorted names of the classes of labelled items.

    >>> names_in({3: "dog", 5: "cat", 8: "dog"})
    ('cat', 'dog')
    """
    names = set(labels.values())
    mixed = len({type(name) for name in names}) > 1
    return tuple(sorted(names, key=str if mixed else None))  # type: ignore[type-var,arg-type]


def check_index(which: Any, size: int, what: str) -> NDArray[np.int64]:
    """Return a mask, slice or array of positions as positions 0 … size−1, shape (n,)."""
    if isinstance(which, slice) or which is Ellipsis:
        return np.arange(size)[which]
    index = np.asarray(which)
    if index.ndim != 1 or isinstance(which, tuple):  # numpy reads a tuple as several axes
        advice = "; for answers use select(...)" if what == "items" else ""
        raise TypeError(
            f"{which!r} is no index of {what}: expected a list, a mask or a slice of {what}{advice}"
        )
    if index.dtype.kind == "b":
        if index.size != size:
            raise IndexError(f"the mask has {index.size} entries but there are {size} {what}")
        return np.flatnonzero(index)
    if index.size and index.dtype.kind not in "iu":
        raise TypeError(f"cannot take {what} by {index.dtype} values: give integers or a mask")
    if index.size and not (-size <= index.min() and index.max() < size):
        outside = index[(index < -size) | (index >= size)][0]
        raise IndexError(f"there are {size} {what}, 0 … {size - 1}: {outside} is none of them")
    return np.where(index < 0, index + size, index).astype(np.int64)


def check_chosen(chosen: ArrayLike | None, n_pairs: int) -> NDArray[np.bool_] | None:
    """Return the mark of pairs that were not drawn at random, (n_pairs,); None if there are none.

    >>> check_chosen([0, 1], 2), check_chosen([False], 1)
    (array([False,  True]), None)
    """
    if chosen is None:
        return None
    marks = np.asarray(chosen)
    if marks.dtype != bool and not np.isin(marks, (0, 1)).all():
        raise ValueError("chosen holds other values than True and False (or 1 and 0)")
    check_lengths(n_pairs, chosen=marks)
    return marks.astype(bool) if marks.any() else None


Codes = NDArray[np.int32]


def check_questions(question: ArrayLike | None, annotator: Codes | None, n: int) -> Codes | None:
    """Return questions as int32 codes, shape (n,); ids of two annotators are two questions."""
    if question is None:
        return None
    array = column(question, "question")
    check_lengths(n, question=array)
    codes = factorise(array)[1].astype(np.int64)
    if annotator is not None:
        codes = codes * (int(annotator.max(initial=0)) + 1) + annotator
    return factorise(codes)[1].astype(np.int32)


def question_weights(
    question: NDArray[Any], left: NDArray[Any], right: NDArray[Any]
) -> NDArray[np.float32]:
    """Return what each answer counts, shape (n,): (items − 1) / answers of its question, at most 1.

    Sorting m items yields m(m−1)/2 dependent pair answers, m−1 of them at most are free: these
    along a tree of "same" and "different" fix the groups.

    >>> three = question_weights(np.zeros(3, int), np.array([4, 4, 7]), np.array([7, 9, 9]))
    >>> alone = question_weights(np.arange(2), np.array([4, 4]), np.array([7, 9]))
    >>> three.astype(float).round(2).tolist(), alone.tolist()
    ([0.67, 0.67, 0.67], [1.0, 1.0])
    """
    answers = np.bincount(question)
    ends = np.concatenate([np.stack([question, left], 1), np.stack([question, right], 1)])
    items = np.bincount(np.unique(ends, axis=0)[:, 0], minlength=len(answers))
    share = np.minimum((items - 1) / np.maximum(answers, 1), 1.0).astype(np.float32)
    counts: NDArray[np.float32] = share[question]
    return counts
