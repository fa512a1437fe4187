"""What learners ask of answers: met by `Pairs` in memory and by `PairTable` in files or engines."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.pairs.audit import Audit
from noisypairs.pairs.counts import ItemCounts

Labels = Mapping[int, Hashable]


class Batch(NamedTuple):
    """Some answers as flat arrays of one length; annotator (codes) and weight may be None."""

    left: NDArray[np.integer[Any]]
    right: NDArray[np.integer[Any]]
    same: NDArray[np.bool_]
    annotator: NDArray[np.int32] | None
    weight: NDArray[np.floating[Any]] | None


@runtime_checkable
class Answers(Protocol):
    """Noisy answers about pairs of items 0 … n_items−1, wherever they are kept.

    >>> from noisypairs import Pairs
    >>> isinstance(Pairs([0], [1], [True]), Answers), isinstance([(0, 1)], Answers)
    (True, False)
    """

    # Only for the type checker: `isinstance` then looks at methods alone, by class. With these it
    # would evaluate each property, and a table would be read to find out whether it is one.
    if TYPE_CHECKING:

        @property
        def n_items(self) -> int:
            """Number of items, in pairs or not."""

        @property
        def n_pairs(self) -> int:
            """Number of answers, repeats and self pairs included."""

        @property
        def labels(self) -> Labels:
            """The known classes, {item position: class}."""

        @property
        def class_names(self) -> tuple[Hashable, ...]:
            """The names of all labelled classes, those of items left out by indexing, too."""

        @property
        def groups(self) -> NDArray[np.int32] | None:
            """Codes of groups of items that show the same thing, (n_items,), if given."""

        @property
        def annotator_names(self) -> NDArray[Any] | None:
            """Sorted names of the annotators, or None where nothing says who answered."""

        @property
        def item_ids(self) -> NDArray[Any] | None:
            """The ids behind the positions, where there are any."""

        @property
        def dropped(self) -> Mapping[str, int]:
            """How many rows were left out, by reason: unsure, unknown."""

    def __getitem__(self, rows: Any) -> Self:
        """Return the sub-graph on the items ``rows``, renumbered in the order given."""

    def without_self_pairs(self) -> Self:
        """Leave out pairs of an item with itself."""

    def with_labels(
        self, labels: Mapping[Any, Hashable] | None, by: Literal["position", "id"] | None = None
    ) -> Self:
        """Return the same answers with these known classes, by position or id, and no others."""

    def with_groups(self, groups: ArrayLike | None) -> Self:
        """Return the same answers with these groups of items, shape (n_items,)."""

    def item_counts(self) -> ItemCounts:
        """Return how often each item occurs in "same" and in "different" pairs."""

    def audit(self) -> Audit:
        """Report repeats, contradictions, isolated items, components, degrees and triangles."""


NO_CLASSES = (
    "compares predictions with classes, which pairs do not hold: leave scoring out for the "
    "likelihood of held-out answers, or score with classes, clf.score(X, y)"
)


def _refuse_what_needs_classes(frame: FrameType | None) -> None:
    """Raise where scikit-learn is about to ask for classes of items, or for groups it lacks.

    Its own message would be about "unknown" targets, or a score of nan without a reason.
    """
    needs = None
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("sklearn."):
        own = frame.f_locals.get("self")
        asking, module = type(own).__name__, type(own).__module__
        scoring = frame.f_locals.get("scoring", getattr(own, "scoring", None))
        if asking.startswith("Stratified"):
            raise ValueError(
                f"{asking} needs the class of every item, which pairs do not hold: leave stratify "
                "out, or use cv=5, KFold or GroupKFold (groups=pairs.groups)"
            )
        if "Group" in asking and frame.f_locals.get("groups", own) is None:
            raise ValueError(
                f"{asking} keeps groups of items together: give them, groups=pairs.groups. "
                "pairs.with_groups(...) sets them"
            )
        if asking.startswith("Halving") and frame.f_code.co_name == "_check_input_parameters":
            raise ValueError(
                f"{asking} counts classes to find its smallest number of items, and pairs hold "
                "none: say it, such as min_resources=100"
            )
        if module.startswith(("sklearn.calibration", "sklearn.ensemble", "sklearn.multiclass")):
            raise ValueError(
                f"{asking} needs the class of every item, which pairs do not hold: give it as "
                f"estimator= to a learner of pairs, or fit it on their predictions"
            )
        if frame.f_globals["__name__"].startswith("sklearn.metrics."):
            raise ValueError(f"this score {NO_CLASSES}")
        needs = scoring if _needs_classes(scoring) else needs
        frame = frame.f_back
    if needs is not None:  # as the outermost call has it
        raise ValueError(f"scoring={needs!r} {NO_CLASSES}")


def _needs_classes(scoring: Any) -> bool:
    """Whether a scoring of scikit-learn, or one of several, is by a metric of its own."""
    if isinstance(scoring, Mapping):
        scoring = [*scoring.values()]
    if isinstance(scoring, list | tuple | set):
        return any(map(_needs_classes, scoring))
    metric = getattr(scoring, "_score_func", None)  # of make_scorer
    return isinstance(scoring, str) or getattr(metric, "__module__", "").startswith("sklearn.")


class OneEntryPerItem:
    """What scikit-learn asks of a target beside X: a length, a shape and a kind of array."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def n_items(self) -> int:
            """Number of items."""

    @property
    def shape(self) -> tuple[int]:
        """(n_items,): beside X, pairs have one entry per item."""
        _refuse_what_needs_classes(sys._getframe(1))
        return (self.n_items,)

    def __len__(self) -> int:
        return self.n_items

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.object_]:
        """Return the class of each item: unknown, so all None.

        scikit-learn asks for this array to find out the kind of target; "unknown" makes it choose a
        plain KFold for `cv=5`, which is the right split here. What needs the classes is refused.
        """
        _refuse_what_needs_classes(sys._getframe(1))
        if dtype is not None and np.dtype(dtype) != np.dtype(object):
            raise TypeError(
                f"{type(self).__name__} is no array of {dtype}: use .left, .right and .same "
                "(of to_pairs())"
            )
        return np.full(self.n_items, None, dtype=object)

    def __copy__(self) -> Self:
        return self  # nothing in here can change

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
