"""Answers that are probably wrong: which, how surely, about what, by whom, and why.

They come from a fit that learnt from the answers, or from a model and any answers. To add a reason,
add a field to `Clue` if none has what it takes, and the object to `REASONS`: reports, files and
filters then have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.app import model_file
from noisypairs.app.encoding import read_content
from noisypairs.app.prediction import blaming, used_columns
from noisypairs.assess.words import chance, percent
from noisypairs.classifier import JointPairClassifier
from noisypairs.errors import collected_warnings
from noisypairs.estimators.base import PairClassifier
from noisypairs.graph.propagation import PairGraph, answer_wrong_probability
from noisypairs.joint.em import beliefs_from
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import weights_of
from noisypairs.pairs.pairs import keys_of, words_of
from noisypairs.tables.propagation import most_suspect

if TYPE_CHECKING:
    from noisypairs.app.files import Dataset


#: A pair is hard from this chance on that somebody of the crowd errs. At .4 two of five do, and an
#: answer is worth 0.03 bits: it says next to nothing about the pair, nor about who gave it.
HARD = 0.4


@dataclass(frozen=True)
class Clue:
    """What is known about one answer; None where it cannot be known.

    Numbers of answers are sums of weights, where answers have weights.
    """

    same: bool  # what was answered
    others_same: float | None  # other answers to the same two items
    others_different: float | None
    links_same: int | None  # items compared with both, and called the same as both …
    links_different: int | None  # … or as one of them only
    features_same: float | None  # P(one class) of the two items by their features alone
    annotator: str | None
    annotator_answers: float | None
    annotator_wrong: float | None  # share of that annotator's answers that are probably wrong
    expected_error: float | None = None  # how probably somebody of the crowd errs on the pair

    @property
    def is_hard(self) -> bool:
        """Whether so many people err on the pair that a wrong answer blames nobody."""
        return self.expected_error is not None and self.expected_error >= HARD

    @property
    def verdict(self) -> str:
        """What a suspect answer is called: "hard" where the pair is, else "wrong"."""
        return "hard" if self.is_hard else "wrong"

    @property
    def opposite(self) -> str:
        """What was not answered."""
        return "different" if self.same else "same"


class Reason(NamedTuple):
    """A reason to doubt an answer.

    ``name`` stands in filters and files. ``says`` gives a sentence wherever there is something to
    say, for or against the answer; ``doubts`` whether it speaks against it.
    """

    name: str
    says: Callable[[Clue], str | None]
    doubts: Callable[[Clue], bool]


def _against(clue: Clue, same: float | None, different: float | None) -> tuple[float, float]:
    """Return how much contradicts the answer, and how much there is in all."""
    said = (same or 0.0), (different or 0.0)
    return said[1 if clue.same else 0], sum(said)


def _others_say(clue: Clue) -> str | None:
    against, total = _against(clue, clue.others_same, clue.others_different)
    if total == 1:
        agrees = "says" if against else "does not say"
        return f"The only other answer to this pair {agrees} {clue.opposite}."
    said = f"{against:g} of {total:g} other answers to this pair say {clue.opposite}."
    return said if total else None


def _links_say(clue: Clue) -> str | None:
    against, total = _against(clue, clue.links_same, clue.links_different)
    if total == 1:
        suggests = "suggests" if against else "does not suggest"
        return f"The only item compared with both {suggests} {clue.opposite}."
    said = f"{against:g} of {total:g} items compared with both suggest {clue.opposite}."
    return said if total else None


def _features_say(clue: Clue) -> str | None:
    share = clue.features_same
    return (
        share
        if share is None
        else f"By features alone, {chance(share)} chance that the two are the same class."
    )


def _features_doubt(clue: Clue) -> bool:
    share = clue.features_same
    return share is not None and (share < 0.5 if clue.same else share > 0.5)


def _hard_says(clue: Clue) -> str | None:
    if not clue.is_hard or clue.expected_error is None:
        return None
    share = percent(clue.expected_error)
    return f"The pair is hard: the model expects {share} of all answers to it to be wrong."


def _annotator_says(clue: Clue) -> str | None:
    if clue.annotator_wrong is None or not clue.annotator_answers:
        return None
    share = percent(clue.annotator_wrong)
    return f"Of the {clue.annotator_answers:g} answers of {clue.annotator}, {share} look wrong."


def _outweighed(same: str, different: str) -> Callable[[Clue], bool]:
    """Return whether more than half of what two fields of a clue count contradicts the answer."""

    def doubts(clue: Clue) -> bool:
        against, total = _against(clue, getattr(clue, same), getattr(clue, different))
        return against > total / 2

    return doubts


#: Reasons in the order in which they are listed.
REASONS = (
    Reason("hard pair", _hard_says, lambda clue: clue.is_hard),
    Reason("others disagree", _others_say, _outweighed("others_same", "others_different")),
    Reason("links disagree", _links_say, _outweighed("links_same", "links_different")),
    Reason("features disagree", _features_say, _features_doubt),
    Reason("annotator often wrong", _annotator_says, lambda one: (one.annotator_wrong or 0) > 0.4),
)
#: What is said where no reason of its own speaks against an answer.
NO_SINGLE = "No single reason; all answers together contradict it."


def explained(clue: Clue) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the reasons that doubt an answer, and all sentences, doubts first.

    >>> clue = Clue(True, 1, 2, 0, 0, 0.02, "p7", 40, 0.1)
    >>> names, sentences = explained(clue)
    >>> names, sentences[0]
    (('others disagree', 'features disagree'), '2 of 3 other answers to this pair say different.')
    """
    doubting = [reason for reason in REASONS if reason.doubts(clue)]
    rest = [reason for reason in REASONS if reason not in doubting]
    said = [reason.says(clue) for reason in (*doubting, *rest)]
    sentences = tuple(one for one in said if one is not None)
    first = () if doubting else (NO_SINGLE,)
    return tuple(reason.name for reason in doubting), (*first, *sentences)


