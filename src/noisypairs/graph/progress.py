"""Progress of a long fit: stages report where they are, and a listener shows it.

    with listening(show):                   # a command's bar, or the lines of ``verbose=True``
        with stage("fit", {"start": 3, "round": 7}):
            for guess in each("start", guesses):
                ...

Stages nest. A stage may give the shares of its time that the stages inside it take (numbers of any
unit, in their order); the steps of a counted stage take equal shares. So the share of the work done
is always known, never falls, and gives the time left. Without a listener nothing is kept.

scikit-learn's own callbacks (``sklearn.callback``) are not used: they need version 1.9, and we
support 1.8; its guide calls them experimental; and they do not know the share of a stage, so that
the time left cannot be estimated.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Integral
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class At(NamedTuple):
    """A stage and, if it is counted, which of its steps is under way: 1 to ``total``."""

    name: str
    step: int = 0
    total: int = 0

    def __str__(self) -> str:
        """Return words such as "round 2 of 10"."""
        return f"{self.name} {self.step} of {self.total}" if self.total else self.name


#: Told the stages under way, outermost first, and the share of the listener's work that is done.
Listener = Callable[[tuple[At, ...], float], None]


class Stage:
    """A part of the work, within another one or outermost.

    ``done`` is the share of it that is over, and ``part`` the share that the step under way takes.
    """

    def __init__(
        self,
        name: str,
        parent: Stage | None,
        shares: Mapping[str, float] | None = None,
        listener: Listener | None = None,
    ) -> None:
        self.at, self.parent, self.shares, self.listener = At(name), parent, shares, listener
        self.done, self.part = 0.0, 1.0

    def move(self, at: At, done: float, part: float) -> None:
        """Begin a step that takes this part of the stage, and tell the listener."""
        self.at, self.done, self.part = at, done, part
        _current.set(self)  # whatever was under way inside is over, even if it failed
        self._tell()

    def _tell(self) -> None:
        path, share = list[At](), 0.0
        for stage in _chain(self):
            path.insert(0, stage.at)
            share = stage.done + stage.part * share
            if stage.listener is not None:
                stage.listener(tuple(path), share)

    def _begin(self, name: str) -> None:
        """Begin a stage inside: it takes its share or, without shares, the present step."""
        if self.shares is None:
            return
        names, total = list(self.shares), sum(self.shares.values())
        before = names.index(name) if name in self.shares else 0
        start = sum(list(self.shares.values())[:before]) / total
        end = start + self.shares.get(name, 0.0) / total
        self.done = max(self.done, start)
        self.part = max(end - self.done, 0.0)

    def _end(self) -> None:
        self.done, self.part = self.done + self.part, 0.0


#: The innermost stage under way, if anybody listens.
_current: ContextVar[Stage | None] = ContextVar("noisypairs_progress", default=None)


@contextmanager
def listening(listener: Listener, name: str = "") -> Iterator[Stage]:
    """Report all stages in the block to the listener; give the outermost, to be moved by hand.

    >>> def show(stages, share):
    ...     print(f"{share:4.0%}", ", ".join(map(str, stages[1:])))
    >>> with listening(show):
    ...     for _ in each("start", "ab"):
    ...         for _ in each("round", range(2)):
    ...             pass
      0% start 1 of 2
      0% start 1 of 2, round 1 of 2
     25% start 1 of 2, round 2 of 2
     50% start 2 of 2
     50% start 2 of 2, round 1 of 2
     75% start 2 of 2, round 2 of 2
    """
    before = _current.get()
    stage = Stage(name, before, listener=listener)
    _current.set(stage)
    try:
        yield stage
    finally:
        _current.set(before)


@contextmanager
def stage(name: str, shares: Mapping[str, float] | None = None) -> Iterator[None]:
    """Make the block, or every call of the decorated function, a stage of this name."""
    parent = _current.get()
    if parent is None:
        yield
        return
    parent._begin(name)
    inside = Stage(name, parent, shares)
    inside.move(At(name), 0.0, 1.0)
    try:
        yield
    finally:
        _current.set(parent)
        parent._end()


def each(name: str, items: Collection[T]) -> Iterable[T]:
    """Return the items to loop over; every one is a step of a stage of this name."""
    parent = _current.get()
    return items if parent is None else _counted(name, items, parent)


def _counted(name: str, items: Collection[T], parent: Stage) -> Iterator[T]:
    parent._begin(name)
    inside, total = Stage(name, parent), len(items)
    try:
        for k, item in enumerate(items):
            inside.move(At(name, k + 1, total), k / total, 1.0 / total)
            yield item
    finally:
        # After an exception this may run late, when other stages are under way: leave those alone.
        if inside in _chain(_current.get()):
            _current.set(parent)
            parent._end()


def _chain(stage: Stage | None) -> Iterator[Stage]:
    while stage is not None:
        yield stage
        stage = stage.parent


class Lines:
    """A listener that prints a line on stderr as each stage begins, with the seconds so far.

    ``levels`` of nested stages are shown.
    """

    def __init__(self, name: str, levels: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.name, self.levels, self.clock, self.begun = name, levels, clock, clock()

    def __call__(self, stages: tuple[At, ...], share: float) -> None:
        """Print the stages inside the outermost two, which are the listener's and the fit's."""
        del share  # a fit of its own knows no time left that is worth printing
        if len(stages) <= 2 + self.levels:
            self.say(", ".join(map(str, stages[2:])) or "checking items and pairs")

    def say(self, text: str) -> None:
        """Print one line."""
        seconds = self.clock() - self.begun
        print(f"[{self.name}] {seconds:7.1f} s  {text}", file=sys.stderr, flush=True)


@contextmanager
def fitting(estimator: Any, shares: Mapping[str, float]) -> Iterator[None]:
    """Mark the block as the fit of this estimator; print its stages where ``verbose`` is set.

    ``verbose`` is the number of nested levels to print; True is 1.
    """
    levels = estimator.verbose
    if not isinstance(levels, Integral) or int(levels) < 0:
        raise ValueError(
            f"verbose={levels!r}: expected True or False, or how many levels of stages to print"
        )
    if not levels:
        with stage("", shares):
            yield
        return
    lines = Lines(type(estimator).__name__, int(levels))
    with listening(lines), stage("", shares):
        yield
    lines.say("done")
