"""Whether a fitted model may be trusted: checks, and one of four verdicts.

    good         its accuracy was measured on labelled items, and every check was passed;
    consistent   every check was passed, but no labels say what the groups are;
    caution      a check failed that may make the statements wrong;
    problem      a check failed that makes them worthless.

Python, the commands and JSON have the same `Verdict`.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from noisypairs.algebra import Array, mean_rates
from noisypairs.assess.intervals import LEVEL, joint_intervals
from noisypairs.assess.labels import Measured, measured
from noisypairs.assess.people import ONE_VOICE, TWO_VOICES, n_voices, other_question
from noisypairs.assess.rivals import rivals
from noisypairs.assess.words import N_SHOWN, confidence, count, listed, percent, sentence
from noisypairs.errors import ClassNamesWarning, UnpredictedAnswersWarning
from noisypairs.estimation import Interval
from noisypairs.estimation.heldout import CLEAR, Gain, HeldOut
from noisypairs.estimators.base import GivenOrder
from noisypairs.joint.choices import N_FOLDS, ONE_ERROR
from noisypairs.joint.class_model import ClassModel
from noisypairs.joint.em import Fit
from noisypairs.joint.problem import Problem
from noisypairs.joint.search import Search
from noisypairs.metrics import accuracy_up_to_names
from noisypairs.noise.answers import log_chance
from noisypairs.pairs.counts import weights_of

Kind = Literal["good", "consistent", "caution", "problem"]
#: What a verdict is called.
TITLES: dict[Kind, str] = {
    "good": "Good",
    "consistent": "Consistent",
    "caution": "Caution",
    "problem": "Problem",
}
INVERTED = (
    "“same” and “different” seem to be swapped: with the opposite meaning, the answers fit classes "
    "better. If they are swapped, use Pairs(..., same=~same), or give "
    'commands --answers "same=different,different=same"'
)
UNPREDICTED = (
    "features predict the answers about held-out items no better than the share of “same” does, "
    "so the classes of new items are a guess. Perhaps the features say nothing about the classes, "
    "only near neighbours were compared, or the rows of the items are in another order than in "
    "the pairs: Pairs.from_frame(..., items=X.index) compares ids"
)
NEIGHBOURS = (
    "nearly all compared pairs are near neighbours. Too few answers show whether distant groups of "
    "items are one class, and the estimated accuracy cannot show it. Compare random pairs too: one "
    "random pair in five is enough"
)
#: Share of the pairs asked that are farther apart than half of all pairs, of which random ones are
#: one half: with fewer, classes of far groups are not tied to each other (docs/how-good.md).
FAR_SHARE = 0.05
#: Pairs by which that is seen.
N_DISTANCES = 5_000
#: How much less than their claims imply models of fewer answers may agree.
UNSTABLE = 0.03
#: Items to name so that labels can measure.
N_TO_NAME = 20


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what was found, and where it failed what to do, in ``text``."""

    name: str
    passed: bool
    text: str
    severity: Literal["caution", "problem"] = "caution"

    @classmethod
    def of(
        cls,
        name: str,
        passed: bool,
        good: str,
        bad: str,
        severity: Literal["caution", "problem"] = "caution",
    ) -> Check:
        """Return the check with what is said where it is passed, or where it failed."""
        return cls(name, passed, good if passed else bad, severity)


