"""All answers that are more likely wrong than right, as a table: for pages, files and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.app.suspects.reasons import Clue, explained
from noisypairs.pairs import Pairs
from noisypairs.pairs.pairs import keys_of, words_of

if TYPE_CHECKING:
    from noisypairs.app.files import Dataset


@dataclass(frozen=True)
class SuspectPair:
    """An answer more likely wrong than right, with both items as the file has them, and why.

    ``doubts`` are the names of the reasons that speak against it (`reasons.REASONS`), ``why`` all
    sentences. The numbers behind them are those of `reasons.Clue`.
    """

    left: str
    right: str
    answer: str  # "same" or "different", or the level
    annotator: str | None
    probability: float  # that the answer is wrong
    left_features: Mapping[str, str]
    right_features: Mapping[str, str]
    doubts: tuple[str, ...] = ()
    why: tuple[str, ...] = ()
    others_same: float | None = None
    others_different: float | None = None
    features_same: float | None = None
    verdict: str = "wrong"  # or "hard": so many people err on the pair that it blames nobody
    expected_error: float | None = None
    line: str = ""  # where the answer stands in its file


#: Suspects that a page shows; a file has them all.
MOST_SHOWN = 500
#: Columns of the file before those with the items' contents.
COLUMNS = (
    "left",
    "right",
    "answer",
    "annotator",
    "probability_wrong",
    "verdict",
    "others_same",
    "others_different",
    "links_same",
    "links_different",
    "features_same",
    "expected_error",
    "doubts",
    "why",
)


@dataclass(frozen=True, eq=False)
class Suspects:
    """Suspect answers, worst first: ``answers`` about items of ``ids``, and what is known of each.

    ``wrong`` (n,) holds the probabilities, ``clues`` one `Clue` per answer, ``features`` the items
    as the file has them; None where no file has them. ``n_wrong`` counts all suspects; of a table
    too large to load fewer may be kept. ``which`` (n,) are their positions among all answers;
    ``lines`` and ``swapped`` say where each stands in its file, and whether its ends do so the
    other way round (`in_file`).
    """

    answers: Pairs
    wrong: Array
    clues: Sequence[Clue]
    features: pd.DataFrame | None
    ids: Sequence[str]
    n_wrong: int
    which: NDArray[np.intp] | None = None
    lines: Sequence[str] = ()
    swapped: NDArray[np.bool_] | None = None

    def in_file(self, data: Dataset) -> Suspects:
        """Return the same with the place of every answer in the file that it was read from."""
        if self.which is None or data.rows is None or data.place is None:
            return self
        places = (data.place(int(row)) for row in data.rows[self.which])
        lines = [place.removeprefix("line ").removeprefix("row ") for place in places]
        swapped = None if data.swapped is None else data.swapped[self.which]
        return replace(self, lines=lines, swapped=swapped)

    @property
    def ends(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Positions of the left and the right items, as their file has them."""
        left, right = self.answers.left, self.answers.right
        if self.swapped is None:
            return left, right
        return np.where(self.swapped, right, left), np.where(self.swapped, left, right)

    def __len__(self) -> int:
        return self.answers.n_pairs

    @property
    def n_hard(self) -> int:
        """How many of these are about a hard pair."""
        return sum(clue.is_hard for clue in self.clues)

    def __iter__(self) -> Iterator[SuspectPair]:
        return self.first(len(self))

    def first(self, n: int) -> Iterator[SuspectPair]:
        """Yield the ``n`` worst."""
        ends, said = self.ends, words_of(self.answers).tolist()
        for k, clue in enumerate(self.clues[:n]):
            left, right = int(ends[0][k]), int(ends[1][k])
            doubts, why = explained(clue)
            yield SuspectPair(
                left=self.ids[left],
                right=self.ids[right],
                answer=said[k],
                annotator=clue.annotator,
                probability=float(self.wrong[k]),
                left_features=cells_of(self.features, left),
                right_features=cells_of(self.features, right),
                doubts=doubts,
                why=why,
                others_same=clue.others_same,
                others_different=clue.others_different,
                features_same=clue.features_same,
                verdict=clue.verdict,
                expected_error=clue.expected_error,
                line=self.lines[k] if self.lines else "",
            )

    def frame(self) -> pd.DataFrame:
        """Return all as a table: `COLUMNS`, the line, and both items' contents, ``left.`` first."""
        told = [explained(clue) for clue in self.clues]
        ends = self.ends
        names = np.asarray(self.ids, dtype=object)
        columns: dict[str, Any] = {"left": names[ends[0]], "right": names[ends[1]]}
        columns["answer"] = words_of(self.answers)
        columns["annotator"] = [clue.annotator for clue in self.clues]
        columns["probability_wrong"] = written(self.wrong)
        columns["verdict"] = [clue.verdict for clue in self.clues]
        for name in COLUMNS[6:10]:
            columns[name] = [whole(getattr(clue, name)) for clue in self.clues]
        for name in ("features_same", "expected_error"):
            known = [getattr(clue, name) for clue in self.clues]
            columns[name] = written(np.array(known, dtype=float))
        columns["doubts"] = ["; ".join(doubts) for doubts, _ in told]
        columns["why"] = [" ".join(why) for _, why in told]
        if self.lines:
            columns["line"] = list(self.lines)
        frame = pd.DataFrame(columns)
        if self.features is None:
            return frame
        contents = [
            self.features.iloc[end].reset_index(drop=True).add_prefix(f"{side}.")
            for side, end in zip(("left", "right"), ends, strict=True)
        ]
        return pd.concat([frame, *contents], axis=1)


