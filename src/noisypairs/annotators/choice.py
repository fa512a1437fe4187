"""Classes behind the answers, or each pair by itself: what predicts held-out answers better.

Where pairs were answered by several people, some of these answers are held out (never a whole
pair), and both models predict them from the rest,

    P("same" by r on e) = q_e (1 − ρ_S,r) + (1 − q_e) ρ_D,r,     q_e = P(e is same | the rest).

Classes know more about a pair than its own answers, if there are classes. Records to link fall into
thousands of groups, which no small number of classes describes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.annotators.classes import InferredClasses, infer_classes
from noisypairs.annotators.pair_truth import (
    Groups,
    PairTruth,
    infer_pair_truth,
    likeness_of,
)
from noisypairs.errors import NotIdentifiable, collected_warnings
from noisypairs.estimation.heldout import Gain, HeldOut, Mask, repeated_answers
from noisypairs.estimators.inner.features import N_COMPONENTS, numeric_features
from noisypairs.graph import progress
from noisypairs.joint.choices import DETECTED
from noisypairs.joint.starts import Alignment
from noisypairs.noise.model import strength
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import pair_keys, weights_of
from noisypairs.pairs.pairs import keys_of

Model = Literal["auto", "classes", "pairs"]
MODELS: tuple[Model, ...] = ("auto", "classes", "pairs")
#: Numbers of classes to choose from where nothing is said.
CLASS_NUMBERS = (2, 3, 4, 5, 6)
#: The models are compared from so many answers on repeated pairs on, and such a share of all.
FEWEST_REPEATED, REPEATED_SHARE = 200, 0.2
#: The repeated pairs are dealt into so many folds; each holds out one annotator's answers on them.
N_FOLDS = 2
#: Standard errors by which a model must be ahead to replace the one that ties are left to.
CLEARLY_AHEAD = 2.0
#: Answers that follow the features along more directions are not on classes: these are fewer.
MOST_DIRECTIONS = 20


#: What is said of answers that show no classes, and what to use instead.
RECORDS = "these look like records to link, not classes to learn"
TOOLS = "tools made for record linkage: splink, dedupe or recordlinkage (Python packages)"


@dataclass(frozen=True)
class ModelChoice:
    """Which model annotators are judged by, and why.

    ``n_classes`` is None if each pair is judged by itself, ``asked`` has the numbers of classes in
    question, and ``by_likeness`` is what the likeness of a pair's items gains, None where it is not
    used. ``gain`` is that of pairs over classes, ``rival`` the number of classes that pairs
    were compared with (0: none were found, and guessing took their place).
    """

    model: Literal["classes", "pairs"]
    n_classes: int | None
    asked: tuple[int, ...]
    reason: str
    gain: Gain | None = None
    rival: int | None = None
    groups: Groups | None = None
    by_likeness: Gain | None = None

    @property
    def are_records(self) -> bool:
        """Whether these look like records to link: single pairs are ahead, groups are tiny."""
        return self.model == "pairs" and self.groups is not None and self.groups.are_tiny

    def __str__(self) -> str:
        if self.model == "classes":
            several = len(self.asked) > 1
            chosen = f", chosen from {self.asked[0]} to {self.asked[-1]}" if several else ""
            return f"{self.n_classes} classes{chosen}; {self.reason}"
        looks = f"{RECORDS}; " * self.are_records
        whole = f"each pair judged by itself: {looks}{self.reason}"
        if self.by_likeness is None:
            return whole
        return f"{whole}; similarity of the two items is used too: {self.by_likeness}"

    @property
    def summary(self) -> str:
        """The same without the numbers that only statisticians read."""
        return re.sub(r"[,:;] [^,:;]* nats on [\d,]+ held-out answers", "", str(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        plain: dict[str, Any] = {"model": self.model, "n_classes": self.n_classes}
        plain |= {"class_numbers": list(self.asked), "why": str(self)}
        gain, groups = self.gain, self.groups
        plain |= {
            "pairs_ahead_of_classes": None if gain is None else gain.mean,
            "pairs_ahead_error": None if gain is None else gain.mean_error,
            "held_out_answers": None if gain is None else gain.n_answers,
            "compared_classes": self.rival,
            "groups": None if groups is None else groups.n_groups,
            "largest_group": None if groups is None else groups.largest,
            "records_to_link": self.are_records,
            "by_likeness": None if self.by_likeness is None else self.by_likeness.mean,
        }
        return plain


@progress.stage("choice of model")
def choose_model(
    pairs: Pairs,
    X: Any,
    numbers: Sequence[int],
    estimator: Any,
    random: np.random.RandomState,
) -> ModelChoice:
    """Choose between classes, one of these numbers, and each pair by itself.

    Where the items of probably same pairs form tiny groups, and the features show no classes
    either (`show_classes`), more than two classes could not be seen: K classes show from about
    K − 1 perfect answers per item on, and from K on the items of a class hang together. There
    single pairs are compared with the smallest number of classes alone, and a tie is left to the
    pairs. Elsewhere it is left to classes, and if pairs are ahead of the smallest number, all
    numbers are tried, with the features if there are any.
    """
    classes = ModelChoice("classes", None, tuple(numbers), "")
    if pairs.labels:
        return replace(classes, reason="items of known class are given")
    missing = lacking_repeats(pairs)
    if missing is not None:
        return replace(classes, reason=f"single pairs were not tried: {missing}")
    random = deepcopy(random)  # what follows the choice does not depend on whether one was made
    trial = Trial(pairs, random, likeness_of(pairs, X))
    truth = infer_pair_truth(pairs)
    groups = truth.groups()
    tiny = groups.are_tiny and not show_classes(truth, X, max(numbers), random)
    gain, rival = trial.against(None, numbers[:1], estimator, random)
    if gain.exceeds(CLEARLY_AHEAD) and not tiny:
        gain, rival = trial.against(X, numbers, estimator, random)
    compared: dict[str, Any] = {"gain": gain, "rival": rival, "groups": groups}
    compared |= {"by_likeness": trial.by_likeness}
    what = f"{rival} classes explain" if rival else "no classes were found; guessing explains"
    if gain.exceeds(CLEARLY_AHEAD) or (tiny and rival and not gain.loss.exceeds(CLEARLY_AHEAD)):
        better = "better than" if gain.exceeds(CLEARLY_AHEAD) else "as well as"
        than = f"{rival} classes" if rival else "guessing (no classes were found)"
        reason = f"this explains the answers {better} {than}, by {gain}; {groups}"
        return replace(classes, model="pairs", reason=reason, **compared)
    reason = f"{what} the answers as well as judging each pair alone: {gain}"
    found = numbers[0] if tiny else None  # no more classes can be seen: they are not looked for
    compared |= {"by_likeness": None}
    return replace(classes, n_classes=found, reason=reason, **compared)


def show_classes(truth: PairTruth, X: Any, most: int, random: np.random.RandomState) -> bool:
    """Return whether answers follow the features beyond chance, and as those on classes do.

    Those on ``most`` classes follow them along ``most`` − 1 directions at most. Records that are
    the same look alike in every way: their answers follow the features along more directions than
    `MOST_DIRECTIONS`. Classes would explain such answers, too, but the more of them the better, and
    P(same) of a pair would come out too high where items are different.
    """
    if X is None:
        return False
    Z, graph = numeric_features(X, N_COMPONENTS, 0), truth.graph
    if Z is None:  # features of another kind: only a fit can say
        return True
    once = Pairs(graph.left, graph.right, truth.same_proba > 0.5, n_items=graph.n_items)
    alignment = Alignment(Z, once)
    if alignment.beyond(max(MOST_DIRECTIONS, most - 1)) > DETECTED:
        return False
    return alignment.excess(np.random.default_rng(random.randint(2**31 - 1))) > DETECTED


def require_pair_truth(pairs: Pairs, X: Any, random: np.random.RandomState) -> ModelChoice:
    """Return the choice of single pairs as asked for, or raise `NotIdentifiable` with a reason."""
    missing = lacking_repeats(pairs)
    if missing is not None:
        raise NotIdentifiable(
            f"judging each pair alone needs pairs that several people answered: {missing}"
        )
    trial = Trial(pairs, deepcopy(random), likeness_of(pairs, X))
    gain = trial.over_guessing()
    if not gain.exceeds(CLEARLY_AHEAD):
        raise NotIdentifiable(
            f"answers on the same pair predict each other no better than guessing: by {gain}. "
            "They cannot show who answers well"
        )
    groups = infer_pair_truth(pairs).groups()
    reason = f"as requested; better than guessing by {gain}; {groups}"
    return ModelChoice("pairs", None, (), reason, gain, 0, groups, trial.by_likeness)


def lacking_repeats(pairs: Pairs) -> str | None:
    """Return why there are too few answers on repeated pairs to compare the models, or None."""
    n_repeated = int(repeated_answers(pairs).sum())
    if n_repeated >= max(FEWEST_REPEATED, REPEATED_SHARE * pairs.n_pairs):
        return None
    who = "more than once" if pairs.annotator is None else "by more than one annotator"
    return (
        f"{n_repeated:,} of {pairs.n_pairs:,} answers are on pairs answered {who}; it takes at "
        f"least {FEWEST_REPEATED}, and {REPEATED_SHARE:.0%} of all answers"
    )


class Trial:
    """Repeated pairs in folds; each fold holds out one annotator's answers on its pairs.

    Where single pairs predict these better with ``likeness`` (n_pairs,), they are judged with it.
    """

    def __init__(
        self, pairs: Pairs, random: np.random.RandomState, likeness: Array | None = None
    ) -> None:
        self.held = HeldOut.by_repeat(pairs, N_FOLDS, random.randint(2**31 - 1))
        self.by_pairs, self.by_likeness = self._by_pairs(None), None
        if likeness is not None:
            by_likeness = self._by_pairs(likeness)
            gain = self.held.gain(by_likeness, self.by_pairs)
            if gain.exceeds(CLEARLY_AHEAD):
                self.by_pairs, self.by_likeness = by_likeness, gain

    def against(
        self,
        X: Any,
        numbers: Sequence[int],
        estimator: Any,
        random: np.random.RandomState,
    ) -> tuple[Gain, int]:
        """Return the gain of pairs over classes, and how many; over guessing and 0 if none."""
        pairs = self.held.pairs

        def predict(train: Mask, out: Mask) -> Array:
            nonlocal numbers
            with collected_warnings():
                found = infer_classes(
                    pairs.select(train), X, numbers, estimator, random, quick=True
                )
            numbers = [found.item_proba.shape[1]]
            return _predicted(found, pairs.select(out))

        try:
            return self.held.gain(self.by_pairs, self.held.each(predict)), numbers[0]
        except NotIdentifiable:
            return self.over_guessing(), 0

    def over_guessing(self) -> Gain:
        """Return the gain over P("same") from the annotator's own share of such answers."""
        pairs = self.held.pairs
        guessed = self.held.each(lambda *both: _guessed(*map(pairs.select, both)))
        return self.held.gain(self.by_pairs, guessed)

    def _by_pairs(self, likeness: Array | None) -> Array:
        def predict(train: Mask, out: Mask) -> Array:
            alike = None if likeness is None else likeness[train]
            found = infer_pair_truth(self.held.pairs.select(train), None, alike)
            return _predicted(found, self.held.pairs.select(out))

        return self.held.each(predict)