@dataclass(frozen=True)
class Verdict:
    """What a model may be trusted for.

    ``accuracy`` is the headline: measured on labels where there are enough, else ``estimated``, the
    model's own belief. ``baseline`` is the share of the largest class. ``to_name`` are positions of
    items that, once named, measure the accuracy; none where labels do so already.
    """

    kind: Kind
    checks: tuple[Check, ...]
    estimated: Interval | None
    measured: Measured | None
    baseline: float
    n_classes: int
    to_name: tuple[int, ...] = ()
    intervals: Mapping[str, Interval] = field(default_factory=dict, repr=False)

    @property
    def accuracy(self) -> Interval | None:
        """The accuracy on new items: measured on labels, or else estimated."""
        known = None if self.measured is None else self.measured.accuracy
        return self.estimated if known is None else known

    @property
    def is_measured(self) -> bool:
        """Whether labels measure the accuracy."""
        return self.measured is not None and self.measured.accuracy is not None

    def with_checks(self, checks: Iterable[Check]) -> Verdict:
        """Return the verdict after more checks; texts that are there already are left out."""
        texts = {one.text for one in self.checks}
        every = (*self.checks, *(one for one in checks if one.text not in texts))
        return replace(self, checks=every, kind=_kind(every, self.is_measured))

    @property
    def title(self) -> str:
        """Its name as a heading."""
        return TITLES[self.kind]

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that were not passed, problems first."""
        order = sorted(self.checks, key=lambda one: one.severity != "problem")
        return tuple(one for one in order if not one.passed)

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why no target counts as reached: checks that failed, or answers of one voice alone."""
        voices = (one for one in self.checks if one.name == "voices" and not self.is_measured)
        return tuple(one.text for one in (*self.failed, *voices))

    @property
    def reason(self) -> str:
        """All of it in sentences."""
        return " ".join([*(sentence(one.text) for one in self.failed), *self._sentences()])

    def _sentences(self) -> Iterator[str]:
        found = self.measured
        if found is not None and found.accuracy is not None:
            groups = f" of {found.n_groups:,} groups" if found.n_groups < found.n_items else ""
            yield (
                f"Measured on {count(found.n_items, 'labelled item')}{groups}, each left out in "
                f"turn: {percent(found.accuracy.estimate)} right ({confidence(found.accuracy)})."
            )
            if self.estimated is not None:
                yield f"The model's own estimate is {_interval(self.estimated)}."
        elif self.estimated is not None and self.kind != "problem":
            yield (
                f"The answers imply {self.n_classes} groups, and an estimated "
                f"{_interval(self.estimated)} of new items are put in the group implied by the "
                "answers. Answers cannot show whether these groups are the classes that you mean."
            )
        elif self.kind != "problem":
            yield (
                f"The answers imply {self.n_classes} groups. Answers cannot show whether these are "
                "the classes that you mean."
            )
        if found is not None and found.contradicted:
            yield from (sentence(one.text) for one in self.checks if one.name == "labels stand")
        yield from (ONE_VOICE for one in self.checks if one.name == "voices")
        if found is not None and found.accuracy is None and found.n_items:
            yield "There are too few labels to measure the accuracy; they only name the classes."
        if self.estimated is not None and self.kind in ("good", "consistent"):
            yield f"Always predicting the largest class would get {percent(self.baseline)}."
        if self.to_name and self.kind != "problem":
            yield self.next_step

    @property
    def next_step(self) -> str:
        """What to do next, one sentence; "" where nothing is left to do."""
        if not self.to_name:
            return ""
        return f"To measure the accuracy, name {len(self.to_name)} items that were drawn at random."

    def __str__(self) -> str:
        """Return title and reason."""
        return f"{self.title}. {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        found = asdict(replace(self, intervals={}))
        del found["intervals"]
        if found["measured"] is not None:
            confused = found["measured"]["confused"]
            found["measured"]["confused"] = [[str(t), str(c), n] for t, c, n in confused]
        accuracy = None if self.accuracy is None else asdict(self.accuracy)
        said = {"title": self.title, "reason": self.reason, "next_step": self.next_step}
        return found | {"accuracy": accuracy} | said


def judged(
    checks: Sequence[Check],
    estimated: Interval | None,
    measured: Measured | None,
    baseline: float,
    n_classes: int,
    to_name: Sequence[int] = (),
    intervals: Mapping[str, Interval] | None = None,
) -> Verdict:
    """Return the verdict that follows from checks, estimate and labels."""
    own = (*_of_labels(measured, estimated), *_of_accuracy(estimated, measured, baseline))
    every = (*checks, *own)
    known = measured is not None and measured.accuracy is not None
    chosen = () if known else tuple(to_name)
    limits = dict(intervals or {})
    kind = _kind(every, known)
    return Verdict(kind, every, estimated, measured, baseline, n_classes, chosen, limits)