def written(probability: Array) -> Array:
    """Return probabilities as files have them: six decimals, and none certain.

    >>> written(np.array([1.0, 0.25, 1e-9])).tolist()
    [0.999999, 0.25, 1e-06]
    """
    return np.clip(probability, 1e-6, 1 - 1e-6).round(6)


def whole(amount: float | None) -> float | int | None:
    """Return an amount as a whole number where it is one."""
    return int(amount) if amount is not None and float(amount).is_integer() else amount


def items_of(found: Iterable[SuspectPair]) -> list[str]:
    """Return the ids of all items that these answers are about, each once, in their order."""
    return list(dict.fromkeys(item for one in found for item in (one.left, one.right)))


def clues_of(
    chosen: NDArray[np.intp],
    pairs: Pairs,
    wrong: Array,
    features_same: Array | None,
    expected_error: Array | None = None,
) -> list[Clue]:
    """Return the clues about some answers, given P(wrong) of all of them, (n_pairs,).

    ``features_same`` (n_chosen,) is P(one class) by features alone, ``expected_error`` (n_pairs,)
    how probably somebody of the crowd errs on each pair.
    """
    others = _others(pairs, chosen)
    links = _links(pairs, chosen)
    who, n_answers, share_wrong = _annotators(pairs, wrong, chosen)
    return [
        Clue(
            same=bool(pairs.same[k]),
            others_same=float(others[0][i]),
            others_different=float(others[1][i]),
            links_same=int(links[0][i]),
            links_different=int(links[1][i]),
            features_same=None if features_same is None else float(features_same[i]),
            annotator=None if who is None else who[i],
            annotator_answers=None if who is None else float(n_answers[i]),
            annotator_wrong=None if who is None else float(share_wrong[i]),
            expected_error=None if expected_error is None else float(expected_error[k]),
        )
        for i, k in enumerate(chosen.tolist())
    ]


def _others(pairs: Pairs, chosen: NDArray[np.intp]) -> tuple[Array, Array]:
    """Return the weight of other answers "same" and "different" to the pairs of chosen answers."""
    _, pair = np.unique(keys_of(pairs), return_inverse=True)
    found = []
    for counted in (pairs.same, ~pairs.same):
        amount = pairs.weights * counted
        found.append(np.bincount(pair, amount)[pair[chosen]] - amount[chosen])
    return found[0], found[1]


def _links(pairs: Pairs, chosen: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count items compared with both ends: called the same as both, and as one of them only.

    An item counts as called the same as another where most answers say so; ties do not count.
    """
    from scipy.sparse import csr_array

    n, sign = pairs.n_items, pairs.weights * np.where(pairs.same, 1.0, -1.0)
    sign = np.where(pairs.left == pairs.right, 0.0, sign)
    one_way = csr_array((sign, (pairs.left, pairs.right)), shape=(n, n))
    both_ways = (one_way + one_way.T).tocsr()
    same, different = (both_ways > 0).astype(np.int64), (both_ways < 0).astype(np.int64)
    left, right = pairs.left[chosen], pairs.right[chosen]

    def meet(first: Any, second: Any) -> NDArray[Any]:
        return np.asarray(first[left].multiply(second[right]).sum(axis=1)).ravel()

    return meet(same, same), meet(same, different) + meet(different, same)


def _annotators(
    pairs: Pairs, wrong: Array, chosen: NDArray[np.intp]
) -> tuple[list[str] | None, Array, Array]:
    """Return who gave each chosen answer, how many they gave, and the share that is wrong."""
    if pairs.annotator is None or pairs.annotator_names is None:
        return None, np.empty(0), np.empty(0)
    size = len(pairs.annotator_names)
    given: Array = np.bincount(pairs.annotator, pairs.weights, size).astype(float)
    share = np.bincount(pairs.annotator, pairs.weights * wrong, size) / np.maximum(given, 1e-12)
    codes = pairs.annotator[chosen]
    return [str(name) for name in pairs.annotator_names[codes]], given[codes], share[codes]


def cells_of(features: pd.DataFrame | None, row: int) -> dict[str, str]:
    """Return the cells of an item as text, without those that are missing."""
    if features is None:
        return {}
    (values,) = features.iloc[[row]].itertuples(index=False, name=None)
    return {
        str(name): f"{value:.4g}" if isinstance(value, float) else str(value)
        for name, value in zip(features.columns, values, strict=True)
        if not _is_missing(value)
    }


def _is_missing(value: Any) -> bool:
    return bool(np.ndim(value) == 0 and pd.isna(value))