@dataclass(frozen=True)
class SuspectPair:
    """An answer more likely wrong than right, with both items as the file has them, and why.

    ``doubts`` are the names of the reasons that speak against it (`REASONS`), ``why`` all
    sentences. The numbers behind them are those of `Clue`.
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


#: What a suspect pair has of its `Clue`.
OF_CLUES = (
    "annotator",
    "verdict",
    "others_same",
    "others_different",
    "features_same",
    "expected_error",
)
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
                probability=float(self.wrong[k]),
                left_features=cells_of(self.features, left),
                right_features=cells_of(self.features, right),
                doubts=doubts,
                why=why,
                line=self.lines[k] if self.lines else "",
                **{name: getattr(clue, name) for name in OF_CLUES},
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
    nothing = [None] * len(chosen)
    columns = [
        pairs.same[chosen].tolist(),
        *(one.tolist() for one in _others(pairs, chosen)),
        *(one.tolist() for one in _links(pairs, chosen)),
        nothing if features_same is None else features_same.tolist(),
        *(_who_gave(pairs, wrong, chosen) or [nothing] * 3),
        nothing if expected_error is None else expected_error[chosen].tolist(),
    ]
    return [Clue(*known) for known in zip(*columns, strict=True)]


def _others(pairs: Pairs, chosen: NDArray[np.intp]) -> tuple[Array, Array]:
    """Return the weight of other answers "same" and "different" to the pairs of chosen answers."""
    _, pair = np.unique(keys_of(pairs), return_inverse=True)
    found = []
    for counted in (pairs.same, ~pairs.same):
        amount = weights_of(pairs) * counted
        found.append(np.bincount(pair, amount)[pair[chosen]] - amount[chosen])
    return found[0], found[1]


def _links(pairs: Pairs, chosen: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count items compared with both ends: called the same as both, and as one of them only.

    An item counts as called the same as another where most answers say so; ties do not count.
    """
    from scipy.sparse import csr_array

    n, sign = pairs.n_items, weights_of(pairs) * np.where(pairs.same, 1.0, -1.0)
    sign = np.where(pairs.left == pairs.right, 0.0, sign)
    one_way = csr_array((sign, (pairs.left, pairs.right)), shape=(n, n))
    both_ways = (one_way + one_way.T).tocsr()
    same, different = (both_ways > 0).astype(np.int64), (both_ways < 0).astype(np.int64)
    left, right = pairs.left[chosen], pairs.right[chosen]

    def meet(first: Any, second: Any) -> NDArray[Any]:
        return np.asarray(first[left].multiply(second[right]).sum(axis=1)).ravel()

    return meet(same, same), meet(same, different) + meet(different, same)