def _kind(checks: Sequence[Check], known: bool) -> Kind:
    """Return the verdict; where labels show that the model beats guessing nothing is a problem."""
    severities = {one.severity for one in checks if not one.passed}
    helps = any(one.name == "largest class" and one.passed for one in checks)
    if "problem" in severities and not (known and helps):
        return "problem"
    if severities:
        return "caution"
    return "good" if known else "consistent"


def _interval(found: Interval) -> str:
    return f"{percent(found.estimate)} ({confidence(found)})"


def _of_labels(found: Measured | None, own: Interval | None) -> Iterator[Check]:
    if found is None:
        return
    if found.accuracy is not None and own is not None:
        text = "labels and the model's own estimate agree"
        if disagrees := found.disagrees(own):
            few = found.confused[:N_SHOWN]
            which = listed(f"{n} of “{true}” were called “{one}”" for true, one, n in few)
            advice = "Rely on the measured accuracy, and label more items of these classes"
            if found.contradicted:
                advice = "Check the labels that the answers contradict before you rely on either"
            text = (
                f"the labels contradict the model's own estimate: of "
                f"{count(found.n_items, 'labelled item')}, {which}. {advice}"
                if found.accuracy.estimate < own.estimate
                else "the labels are predicted better than the model's own estimate: the labelled "
                "items may be easy ones; label items drawn at random"
            )
        yield Check("labels agree", not disagrees, text)
    text = "no label is contradicted by the answers"
    if n := len(found.contradicted):
        text = (
            f"{count(n, 'labelled item')} {'has' if n == 1 else 'have'} another class according to "
            "all answers: look at these labels again"
        )
    yield Check("labels stand", True, text)


def _of_accuracy(own: Interval | None, found: Measured | None, baseline: float) -> Iterator[Check]:
    known = None if found is None else found.accuracy
    best = own if known is None else known
    if best is None:
        return
    word = "estimated" if known is None else "measured"
    yield Check.of(
        "largest class",
        best.low > baseline,
        f"the {word} accuracy is above the share of the largest class",
        "use with care: the model may be no better than always predicting the largest class, "
        f"which gets {percent(baseline)}; its {word} accuracy is {_interval(best)}. More answers, "
        "or more labels, would make this clearer",
    )


def of_rivals(gains: Mapping[str, Gain]) -> Iterator[Check]:
    """Yield whether classes predict held-out answers better than every explanation without any."""
    said = {
        "scale": (
            ("likeness", "scale of 1", "scale of 2"),
            "the answers may follow a scale, not classes: the distance of two items predicts "
            "held-out answers as well as classes do. Do not treat the groups as classes unless "
            "labels show that they are",
        ),
        "item effects": (
            ("effects",),
            "some items are called “same” more often than others, with any other item. This alone "
            "predicts held-out answers as well as classes do. Do not treat the groups as classes "
            "unless labels show that they are",
        ),
    }
    for name, (names, bad) in said.items() if gains else ():
        beaten = all(gains[one].exceeds(ONE_ERROR) for one in names if one in gains)
        good = f"classes predict held-out answers better than {name} without classes"
        yield Check.of(name, beaten, good, bad, "problem")


def items_to_name(
    in_pairs: NDArray[np.bool_], groups: NDArray[np.intp], seed: int
) -> tuple[int, ...]:
    """Return items drawn at random, one of a group, that are worth naming: rising positions."""
    rng = np.random.default_rng(seed)
    candidates = np.flatnonzero(in_pairs)
    order = rng.permutation(candidates)
    first = np.sort(np.unique(groups[order], return_index=True)[1])
    return tuple(np.sort(order[first][:N_TO_NAME]).tolist())


