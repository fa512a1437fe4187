"""A process in which calls are made one after the other, so that the libraries load only once.

The parent waits for each answer no longer than the limit of the call. It ends a process that gives
none, and starts another one.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from tests.fuzz.trial import Outcome, attempt

#: Bytes of address space that a process may take: a small file has no need of more.
MOST_MEMORY = 6 * 2**30
#: How long before the limit a process that hangs writes down where it is.
BEFORE_THE_END = 0.9

Attempt = Callable[[Path, Sequence[str]], Outcome]


class Worker:
    """A process that is started when it is needed, and replaced when it hangs or dies."""

    def __init__(self, log: Path, attempt: Attempt = attempt) -> None:
        self.log, self.attempt = log, attempt
        self._connection: Connection | None = None

    def run(self, folder: Path, words: Sequence[str], limit: float) -> Outcome:
        """Make a call; a hang and the death of the process are outcomes, too."""
        connection = self._connection or self._start()
        connection.send((folder, words, limit))
        try:
            if connection.poll(limit):
                found: Outcome = connection.recv()
                return found
        except EOFError:
            code = self.end()
            return Outcome("crash", self._logged(), f"the process ended with {code}")
        self.end()
        return Outcome("hang", self._logged(), f"no answer after {limit:g} s")

    def _start(self) -> Connection:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self.log.write_text("")
        self._process = context.Process(target=serve, args=(theirs, self.log, self.attempt))
        self._process.start()
        theirs.close()
        return self._connection

    def end(self) -> int | None:
        """End the process and all that it has started; return its exit code."""
        if self._connection is None:
            return None
        self._process.join(0.1)
        if self._process.is_alive():
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:  # it has no group of its own yet
                self._process.kill()
        self._process.join()
        self._connection.close()
        self._connection = None
        return self._process.exitcode

    def _logged(self) -> str:
        return self.log.read_text(errors="replace")[-20_000:]


def serve(connection: Connection, log: Path, attempt: Attempt) -> None:
    """Answer calls until the parent hangs up."""
    os.setsid()  # a group of its own, to be ended with all that it starts
    output = os.open(log, os.O_WRONLY | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    faulthandler.enable(sys.__stderr__)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            folder, words, limit = connection.recv()
        except EOFError:
            return
        faulthandler.dump_traceback_later(BEFORE_THE_END * limit, file=sys.__stderr__)
        found = attempt(folder, words)
        faulthandler.cancel_dump_traceback_later()
        connection.send(found)