def _who_gave(pairs: Pairs, wrong: Array, chosen: NDArray[np.intp]) -> list[list[Any]] | None:
    """Return who gave each chosen answer, how many they gave, and the share that is wrong."""
    if pairs.annotator is None or pairs.annotator_names is None:
        return None
    size = len(pairs.annotator_names)
    given: Array = np.bincount(pairs.annotator, weights_of(pairs), size).astype(float)
    share = np.bincount(pairs.annotator, weights_of(pairs) * wrong, size) / np.maximum(given, 1e-12)
    codes = pairs.annotator[chosen]
    names = [str(name) for name in pairs.annotator_names[codes]]
    return [names, given[codes].tolist(), share[codes].tolist()]


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


#: Suspects that are kept of a table too large to load.
MOST_STREAMED = 100_000
#: Rounds in which the rates of everyone who answered are estimated again, at most.
ROUNDS = 20


def training_suspects(
    model: PairClassifier, X: Any, pairs: Any, features: pd.DataFrame | None, ids: Sequence[str]
) -> Suspects:
    """Return the suspects among the answers that a model was fitted to, ``X`` encoded.

    What features say is out of fold where the joint learner has it. A `PairTable` is streamed once;
    of it `MOST_STREAMED` suspects are kept, with what features say alone.
    """
    if not isinstance(pairs, Pairs):
        return _streamed(model, X, pairs, features, ids)
    eta = getattr(model, "oof_proba_", None)
    eta = model.predict_proba(X) if eta is None else eta
    error = getattr(model, "expected_error_", None)
    return _worst(wrong_probability(model, X, pairs), eta, pairs, features, ids, error)


def model_suspects(
    model: PairClassifier, X: Any, pairs: Pairs, features: pd.DataFrame | None, ids: Sequence[str]
) -> Suspects:
    """Return the suspects among any answers about items that a fitted model can classify.

    Beliefs from P(class | x) and all answers (belief propagation under the model's noise). Where
    the answers say who gave them, everybody's rates are estimated from these answers.
    """
    eta = _states(model, X)
    by_annotator = pairs.annotator_names is not None and len(pairs.annotator_names) > 1
    graph = PairGraph.from_pairs(pairs, annotators=by_annotator)
    found = beliefs_from(graph, eta, model.noise_, pairs, ROUNDS)
    class_of = _class_of(model, eta)
    alike = class_of[:, None] == class_of
    wrong = answer_wrong_probability(graph, found.beliefs, found.answers.responses(), alike)
    error = _expected_error(model, pairs, found.item_proba)
    return _worst(wrong, model.predict_proba(X), pairs, features, ids, error)


def _states(model: Any, X: Any) -> Array:
    """Return what the noise of a model is about: P(kind | x) where it has kinds, else classes."""
    found: Array = getattr(model, "kind_proba", model.predict_proba)(X)
    return found


def _class_of(model: Any, eta: Array) -> NDArray[Any]:
    """Return the class of each column of `_states`."""
    found = getattr(model, "kind_class_", None)
    return np.arange(eta.shape[1]) if found is None else np.asarray(found)


def _expected_error(model: Any, pairs: Pairs, beliefs: Array) -> Array | None:
    """Return how probably somebody of the crowd errs on each pair; None for other learners."""
    answers = getattr(model, "answer_model_", None)
    if answers is None:
        return None
    error: Array = model._expected_error(answers.states(beliefs), pairs)
    return error