@dataclass(eq=False)
class Record:
    """What a fit leaves behind to be judged by: never copied, pickled or written to a file.

    ``model`` is the class model of the last rounds, ``labels`` name items in the canonical order,
    ``given`` is the order given.
    """

    problem: Problem
    search: Search
    fit: Fit
    model: ClassModel
    labels: Mapping[int, Hashable]
    given: GivenOrder

    @property
    def is_labels_alone(self) -> bool:
        """Whether there are no answers: labels alone were learnt from."""
        return float(weights_of(self.problem.pairs).sum()) < 1e-6

    def gain_of_features(self) -> Gain:
        """Return how much better P(class | x), out of fold, predicts answers than their share."""
        pairs, answers = self.problem.pairs, self.fit.answers
        names = pairs.annotator_names if self.problem.annotators else None
        found = log_chance(answers, answers.states(self.fit.phi), pairs, names)
        held = HeldOut.by_pair(pairs, N_FOLDS, self.problem.seed, self.problem.groups)
        return held.gain(found, self.search.blind)

    def far_share(self) -> float:
        """Return the share of the pairs asked that are farther apart than half of all pairs."""
        rows: Any = self.problem.numbers
        pairs = self.problem.pairs
        rng = np.random.default_rng(self.problem.seed)
        compared = np.flatnonzero(self.problem.in_pairs)
        asked = rng.integers(pairs.n_pairs, size=N_DISTANCES)
        all_pairs = rng.choice(compared, size=(2, N_DISTANCES))

        def apart(left: Any, right: Any) -> Array:
            between = rows[left] - rows[right]
            square = between.multiply(between) if issparse(rows) else between**2
            return np.asarray(square.sum(axis=1)).ravel()

        usual = np.median(apart(*all_pairs))
        return float((apart(pairs.left[asked], pairs.right[asked]) >= usual).mean())

    def unpredicted(self) -> str:
        """Return what answers cannot say about new items, to warn of at once; "" for nothing."""
        if not self.problem.has_features or self.is_labels_alone:
            return ""
        if not self.gain_of_features().exceeds(ONE_ERROR):
            return UNPREDICTED
        return "" if self.far_share() >= FAR_SHARE else NEIGHBOURS

    def verdict(
        self,
        class_of: NDArray[np.intp] | None,
        warned: Sequence[Warning],
    ) -> Verdict:
        """Return the verdict; ``class_of`` (Q,) is the class of every kind, None without kinds."""
        problem, fit = self.problem, self.fit
        K = fit.n_classes
        one_class = np.eye(K) if class_of is None else np.eye(int(class_of.max()) + 1)[class_of]
        limits = joint_intervals(problem, fit, LEVEL, class_of=class_of)
        found = None
        if self.labels:
            kinds = class_of is not None
            found = measured(problem, fit, self.model, self.labels, LEVEL, kinds)
            found = replace(found, contradicted=self._given(found.contradicted))
        to_name = items_to_name(problem.in_pairs, problem.groups, problem.seed)
        shares = fit.item_proba[problem.sampled].mean(axis=0) @ one_class
        return judged(
            list(self._checks(warned)),
            limits["accuracy"] if problem.has_features else None,
            found,
            float(shares.max()),
            one_class.shape[1],
            self._given(to_name),
            limits,
        )

    def _given(self, items: Sequence[int]) -> tuple[int, ...]:
        """Return positions of items in the order given."""
        if self.given.items is None:
            return tuple(items)
        return tuple(np.sort(self.given.items[list(items)]).tolist())

    def _checks(self, warned: Sequence[Warning]) -> Iterator[Check]:
        if self.is_labels_alone:
            yield from of_warnings(warned)
            return
        predicted, held = self.search.predicted(self.fit.spec), self.search.held
        clear = held.gain(predicted, self.search.blind).exceeds(CLEAR)
        good = "held-out answers are predicted better than by their share of “same”"
        bad = (
            "held-out answers are predicted no better than by their share of “same”: these pairs "
            "say nothing about classes. Collect more pairs"
        )
        yield Check.of("answers", clear, good, bad, "problem")
        known = True
        if self.problem.has_features:
            known = self.gain_of_features().exceeds(ONE_ERROR)
            good = "features predict the answers about held-out items"
            yield Check.of("new items", known, good, UNPREDICTED, "problem")
            good = "distant items were compared too"
            yield Check.of("far items", self.far_share() >= FAR_SHARE, good, NEIGHBOURS)
        warnings = list(of_warnings(warned))
        yield _of_coding(self.search, self.fit, bool(warnings) or not (clear and known))
        if clear:
            yield from of_rivals(rivals(self.problem, held, predicted))
            yield from _of_people(self.search, self.fit, predicted)
            yield self._of_folds()
        yield from warnings

    def _of_folds(self) -> Check:
        """Return whether models learnt without a fifth of the answers find the same groups.

        Two models that are right as often as they claim differ in as many items as both together
        expect to have wrong, at most; of few items a few more may differ by chance.
        """
        beliefs, on = self.fit.item_proba, self.problem.in_pairs
        claimed, named = _claimed(beliefs[on]), beliefs[on].argmax(axis=1)
        least, agreed = 1.0, 1.0
        for one in (fold.item_proba for fold in self.search.fits[self.fit.spec]):
            same = accuracy_up_to_names(named, one[on].argmax(axis=1))
            expected = claimed + _claimed(one[on]) - 1.0
            if same - expected < agreed - least:
                least, agreed = expected, same
        by_chance = CLEAR * float(np.sqrt(agreed * (1.0 - agreed) / max(int(on.sum()), 1)))
        return Check.of(
            "stable",
            agreed + by_chance >= least - UNSTABLE,
            "models learnt without a fifth of the answers find the same groups",
            f"the groups depend on a few answers: a model learnt without a fifth of the answers "
            f"puts only {percent(agreed)} of the items in the same group; expected "
            f"{percent(least)} or more. There are too few answers between parts of the "
            "items: compare random pairs",
        )


