"""What can go wrong, by name: every error says what was given, what was expected, what to do.

A warning is given once per call. What refits an estimator (`cross_val_score`, `GridSearchCV`,
`learning_curve`) does so through one ``joblib.Parallel`` per call, a variable of the function that
was called: while that lives, its folds are one call. Fits in worker processes cannot see it, and a
process counts there.
"""

from __future__ import annotations

import difflib
import multiprocessing
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from weakref import WeakKeyDictionary

#: Where code stands that a user did not write.
WITHIN = ("noisypairs.", "sklearn.", "joblib.")
#: Where functions stand that refit an estimator.
REFITS = ("sklearn.model_selection.", "noisypairs.model_selection")


class NotIdentifiable(ValueError):
    """The pairs cannot answer the question asked: they are too few, or cannot tell.

    Raised, for example, when the prior is ½ and a point-wise method is used (a − b = 0), or when no
    prior at all explains the share of "same" answers. The message says which it is.
    """


class NotIdentifiableWarning(UserWarning):
    """The pairs answer the question only just: noise is inflated by the factor that is named."""


class ClassNumberWarning(UserWarning):
    """One class more explains the answers better than the number that was given."""


class ClassNamesWarning(UserWarning):
    """Pairs cannot tell which group is which class; the names were chosen by group size."""


class CopiedAnswersWarning(UserWarning):
    """Answers are not independent: copies, or repeats that agree more than the noise allows.

    Estimated rates are then too small and intervals too short.
    """


class RepeatedItemsWarning(UserWarning):
    """Rows of the items are nearly identical: perhaps the same items, seen several times.

    Folds then part the rows of an item, and the estimated accuracy is too high.
    """


class UnpredictedAnswersWarning(UserWarning):
    """The answers do not say what new items are: features do not predict them, or all are near."""


class WeakEstimatorWarning(UserWarning):
    """The estimator that was given does much worse than the default on held-out answers."""


class ChosenPairsWarning(UserWarning):
    """Some pairs were chosen, not drawn at random, and were left out where that matters."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn, once per call, at the line of the user's own that led here."""
    if not _kept.get() and _already_warned(message, category):
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_within(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


#: Whether `warnings_kept` holds warnings back for now.
_kept: ContextVar[bool] = ContextVar("_kept", default=False)
#: What was said in calls that refit; a worker process stands for one.
_said: WeakKeyDictionary[object, set[tuple[str, str]]] = WeakKeyDictionary()
_WORKER: object = type("Worker", (), {})()


def _already_warned(message: str, category: type[Warning]) -> bool:
    """Whether the call that refits has said this, numbers aside; if not, it has from now on."""
    frame: FrameType | None = sys._getframe(1)
    call: object | None = None
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith(REFITS):
            for value in frame.f_locals.values():
                call = value if type(value).__name__ == "Parallel" else call
        frame = frame.f_back
    if call is None:
        if multiprocessing.current_process().name == "MainProcess":
            return False
        call = _WORKER
    said = category.__name__, re.sub(r"[-−+]?[\d.,]+", "#", message)
    known = _said.setdefault(call, set())
    before = said in known
    known.add(said)
    return before


def _is_within(frame: FrameType) -> bool:
    """Whether a frame is of the package, or of an estimator that somebody added to it."""
    module = str(frame.f_globals.get("__name__"))
    return module.startswith(WITHIN) or hasattr(frame.f_locals.get("self"), "get_params")


class MissingExtra(ImportError):
    """An optional package is needed; the message names the extra that brings it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed. "
            f"Install it with: pip install 'noisypairs[{extra}]'"
        )


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Return a sentence that offers the nearest known name, or lists them all.

    >>> did_you_mean("canser", ["cancer", "adult"])
    "did you mean 'cancer'? Known: adult, cancer"
    """
    names = sorted(str(name) for name in known)
    near = difflib.get_close_matches(str(given), names, n=1, cutoff=0.5)
    guess = f"did you mean {near[0]!r}? " if near else ""
    return f"{guess}Known: {', '.join(names)}"


class CollectedWarnings(list[str]):
    """Texts of warnings, each once; ``caught`` are the warnings themselves."""

    caught: tuple[Warning, ...] = ()


@contextmanager
def collected_warnings(*kinds: type[Warning]) -> Iterator[CollectedWarnings]:
    """Collect the texts of the warnings of these kinds, or of all, each once; others are dropped.

    The list is filled when the block ends. `ClassNamesWarning` is never among them: that classes
    have no names is said wherever their names are shown.

    >>> with collected_warnings() as found:
    ...     warnings.warn("few answers", stacklevel=1)
    ...     warnings.warn("few answers", stacklevel=1)
    ...     warnings.warn("three classes explain more", ClassNumberWarning, stacklevel=1)
    >>> found
    ['few answers', 'three classes explain more']
    """
    found = CollectedWarnings()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ClassNamesWarning)
        yield found
    kept = [one for one in caught if issubclass(one.category, kinds or Warning)]
    found += dict.fromkeys(str(one.message) for one in kept)
    once = {str(one.message): one.message for one in kept}
    found.caught = tuple(one for one in once.values() if isinstance(one, Warning))


@contextmanager
def warnings_kept() -> Iterator[list[Warning]]:
    """Let warnings pass as they come, and keep them: the list is filled when the block ends.

    >>> with collected_warnings() as heard, warnings_kept() as kept:
    ...     warnings.warn("few answers", stacklevel=1)
    >>> heard, [str(one) for one in kept]
    (['few answers'], ['few answers'])
    """
    kept: list[Warning] = []
    caught: list[warnings.WarningMessage] = []
    held = _kept.set(True)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield kept
    finally:
        _kept.reset(held)
        for one in caught:
            said = one.message
            kept.append(said if isinstance(said, Warning) else UserWarning(said))
            if _kept.get() or not _already_warned(str(said), one.category):
                warnings.warn_explicit(said, one.category, one.filename, one.lineno)
