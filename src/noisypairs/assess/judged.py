"""What a joint learner says about answers: which are suspect, which pairs are hard.

Answers to one question about several items: only those that are a partition are possible.

    P(answers) = Π_e σ_e(a_e) / Σ over partitions a' of Π_e σ_e(a'_e),   σ_e(1) ∝ P_e e^δ

with P_e the odds of "same" of pair e alone (`noisypairs.noise.answers.chance_of_same`) and the
product over the pairs e of the question. Among consistent answers "same" is rarer than P_e says,
since one "same" too many breaks a triangle; the shift δ makes up for that, one number for each size
of question, learnt from the questions of the fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logit, logsumexp
from sklearn.utils.validation import check_is_fitted

from noisypairs.algebra import Array
from noisypairs.estimators.inner.features import finite_numbers
from noisypairs.noise.answers import (
    AnswerModel,
    chance_of_same,
    class_chances,
    log_chance,
    log_odds,
)
from noisypairs.noise.people import People
from noisypairs.noise.similarity import ANSWERS, Similarity
from noisypairs.pairs import Pairs
from noisypairs.pairs.columns import Backend, frame_of
from noisypairs.pairs.pairs import ids_of, words_of
from noisypairs.tables.propagation import Suspects, most_suspect

#: More items in one question have too many partitions to go through (877 of seven).
MOST_ITEMS = 7
#: The shift is looked for within these.
SHIFTS = (-4.0, 4.0)

Edges = tuple[tuple[int, int], ...]


class JudgedAnswers:
    """The answers of `fit` and new ones, judged by the fitted answer model."""

    classes_: NDArray[Any]
    n_classes_: int
    item_proba_: Array
    item_kinds_: Array | None
    item_states_: Array
    oof_proba_: Array
    wrong_proba_: Array | None
    expected_error_: Array | None
    answer_model_: AnswerModel
    people_names_: NDArray[Any] | None
    question_shifts_: dict[int, float]
    _check_items: Callable[[Any], Any]  # the learner's, as are those below
    _kind_proba: Callable[[Any], Array]
    _leaves_out: Callable[[str], bool]

    @property
    def parts_(self) -> tuple[str, ...]:
        """The parts of the answer model that are there, by name."""
        return tuple(sorted(part.name for part in self.answer_model_.parts))

    @property
    def people_(self) -> People | None:
        """Bias and skill of everybody, or None where people do not differ or are not known."""
        found: People | None = self.answer_model_.part("people")
        return found

    @property
    def repeat_correlation_(self) -> float:
        """Correlation of the answers to one pair, beyond what their classes explain."""
        part = self.answer_model_.part("pair error")
        return 0.0 if part is None else float(part.rho)

    def suspect_pairs(self, k: int | None = None) -> tuple[NDArray[np.intp], Array]:
        """Return (positions, probability wrong) of the k most suspect answers, worst first.

        Without ``k``: every answer that is more likely wrong than right.
        """
        check_is_fitted(self)
        if self.wrong_proba_ is None:
            raise ValueError(
                "the answers were streamed from a table and are not kept: "
                "stream_suspects(pairs, k) reads the table again"
            )
        order = np.argsort(-self.wrong_proba_, kind="stable")
        size = int((self.wrong_proba_ > 0.5).sum()) if k is None else k
        return order[:size], self.wrong_proba_[order[:size]]

    def suspects(self, k: int | None = None, backend: Backend = "pandas") -> Any:
        """Return the k most suspect answers as a data frame, worst first; see `suspect_pairs`.

        Columns left, right, same, level and annotator (where there are any), probability (that the
        answer is wrong) and reason: the likeliest classes of both items.

        >>> from noisypairs import JointPairClassifier, PairingNoise, datasets, sample_pairs
        >>> X, y = datasets.load("gaussians", n_samples=100, prior=0.5, random_state=0)
        >>> pairs = sample_pairs(y, 1000, PairingNoise(0.1, 0.1), random_state=0)
        >>> clf = JointPairClassifier(class_order="rising", random_state=0).fit(X, pairs)
        >>> clf.suspects(3).columns.tolist()
        ['left', 'right', 'same', 'probability', 'reason']
        """
        rows, wrong = self.suspect_pairs(k)
        some = self._pairs_or_error().select(rows)
        columns = {"left": ids_of(some, some.left), "right": ids_of(some, some.right)}
        columns["same"] = np.array(some.same)
        if some.level is not None:
            columns["level"] = words_of(some)
        if some.annotator is not None and some.annotator_names is not None:
            columns["annotator"] = some.annotator_names[some.annotator]
        name, sure = self._likeliest()
        words = [
            f"classes {name[i]} ({sure[i]:.0%}) and {name[j]} ({sure[j]:.0%})"
            for i, j in zip(some.left.tolist(), some.right.tolist(), strict=True)
        ]
        return frame_of(columns | {"probability": wrong, "reason": np.array(words, str)}, backend)

    def items(self, backend: Backend = "pandas") -> Any:
        """Return the training items as a data frame: item, class, probability, n_answers."""
        pairs = self._pairs_or_error()
        name, sure = self._likeliest()
        columns = {"item": ids_of(pairs, np.arange(pairs.n_items)), "class": name}
        counts = pairs.reweighted(None).item_counts().total.astype(np.int64)
        return frame_of(columns | {"probability": sure, "n_answers": counts}, backend)

    def _likeliest(self) -> tuple[NDArray[Any], Array]:
        """Return the likeliest class of each training item, and how probable it is."""
        return self.classes_[self.item_proba_.argmax(axis=1)], self.item_proba_.max(axis=1)

    def _pairs_or_error(self) -> Pairs:
        check_is_fitted(self)
        if not isinstance(pairs := getattr(self, "pairs_", None), Pairs):
            raise ValueError(
                "a copied or loaded model has no answers, and answers streamed from a table are "
                "not kept: use the model that was fitted, or item_proba_, suspect_pairs and "
                "stream_suspects"
            )
        return pairs

    def stream_suspects(self, pairs: Any, k: int = 20) -> Suspects:
        """Return the k most suspect answers of a table, worst first, in one more pass over it.

        ``pairs`` is the `PairTable` of `fit`; see `noisypairs.tables.propagation.most_suspect`.
        """
        check_is_fitted(self)
        beliefs = self.item_proba_ if self.item_kinds_ is None else self.item_kinds_
        return most_suspect(pairs, beliefs, self.class_matrices_, k)

    @property
    def class_matrices_(self) -> Array:
        """S of the classes, (K, K), or (R, K, K) where people differ."""
        return self.answer_model_.without("clarity").matrices()

    def _store_answers(self, X: Any, pairs: Any, model: AnswerModel, states: Array) -> None:
        """Keep how people answer, and how probably they err on each pair."""
        self.item_states_, self.people_names_ = states, pairs.annotator_names
        self.expected_error_, self.question_shifts_ = None, {}
        self.answer_model_ = model
        if not isinstance(pairs, Pairs):
            return
        self.answer_model_ = self._with_similarity(X, pairs, model)
        self.expected_error_ = self._expected_error(states, pairs)
        if pairs.question is not None:
            plain = pairs.yes_or_no()
            self.question_shifts_ = fit_shifts(self._chance(X, states, plain), plain)

    def _with_similarity(self, X: Any, pairs: Pairs, model: AnswerModel) -> AnswerModel:
        """Return the model with similarity, if answers follow looks."""
        if self._leaves_out("similarity"):
            return model
        numbers = None if X is None else finite_numbers(X)
        some = pairs.yes_or_no().without_self_pairs()
        some = some.select(np.arange(some.n_pairs) % max(some.n_pairs // ANSWERS, 1) == 0)
        part = Similarity.begin(some, numbers)
        if part is None:
            return model
        alike, different = class_chances(model, self.item_states_, some, self.people_names_)
        mass = different[0], alike[0]
        odds = log_odds(different[1]), log_odds(alike[1])
        likeness = part.likeness(numbers, some.left, some.right)
        return model.with_parts(part.fitted_to(mass, odds, some.same, likeness))

    def _expected_error(self, states: Array, pairs: Pairs) -> Array:
        """Return how probably somebody of the crowd errs on each pair, (n_pairs,).

        A pair is hard where this comes near one half, whatever was answered.
        """
        crowd = self.answer_model_.without("people", "similarity")
        alike, different = class_chances(crowd, states, pairs, None)
        error: Array = alike[0] * (1.0 - alike[1]) + different[0] * different[1]
        return error

    def _items_and_states(self, X: Any, training_items: bool) -> tuple[Any, Array]:
        X = self._check_items(X)
        return X, self.item_states_ if training_items else self.answer_model_.states(
            self._kind_proba(X)
        )

    def _chance(self, X: Any, states: Array, pairs: Pairs) -> Array:
        numbers = None if X is None else finite_numbers(X)
        return chance_of_same(self.answer_model_, states, pairs, self.people_names_, numbers)

    @property
    def item_hard_(self) -> Array | None:
        """P(nobody recognises the item), shape (n_items,); None without clarity."""
        check_is_fitted(self)
        if self.answer_model_.part("clarity") is None:
            return None
        return np.asarray(self.item_states_[:, self.answer_model_.n_classes])

    def answer_proba(self, X: Any, pairs: Pairs, training_items: bool = False) -> Array:
        """Return P(this person answers "same") for each pair, shape (n_pairs,).

        ``X`` are the items that ``pairs`` compare. With ``training_items`` they are those of `fit`,
        and all that was answered about them counts, too. Unknown people get crowd-average rates.
        """
        return self._chance(*self._items_and_states(X, training_items), pairs)

    def level_proba(self, X: Any, pairs: Pairs, training_items: bool = False) -> Array:
        """Return P(this person answers with this level), shape (n_pairs, L); see `answer_proba`.

        Levels are those of the scale that was fitted, unsure last where it is one of them.
        """
        model, (_, states) = self.answer_model_, self._items_and_states(X, training_items)
        levels = range(model.scale.n_levels)
        each = [np.full(pairs.n_pairs, level, dtype=np.int8) for level in levels]
        logs = [
            log_chance(model, states, pairs._replace(level=one), self.people_names_) for one in each
        ]
        chance = np.exp(np.column_stack(logs))
        return np.asarray(chance / chance.sum(axis=1, keepdims=True))

    def question_log_proba(self, X: Any, pairs: Pairs, training_items: bool = False) -> Array:
        """Return log P of all answers to each question of ``pairs``, shape (n_questions,).

        Questions are in rising order of ``pairs.question``. Only partitions of a question's items
        are possible answers, see `consistent_answers`.
        """
        chance = self.answer_proba(X, pairs, training_items)
        return question_log_chance(chance, pairs, self.question_shifts_)

    def kind_proba(self, X: Any) -> Array:
        """Return P(kind | x), shape (n, Q); P(class | x) where there are no kinds."""
        return self._kind_proba(self._check_items(X))


def without_similarity(model: AnswerModel) -> AnswerModel:
    """Return the parts of an answer model that move classes."""
    return replace(model, parts=tuple(p for p in model.parts if p.name != "similarity"))


@cache
def partitions(n_items: int) -> NDArray[np.intp]:
    """Return the group of every item in all partitions, shape (n_partitions, n_items).

    >>> [len(partitions(n_items)) for n_items in (2, 3, 4, 5)]
    [2, 5, 15, 52]
    """
    found: list[tuple[int, ...]] = [(0,)]
    for _ in range(n_items - 1):
        found = [(*groups, new) for groups in found for new in range(max(groups) + 2)]
    return np.array(found)


@cache
def consistent_answers(edges: Edges) -> NDArray[np.bool_]:
    """Return all answers to pairs of items 0 … m−1 that partitions give, (n_answers, n_edges).

    >>> consistent_answers(((0, 1), (0, 2), (1, 2))).astype(int).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1]]
    """
    first, second = np.array(edges).T
    groups = partitions(int(max(first.max(), second.max())) + 1)
    return np.unique(groups[:, first] == groups[:, second], axis=0)


def question_log_chance(chance: Array, pairs: Pairs, shifts: Mapping[int, float]) -> Array:
    """Return log P of the answers to every question, shape (n_questions,), in rising order of code.

    ``chance`` (n_pairs,) is P("same") of each answer alone; ``shifts`` has δ by the number of
    items, zero where it is missing.
    """
    found: Array = np.empty(len(np.unique(_asked(pairs))))
    for where, rows, edges in _shapes(pairs):
        shift = shifts.get(1 + max(map(max, edges)), 0.0)
        found[where] = _log_chance(logit(chance[rows]), pairs.same[rows], edges, shift)
    return found


def fit_shifts(chance: Array, pairs: Pairs) -> dict[int, float]:
    """Return δ that explains the answers best, for every number of items in whole questions."""
    found: dict[int, float] = {}
    for _, rows, edges in _shapes(pairs):
        n_items = 1 + max(map(max, edges))
        if n_items > 2 and len(edges) == n_items * (n_items - 1) // 2:
            odds, same = logit(chance[rows]), pairs.same[rows]
            found[n_items] = _best_shift(odds, same, edges)
    return found


def _best_shift(odds: Array, same: NDArray[np.bool_], edges: Edges) -> float:
    def unlikely(shift: float) -> float:
        return -float(_log_chance(odds, same, edges, shift).sum())

    return float(minimize_scalar(unlikely, bounds=SHIFTS, method="bounded").x)


def _log_chance(odds: Array, same: NDArray[np.bool_], edges: Edges, shift: float) -> Array:
    """Return log P of answers to questions of one shape, (n,), from log-odds, (n, n_edges)."""
    moved = odds + shift * (len(edges) > 1)
    all_answers = logsumexp(moved @ consistent_answers(edges).T, axis=1)
    return np.asarray((moved * same).sum(axis=1) - all_answers)


def _shapes(pairs: Pairs) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], Edges]]:
    """Yield questions with the same pairs: which, (n,), their answers, (n, n_edges), and the pairs.

    Items of a question are numbered, and its answers ordered, so that all whole questions of a size
    have one shape.
    """
    question, left, right = _asked(pairs), pairs.left, pairs.right
    low, high = np.minimum(left, right), np.maximum(left, right)
    order = np.lexsort((high, low, question))
    first = np.flatnonzero(np.diff(question[order], prepend=-1))
    shapes: dict[Edges, list[tuple[int, NDArray[np.intp]]]] = {}
    for which, rows in enumerate(np.split(order, first[1:])):
        items = np.unique([low[rows], high[rows]])
        if len(items) > MOST_ITEMS:
            raise ValueError(
                f"a question is about {len(items)} items, at most {MOST_ITEMS} are supported: "
                "split it, or leave `question` out"
            )
        ends = np.searchsorted(items, [low[rows], high[rows]]).T.tolist()
        shapes.setdefault(tuple(map(tuple, ends)), []).append((which, rows))
    for edges, alike in shapes.items():
        where, answers = zip(*alike, strict=True)
        yield np.array(where), np.array(answers), edges


def _asked(pairs: Pairs) -> NDArray[np.int32]:
    if pairs.question is None:
        raise ValueError("the pairs do not say what was asked together: give Pairs(question=...)")
    return pairs.question