def suspects_in_files(model: Path, data: Dataset) -> tuple[Suspects, list[str]]:
    """Return the suspects of a data set by the model of a file, and notes on both."""
    if data.features is None:
        raise ValueError(
            "the model needs the features of the items: give their file after the pairs"
        )
    with collected_warnings() as warned:
        loaded = model_file.load(model)
        used, notes = used_columns(loaded, data.features, data.sources[0]["path"])
        with blaming(loaded, model):
            encoder, learner = loaded.pipeline[:-1], loaded.pipeline[-1]
            X, unread = read_content(encoder.transform, used)
            found = model_suspects(learner, X, data.pairs, data.features, data.ids)
    return found.in_file(data), [*warned, *data.notes, *notes, *unread]


def wrong_probability(model: PairClassifier, X: Any, pairs: Pairs) -> Array:
    """Return the probability that each answer is wrong, shape (n_pairs,).

    The joint learner knows it from the whole graph, and where kinds share a name, from what is
    believed of the two items: kinds may differ and the class be one. Else it is Bayes' rule on the
    pair alone: for "same" Σ_{y≠y'} η_y S_yy' η'_y' / ηᵀSη', for "different" Σ_y η_y (1−S_yy) η'_y
    / (1 − ηᵀSη').
    """
    if isinstance(model, JointPairClassifier) and model.wrong_proba_ is not None:
        if len(model.classes_) == model.n_classes_:
            return model.wrong_proba_
        own = model.item_proba_
        one_class = np.einsum("nk,nk->n", own[pairs.left], own[pairs.right])
        by_class: Array = np.where(pairs.same, 1.0 - one_class, one_class)
        return by_class
    eta = model.predict_proba(X)
    S = model.noise_.same_probability(eta.shape[1])
    left, right = eta[pairs.left], eta[pairs.right]
    both = np.einsum("nk,k,nk->n", left, np.diag(S), right)  # one class and called "same"
    same = np.einsum("nk,kl,nl->n", left, S, right)
    together = np.einsum("nk,nk->n", left, right)
    wrong = np.where(pairs.same, same - both, together - both)
    found: Array = wrong / np.clip(np.where(pairs.same, same, 1.0 - same), 1e-12, None)
    return np.where(pairs.left == pairs.right, ~pairs.same, found).astype(float)


def _worst(
    wrong: Array,
    eta: Array,
    pairs: Pairs,
    features: pd.DataFrame | None,
    ids: Sequence[str],
    expected_error: Array | None,
) -> Suspects:
    """Keep what is more likely wrong than right, worst first; what files call equal keeps order."""
    suspect = np.flatnonzero(wrong > 0.5)
    chosen = suspect[np.argsort(-written(wrong[suspect]), kind="stable")]
    together = np.einsum("nk,nk->n", eta[pairs.left[chosen]], eta[pairs.right[chosen]])
    clues = clues_of(chosen, pairs, wrong, together, expected_error)
    few = pairs.select(chosen)
    return Suspects(few, wrong[chosen], clues, features, ids, chosen.size, chosen)


def _streamed(
    model: PairClassifier, X: Any, pairs: Any, features: pd.DataFrame | None, ids: Sequence[str]
) -> Suspects:
    eta = model.predict_proba(X)
    if isinstance(model, JointPairClassifier):
        worst = model.stream_suspects(pairs, MOST_STREAMED)
    else:  # Bayes' rule on the pair alone: beliefs without their neighbours
        S = model.noise_.same_probability(eta.shape[1])
        worst = most_suspect(pairs, eta, S, MOST_STREAMED, depth=1)
    names = pairs.annotator_names
    who = None if worst.annotator is None or names is None else names[worst.annotator]
    kept = worst.wrong > 0.5
    few = Pairs(worst.left, worst.right, worst.same, pairs.n_items, annotator=who).select(kept)
    together = np.einsum("nk,nk->n", eta[few.left], eta[few.right])
    clues = [
        Clue(bool(same), None, None, None, None, float(chance), name, None, None)
        for same, chance, name in zip(few.same, together, _names_of(few), strict=True)
    ]
    return Suspects(few, worst.wrong[kept], clues, features, ids, worst.n_wrong)


def _names_of(pairs: Pairs) -> list[str | None]:
    if pairs.annotator is None or pairs.annotator_names is None:
        return [None] * pairs.n_pairs
    return [str(name) for name in pairs.annotator_names[pairs.annotator]]
