"""Where suspects come from: a fit that learnt from the answers, or a model and any answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.app import model_file
from noisypairs.app.encoding import read_content
from noisypairs.app.prediction import blaming, used_columns
from noisypairs.app.suspects.reasons import Clue
from noisypairs.app.suspects.suspect import Suspects, clues_of, written
from noisypairs.classifier import JointPairClassifier
from noisypairs.errors import collected_warnings
from noisypairs.estimators.base import PairClassifier
from noisypairs.graph.propagation import PairGraph, answer_wrong_probability
from noisypairs.joint.em import beliefs_from
from noisypairs.pairs import Pairs
from noisypairs.tables.propagation import most_suspect

if TYPE_CHECKING:
    from noisypairs.app.files import Dataset

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


def of_files(model: Path, data: Dataset) -> tuple[Suspects, list[str]]:
    """Return the suspects of a data set by the model of a file, and notes on both."""
    if data.features is None:
        raise ValueError(
            "the model needs the items that the pairs are about: give their file after the pairs"
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
        for same, chance, name in zip(few.same, together, _names(few), strict=True)
    ]
    return Suspects(few, worst.wrong[kept], clues, features, ids, worst.n_wrong)


def _names(pairs: Pairs) -> list[str | None]:
    if pairs.annotator is None or pairs.annotator_names is None:
        return [None] * pairs.n_pairs
    return [str(name) for name in pairs.annotator_names[pairs.annotator]]