def _predicted(model: PairTruth | InferredClasses, held_out: Pairs) -> Array:
    graph = model.graph
    keys = pair_keys(graph.left, graph.right, graph.n_items)
    same = model.same_proba[np.searchsorted(keys, keys_of(held_out))]
    right, wrong = model.S[_groups_of(held_out)][:, 0, :2].T  # P("same" | same), | different
    return _log(same * right + (1.0 - same) * wrong, held_out)


def _guessed(training: Pairs, held_out: Pairs) -> Array:
    who, asked, weight = _groups_of(training), _groups_of(held_out), weights_of(training)
    size = int(max(who.max(initial=0), asked.max(initial=0))) + 1
    share = float(np.average(training.same, weights=weight))
    counted = (np.bincount(who, weight * one, size) for one in (training.same, 1.0))
    said, total = (np.asarray(one, dtype=np.float64) for one in counted)
    m = strength(said, total, share)
    own = (said + m * share) / (total + m)
    return _log(own[asked], held_out)


def _log(same: Array, held_out: Pairs) -> Array:
    likely: Array = np.log(np.clip(np.where(held_out.same, same, 1.0 - same), 1e-12, None))
    return likely


def _groups_of(pairs: Pairs) -> NDArray[Any]:
    return np.zeros(pairs.n_pairs, dtype=int) if pairs.annotator is None else pairs.annotator


def records_to_link(
    pairs: Pairs, features: Callable[[], Any] | None = None, seed: int = 0
) -> str | None:
    """Return the evidence that these are records to link, not classes to learn, or None.

    Pairs must be answered more than once, the items of probably same pairs must form tiny groups,
    and `choose_model` must prefer each pair by itself to 2 to 6 classes, which may use the
    ``features`` (n_items, d); these are only asked for where the groups are tiny.
    """
    pairs = pairs.yes_or_no().without_self_pairs()
    if pairs.labels or lacking_repeats(pairs):
        return None
    alike = Pairs(pairs.left, pairs.right, pairs.same, pairs.n_items, weight=pairs.weight)
    if not infer_pair_truth(alike).groups().are_tiny:  # a quick look: all people alike
        return None
    X = None if features is None else features()
    found = choose_model(pairs, X, CLASS_NUMBERS, None, np.random.RandomState(seed))
    if not found.are_records:
        return None
    return f"{RECORDS}: {found.reason}. Use {TOOLS}"
