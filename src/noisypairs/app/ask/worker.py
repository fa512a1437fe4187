"""The process that learns: it watches the store, refits, and leaves the next pairs there.

It runs at low priority, never answers anybody, and ends with the server, however that ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from noisypairs.app.ask.answers import Answers
from noisypairs.app.ask.database import Database
from noisypairs.app.ask.fits import Estimate, Fits
from noisypairs.app.ask.project import Project, Settings
from noisypairs.app.files.store import is_busy

LEARNER = "noisypairs.app.ask.learning:Learner"
"""What learns, as module and name: called with the `Settings`, it has a method ``learn`` as
`learning.Learner` has. Another one may be named where a project is served."""

PAUSE = 0.5
"""Seconds between two looks at the store."""

FEWEST_NEW, NEW_SHARE = 10, 0.05
"""The model is refitted after so many new answers, and so many for each that it has seen."""

LOW_PRIORITY = 10


def start(settings: Settings, learner: str = LEARNER) -> BaseProcess:
    """Start the process."""
    process = multiprocessing.get_context("spawn").Process(
        target=work, args=(settings, learner), name="noisypairs-ask-worker", daemon=True
    )
    process.start()
    return process


def work(settings: Settings, learner: str) -> None:
    """Learn for ever, as a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's, which then ends this
    with suppress(OSError, AttributeError):  # Windows has no such thing
        os.nice(LOW_PRIORITY)
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        worker = Worker(settings, _named(learner)(settings))
        while True:
            if not _stepped(worker):
                time.sleep(PAUSE)


def _stepped(worker: Worker) -> bool:
    """Take a step, unless another program holds the store: then there is another time."""
    try:
        return worker.step()
    except sqlite3.OperationalError as error:
        if not is_busy(error):
            raise
        return False


class Worker:
    """One look at the store after the other; `step` is all that a test needs."""

    def __init__(self, settings: Settings, learner: Any) -> None:
        database = Database(settings.store)
        self.project = Project(settings, database)
        self.answers, self.fits = Answers(database), Fits(database)
        self.learner = learner
        self._tried = -1

    def step(self) -> bool:
        """Refit if there is something new to learn; return whether there was."""
        changed = self.project.refresh()
        count = self.answers.count()
        if not changed and not self._is_due(count):
            return False
        self._tried = count
        last, said = self.fits.latest(), self.answers.telling()
        number = None
        try:
            for found in self.learner.learn(self.project.shown, said, last):
                if number is None:
                    number = self.fits.add(len(said), found.estimate, found.people, found.batch)
                else:
                    self.fits.judge(number, found.estimate, found.people)
        except Exception as error:
            # Whatever goes wrong, people go on answering, and the next answers may mend it.
            estimate = Estimate(self.project.settings.target) if last is None else last.estimate
            note = f"the last fit failed: {type(error).__name__}: {error}"
            people = [] if last is None else last.people
            self.fits.add(len(said), replace(estimate, note=note), people, [])
        return True

    def _is_due(self, count: int) -> bool:
        if self._tried < 0:
            return True  # so that the first pairs are chosen, too
        new = abs(count - self._tried)
        few = new > 0 and self.fits.waiting() == 0
        return new >= max(FEWEST_NEW, NEW_SHARE * self._tried) or (few and new >= FEWEST_NEW // 2)


def _named(learner: str) -> Callable[[Settings], Any]:
    module, _, name = learner.partition(":")
    found: Callable[[Settings], Any] = getattr(import_module(module), name)
    return found


def _end_with_the_server() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(0)