def _claimed(beliefs: Array) -> float:
    """Return the share of the items that these beliefs, (n_items, K), claim to have right."""
    return float(beliefs.max(axis=1).mean())


def of_warnings(warned: Iterable[Warning]) -> Iterator[Check]:
    """Yield a check that failed for every warning but those that other checks are about."""
    for one in warned:
        if not isinstance(one, ClassNamesWarning | UnpredictedAnswersWarning):
            yield Check(_name_of(one), False, str(one))


def _name_of(warning: Warning) -> str:
    """Return what a warning is about, in words: its class's name."""
    words = re.findall("[A-Z][a-z]+", type(warning).__name__.removesuffix("Warning"))
    return " ".join(words).lower() or "warning"


def shown(names: Sequence[Any]) -> str:
    """Return the first names of some, and that there are others.

    >>> shown(["a", "b"]), shown(["a", "b", "c", "d"])
    ('a and b', 'a, b, c and others')
    """
    few = list(names[:N_SHOWN])
    return listed([*few, "others"] if len(names) > N_SHOWN else few)


def _of_people(search: Search, fit: Fit, predicted: Array) -> Iterator[Check]:
    """Yield whether all people answer one question, and whether there are several of them."""
    found = other_question(search, fit, predicted)
    text = "nobody answers another question than most people"
    if found is not None:
        text = (
            f"people seem to answer two different questions: "
            f"{count(found.n_people, 'person', 'people')} ({shown(found.people)}) agree with each "
            f"other, and not with the classes of the other {found.n_others}. The larger group may "
            "be wrong: ask what they looked at, keep the answers to your question, and fit again"
        )
    if search.problem.pairs.annotator is not None:
        yield Check("one question", found is None, text)
    voices = n_voices(search.problem.pairs, fit)
    if voices is not None and voices < TWO_VOICES:
        yield Check("voices", True, ONE_VOICE)


def _of_coding(search: Search, fit: Fit, doubtful: bool) -> Check:
    """Return whether pairs of one class are called "same" more often than others.

    Where anything is doubtful, the answers are also tried the other way.
    """
    inverted = any(map(_is_inverted, [fit, *search.fits.get(fit.spec, [])]))
    inverted = inverted or (doubtful and search.is_inverted(fit.n_classes))
    good = "pairs of one class are called “same” more often than others"
    return Check.of("coding", not inverted, good, INVERTED)


def _is_inverted(fit: Fit) -> bool:
    S = fit.answers.crowd_noise().same_probability(fit.n_classes)
    return sum(mean_rates(S, fit.item_proba.mean(axis=0))) > 1.0
