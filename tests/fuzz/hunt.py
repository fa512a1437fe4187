"""Calls for a while, each command with its share of the time, and a count of how they end."""

from __future__ import annotations

import json
import platform
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock

from tests.fuzz.calls import Case, make_case
from tests.fuzz.samples import Sample
from tests.fuzz.trial import DONE, FINDINGS, REFUSED, Outcome
from tests.fuzz.worker import Worker

#: Examples that are kept of one finding; the others are counted.
MOST_EXAMPLES = 3
STATES = (DONE, REFUSED, *FINDINGS)
RECORD = "record.json"
#: Seconds that a call counts for while it is at work, so that other commands come first.
STARTED = 1.0


@dataclass
class Count:
    """How the calls of one command, or on one kind of file, have ended."""

    states: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0

    def add(self, state: str, seconds: float) -> None:
        self.states[state] += 1
        self.longest = max(self.longest, seconds)

    def row(self) -> list[str]:
        """Return the numbers of the table: calls, how they ended, the longest in seconds."""
        counts = [self.states.total(), *(self.states[state] for state in STATES)]
        return [*(f"{one:,}" for one in counts), f"{self.longest:.1f}"]


class Hunt:
    """The calls of a run: which is next, and what became of those before."""

    def __init__(
        self,
        samples: Mapping[str, Sample],
        commands: Sequence[str],
        seed: int,
        out: Path,
        scratch: Path,
    ) -> None:
        self.samples, self.out, self.scratch = samples, out, scratch
        self.commands = {command: Count() for command in commands}
        self.kinds: dict[str, Count] = {}
        self.findings: Counter[str] = Counter()
        self.first_seed = self._seed = seed
        self._minutes = 0.0
        self._lock, self._stop = Lock(), Event()
        self._seconds = dict.fromkeys(commands, 0.0)

    def run(self, minutes: float, jobs: int) -> None:
        """Make calls for so many minutes, so many at a time."""
        self._begun = time.monotonic()
        until = self._begun + 60 * minutes
        workers = [Worker(self.scratch / f"log-{k}") for k in range(jobs)]
        with ThreadPoolExecutor(jobs) as pool:
            running = [pool.submit(self._work, worker, until) for worker in workers]
            try:
                for one in running:
                    one.result()
            finally:
                self._stop.set()
                for worker in workers:
                    worker.end()
        self._minutes = (time.monotonic() - self._begun) / 60

    def _work(self, worker: Worker, until: float) -> None:
        while time.monotonic() < until and not self._stop.is_set():
            case = self._next()
            start = time.monotonic()
            with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
                found = worker.run(case.write(Path(folder)), case.words, case.limit)
            if not self._stop.is_set():  # a process that was ended with the run has not crashed
                self._add(case, found, time.monotonic() - start)
        worker.end()

    def _next(self) -> Case:
        """Return a case of the command that has had the least time so far."""
        with self._lock:
            command = min(self.commands, key=self._seconds.__getitem__)
            self._seconds[command] += STARTED
            self._seed += 1
            return make_case(command, self._seed - 1, self.samples)

    def _add(self, case: Case, found: Outcome, seconds: float) -> None:
        with self._lock:
            self._seconds[case.command] += seconds - STARTED
            self.commands[case.command].add(found.state, seconds)
            self.kinds.setdefault(case.kind, Count()).add(found.state, seconds)
            if found.state not in FINDINGS:
                return
            title = f"{found.state}: {case.command}: {found.where}"
            self.findings[title] += 1
            if self.findings[title] <= MOST_EXAMPLES:
                case.keep(self.out / case.name, found._asdict())
                print(
                    f"{title}\n  python -m tests.fuzz --repeat {self.out / case.name}", flush=True
                )

    def table(self) -> str:
        """Return the counts by command and by kind of file, and every finding once."""
        head = ["calls", *STATES, "longest, s"]
        total = Count()
        for one in self.commands.values():
            total.states += one.states
            total.longest = max(total.longest, one.longest)
        rows = [["command", *head]]
        rows += [[name, *one.row()] for name, one in self.commands.items()]
        rows += [["all", *total.row()], [""] * (len(head) + 1), ["files", *head]]
        rows += [[name, *one.row()] for name, one in sorted(self.kinds.items())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
            for row in rows
        ]
        found = [f"{count:,} times {title}" for title, count in self.findings.most_common()]
        lines += ["", f"{self._minutes:.1f} minutes, {len(found)} findings", *found]
        return "\n".join(lines)

    def write_record(self) -> Path:
        """Write the counts as JSON beside the findings; return the folder."""
        self.out.mkdir(parents=True, exist_ok=True)
        counts = {"commands": self.commands, "files": self.kinds}
        found = {
            "minutes": round(self._minutes, 1),
            "first_seed": self.first_seed,
            "calls": self._seed - self.first_seed,
            "python": platform.python_version(),
            **{
                what: {
                    name: {**one.states, "longest_seconds": round(one.longest, 1)}
                    for name, one in sorted(named.items())
                }
                for what, named in counts.items()
            },
            "findings": dict(self.findings.most_common()),
        }
        (self.out / RECORD).write_text(json.dumps(found, indent=2) + "\n")
        return self.out
