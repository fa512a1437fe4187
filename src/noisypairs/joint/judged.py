"""What a joint learner says about answers: which are suspect, which pairs are hard."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from noisypairs.algebra import Array
from noisypairs.estimators.inner.features import finite_numbers
from noisypairs.inference import streaming
from noisypairs.joint.questions import fit_shifts, question_log_chance
from noisypairs.noise.answers import AnswerModel, chance_of_same, class_chances, log_odds
from noisypairs.noise.people import People
from noisypairs.noise.similarity import ANSWERS, Similarity
from noisypairs.pairs import Pairs


class JudgedAnswers:
    """The answers of `fit` and new ones, judged by the fitted answer model."""

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
                "the answers were streamed from a table, so none is remembered: let "
                "stream_suspects(pairs, k) read the table once more"
            )
        order = np.argsort(-self.wrong_proba_, kind="stable")
        size = int((self.wrong_proba_ > 0.5).sum()) if k is None else k
        return order[:size], self.wrong_proba_[order[:size]]

    def stream_suspects(self, pairs: Any, k: int = 20) -> streaming.Suspects:
        """Return the k most suspect answers of a table, worst first, in one more pass over it.

        ``pairs`` is the `PairTable` of `fit`; see `noisypairs.inference.streaming.most_suspect`.
        """
        check_is_fitted(self)
        beliefs = self.item_proba_ if self.item_kinds_ is None else self.item_kinds_
        return streaming.most_suspect(pairs, beliefs, self.class_matrices_, k)

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
            chance = self._chance(X, pairs, states)
            self.question_shifts_ = fit_shifts(chance, pairs)

    def _with_similarity(self, X: Any, pairs: Pairs, model: AnswerModel) -> AnswerModel:
        """Return the model with similarity, if answers follow looks."""
        if self._leaves_out("similarity"):
            return model
        numbers = None if X is None else finite_numbers(X)
        some = pairs.without_self_pairs()
        some = some.select(np.arange(some.n_pairs) % max(some.n_pairs // ANSWERS, 1) == 0)
        part = Similarity.begin(some, numbers)
        if part is None:
            return model
        alike, different = class_chances(model, self.item_states_, some, self.people_names_)
        mass = different[0], alike[0]
        odds = log_odds(different[1]), log_odds(alike[1])
        likeness = part.likeness(numbers, some.left, some.right)
        return model.with_parts(part.fitted_to(mass, odds, some.same, likeness))

    def _leaves_out(self, name: str) -> bool:
        raise NotImplementedError  # the learner's

    def _expected_error(self, states: Array, pairs: Pairs) -> Array:
        """Return how probably somebody of the crowd errs on each pair, (n_pairs,).

        A pair is hard where this comes near one half, whatever was answered.
        """
        crowd = self.answer_model_.without("people", "similarity")
        alike, different = class_chances(crowd, states, pairs, None)
        error: Array = alike[0] * (1.0 - alike[1]) + different[0] * different[1]
        return error

    def _chance(self, X: Any, pairs: Pairs, states: Array) -> Array:
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
        X, model = self._check_items(X), self.answer_model_
        states = self.item_states_ if training_items else model.states(self._kind_proba(X))
        return self._chance(X, pairs, states)

    def question_log_proba(self, X: Any, pairs: Pairs, training_items: bool = False) -> Array:
        """Return log P of all answers to each question of ``pairs``, shape (n_questions,).

        Questions are in rising order of ``pairs.question``. Only partitions of a question's items
        are possible answers, see `noisypairs.joint.questions`.
        """
        chance = self.answer_proba(X, pairs, training_items)
        return question_log_chance(chance, pairs, self.question_shifts_)

    def kind_proba(self, X: Any) -> Array:
        """Return P(kind | x), shape (n, Q); P(class | x) where there are no kinds."""
        return self._kind_proba(self._check_items(X))

    def _check_items(self, X: Any) -> Any:
        raise NotImplementedError  # the learner's

    def _kind_proba(self, X: Any) -> Array:
        raise NotImplementedError  # the learner's


def without_similarity(model: AnswerModel) -> AnswerModel:
    """Return the parts of an answer model that move classes."""
    return replace(model, parts=tuple(p for p in model.parts if p.name != "similarity"))
