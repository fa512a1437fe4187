"""What a joint learner says about answers: which are suspect, which pairs hard, who says what."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from noisypairs.algebra import Array
from noisypairs.estimators.joint.answers.model import AnswerModel
from noisypairs.estimators.joint.answers.questions import fit_shifts, question_log_chance
from noisypairs.inference import em, streaming
from noisypairs.noise.clarity import hard_probability
from noisypairs.noise.people import People
from noisypairs.pairs import Pairs


class JudgedAnswers:
    """The answers of `fit` and new ones, judged by the fitted answer model."""

    n_classes_: int
    parts_: tuple[str, ...]
    item_proba_: Array
    item_kinds_: Array | None
    item_states_: Array
    wrong_proba_: Array | None
    expected_error_: Array | None
    answer_model_: AnswerModel
    people_: People | None
    question_shifts_: dict[int, float]

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
        S = self.answer_model_.class_matrices
        beliefs = self.item_proba_ if self.item_kinds_ is None else self.item_kinds_
        return streaming.most_suspect(pairs, beliefs, S if len(S) > 1 else S[0], k)

    def _store_answers(self, X: Any, pairs: Any, found: em.Inference) -> None:
        """Keep how people answer, and how probably they err on each pair."""
        model = AnswerModel.of(found, pairs.annotator_names, self.n_classes_)
        self.item_states_, likeness = found.beliefs.item, None
        self.expected_error_, self.question_shifts_ = None, {}
        if isinstance(pairs, Pairs):
            if "similarity" in self.parts_:
                model = model.with_similarity(self.item_states_, pairs, X)
            if model.similarity is not None:
                likeness = model.similarity.likeness(X, pairs.left, pairs.right)
            self.expected_error_ = model.expected_error(self.item_states_, pairs, likeness)
            if pairs.question is not None:
                chance = model.chance(self.item_states_, pairs, likeness)
                self.question_shifts_ = fit_shifts(chance, pairs)
        self.answer_model_ = model
        self.people_ = model.people

    @property
    def item_hard_(self) -> Array | None:
        """P(nobody recognises the item), shape (n_items,); None without clarity."""
        check_is_fitted(self)
        return hard_probability(self.item_states_) if "clarity" in self.parts_ else None

    def answer_proba(self, X: Any, pairs: Pairs, training_items: bool = False) -> Array:
        """Return P(this person answers "same") for each pair, shape (n_pairs,).

        ``X`` are the items that ``pairs`` compare. With ``training_items`` they are those of `fit`,
        and all that was answered about them counts, too. Who did not answer there is taken for the
        crowd.
        """
        X, model = self._check_items(X), self.answer_model_
        states = self.item_states_ if training_items else model.states(self._kind_proba(X))
        likeness = None
        if model.similarity is not None:
            likeness = model.similarity.likeness(X, pairs.left, pairs.right)
        return model.chance(states, pairs, likeness)

    def question_log_proba(self, X: Any, pairs: Pairs, training_items: bool = False) -> Array:
        """Return log P of all answers to each question of ``pairs``, shape (n_questions,).

        Questions are in rising order of ``pairs.question``. Only partitions of a question's items
        are possible answers, see `noisypairs.estimators.joint.answers.questions`.
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
