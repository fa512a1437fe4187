"""Everything one fit found out, as plain frozen records: nothing is left to compute.

The report and the command line show a `FitResult`; `FitResult.to_dict` turns it into JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from noisypairs.annotators import AnnotatorTable
from noisypairs.app.drift import TrainingSummary
from noisypairs.app.encoding import ColumnPlan
from noisypairs.app.suspects import SuspectPair
from noisypairs.assess.verdict import Verdict
from noisypairs.estimation import Interval
from noisypairs.pairs.audit import Audit


@dataclass(frozen=True)
class DataSummary:
    """The files as they were read."""

    title: str  # name of the items file, without folder
    sources: Mapping[str, str]  # role (items, pairs, labels) -> file name
    checksums: Mapping[str, str]  # role -> sha256 of the file
    columns: Mapping[str, str | None]  # role (left, right, same, annotator, id) -> column
    answers: Mapping[str, str]  # how the answer words were read, e.g. {"yes": "same"}
    notes: tuple[str, ...]  # of the reader: dropped rows and the like
    n_items: int
    n_pairs: int
    n_annotators: int
    n_labels: int  # items with a known class
    features: tuple[ColumnPlan, ...]
    n_features: int  # columns after encoding
    audit: Audit
    training: TrainingSummary | None = None  # ranges of the items, to compare new ones with
    n_groups: int | None = None  # groups of items that belong together; None: not given


@dataclass(frozen=True)
class ClassNumber:
    """The number of classes chosen, and how well every number that was tried predicts.

    A score is the mean log-likelihood of an answer that was held out.
    """

    chosen: int
    scores: Mapping[str, float]

    @property
    def text(self) -> str:
        """What was chosen, and why.

        >>> ClassNumber(3, {"2": -0.6, "3": -0.5, "4": -0.499}).text
        '3 classes: fewer predict held-out answers worse, and a fourth is not supported by them'
        """
        numbers = sorted(int(number) for number in self.scores)
        fewer = "fewer predict held-out answers worse"
        more = f"a {_ordinal(self.chosen + 1)} is not supported by them"
        if self.chosen == min(numbers):
            return f"{self.chosen} classes: {more.replace('them', 'held-out answers')}"
        return f"{self.chosen} classes: {fewer}, and {more}"


def _ordinal(number: int) -> str:
    """Return "third", "21st".

    >>> _ordinal(3), _ordinal(21), _ordinal(12)
    ('third', '21st', '12th')
    """
    words = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
    if 3 <= number <= 10:
        return words[number - 3]
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


@dataclass(frozen=True)
class ShownItem:
    """An item as the file has it, with how probable it is that it is what it stands for."""

    id: str
    probability: float
    features: Mapping[str, str]


@dataclass(frozen=True)
class ClassSummary:
    """One class: its name, P(class), how many of the given items are in it, and what it is.

    ``typical`` are the items that answers and features agree on most, ``doubtful`` those nearest to
    another class, ``telling`` in words what its items have more or less of than the others. Without
    a name it is called by its number.
    """

    name: str
    share: float
    n_items: int
    n_doubtful: int = 0
    typical: tuple[ShownItem, ...] = ()
    doubtful: tuple[ShownItem, ...] = ()
    telling: tuple[str, ...] = ()


@dataclass(frozen=True)
class NoiseSummary:
    """How wrong the answers are: P("different" | same), P("same" | different), with intervals.

    Where the method gives no interval, ``low`` and ``high`` are those of the estimate itself.
    ``repeat_correlation`` is that of answers to one pair beyond what its classes explain; zero
    where it is not clear, or not looked at.
    """

    family: str  # "pairing", "labeling", "free"
    text: str  # the noise model as it prints, e.g. PairingNoise(similar_flip=0.2, …)
    similar_flip: Interval
    dissimilar_flip: Interval
    has_interval: bool
    same_probability: tuple[tuple[float, ...], ...]  # S, (K, K)
    repeat_correlation: float = 0.0


@dataclass(frozen=True)
class ModelSummary:
    """What was fitted, and what it says about classes, noise and its own accuracy on new items.

    ``parts`` has the learnt strength of every part of the answer model, zero where it is not there:
    a spread of people in log-odds, a share of hard items, a correlation of answers to one pair, a
    slope on looks.
    """

    method: str
    method_title: str
    estimator: str  # as asked for: "default", "logistic", …
    estimator_title: str  # what was fitted, e.g. "linear and kernel" or "LogisticRegression"
    class_number: ClassNumber | None  # None where the number of classes was given
    classes: tuple[ClassSummary, ...]
    names_known: bool  # labels named the classes; else they are numbered in order of size
    prior: Interval | None  # of the last class; two classes only
    noise: NoiseSummary
    accuracy: Interval | None  # share of new items put in the right class: the verdict's headline
    accuracy_how: str  # how that was measured or estimated, or why it could not be
    majority_share: float  # accuracy of calling every item by the largest class: the baseline
    parts: Mapping[str, float] = field(default_factory=dict)  # none without an answer model
    hard_items: tuple[ShownItem, ...] = ()  # the hardest, as many as a page shows
    n_hard_items: int = 0

    @property
    def groups(self) -> list[str]:
        """What rows and columns of S are called."""
        return [one.name for one in self.classes]

    @property
    def class_items(self) -> list[str]:
        """The ids of all items that show classes, in their order."""
        return [item.id for one in self.classes for item in (*one.typical, *one.doubtful)]


@dataclass(frozen=True)
class ReliabilityBin:
    """Held-out answers whose predicted P("same") lies in a bin, and how many were "same"."""

    predicted: float  # mean P("same") in the bin
    observed: Interval  # share of "same", Wilson's interval
    n_answers: int


@dataclass(frozen=True)
class Calibration:
    """A test of whether predicted P("same") agree with held-out answers, see `fit.calibration`."""

    statistic: float
    degrees: int  # of freedom
    p_value: float
    level: float  # share of false alarms

    @property
    def holds(self) -> bool:
        """Whether there is no sign of miscalibration."""
        return self.p_value >= self.level


@dataclass(frozen=True)
class Evidence:
    """What speaks for and against the model: calibration, annotators, suspect answers."""

    reliability: tuple[ReliabilityBin, ...]
    annotators: AnnotatorTable | None
    suspects: tuple[SuspectPair, ...]  # the worst, as many as a page shows
    n_suspects: int  # answers more likely wrong than right, in all
    calibration: Calibration | None = None  # None: too few held-out answers
    n_hard: int = 0  # suspects about pairs so hard that a wrong answer blames nobody


@dataclass(frozen=True)
class RunFacts:
    """How the fit was run, and what it warned about."""

    warnings: tuple[str, ...]
    seed: int
    versions: Mapping[str, str]
    date: str  # ISO 8601, UTC
    seconds: float


@dataclass(frozen=True)
class FitResult:
    """Everything one fit found out, in four parts, and the verdict on it."""

    data: DataSummary
    model: ModelSummary
    evidence: Evidence
    run: RunFacts
    verdict: Verdict

    @property
    def facts(self) -> dict[str, Any]:
        """What a model file says about its model: `to_dict` without single items and pairs."""
        long = ("audit", "annotators", "reliability", "suspects", "hard_items")
        kept = {key: value for key, value in self.to_dict().items() if key not in long}
        classes = [replace(one, typical=(), doubtful=()) for one in self.model.classes]
        return kept | {"classes": [asdict(one) for one in classes]}

    def to_dict(self) -> dict[str, Any]:
        """Return the fields of all parts side by side, as plain values ready for JSON."""
        table = self.evidence.annotators
        parts = (self.data, self.model, self.evidence, self.run)
        return {key: value for part in parts for key, value in asdict(part).items()} | {
            "verdict": self.verdict.to_dict(),
            "audit": self.data.audit.to_dict(),
            "annotators": None if table is None else table.to_dict(),
        }
