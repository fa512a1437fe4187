"""What the model found out, as the worker leaves it in the store for the server to read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from noisypairs.app.ask.database import Database, now
from noisypairs.app.ask.questions import Pick


@dataclass(frozen=True)
class Estimate:
    """How good the answers make the model, and what a target takes; shares are in [0, 1].

    ``accuracy`` is (estimate, low, high), ``left`` how many answers are expected to be needed
    still. ``state`` is "reached", "doubtful" (it would be, but a warning stands, in ``note``),
    "more", "open" (no number can be given), or "learning" where nothing can be said yet, with the
    reason in ``note``. ``claimed`` says that the answers alone show nothing against the target:
    more of them by the same people would not change that.
    """

    target: float
    state: str = "learning"
    accuracy: tuple[float, float, float] | None = None
    level: float = 0.9
    left: int | None = None
    n_classes: int | None = None
    n_answers: int = 0
    note: str = ""
    claimed: bool = False


@dataclass(frozen=True)
class Fit:
    """A fit of the model: after how many answers, the estimate, and what it says of people."""

    number: int
    n_answers: int
    estimate: Estimate
    people: list[dict[str, Any]] = field(default_factory=list)


class Fits:
    """The fits of a project, of which the last one counts."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def latest(self) -> Fit | None:
        """Return the last fit."""
        row = self.database.row(
            "SELECT fit, n_answers, progress, people FROM fits ORDER BY fit DESC LIMIT 1"
        )
        if row is None:
            return None
        number, n_answers, progress, people = row
        return Fit(number, n_answers, _estimate(progress), _read(people))

    def estimate(self) -> Estimate | None:
        """Return what the last fit says of the project; all that every page needs to know."""
        row = self.database.row("SELECT progress FROM fits ORDER BY fit DESC LIMIT 1")
        return None if row is None else _estimate(row[0])

    def add(
        self,
        n_answers: int,
        estimate: Estimate,
        people: Sequence[dict[str, Any]],
        batch: Sequence[Pick],
    ) -> int:
        """Keep a fit, and let its batch take the place of what is left of the one before."""
        with self.database.writing():
            number = self.database.run(
                "INSERT INTO fits (finished_at, n_answers, progress, people) VALUES (?, ?, ?, ?)",
                *(now(), n_answers, json.dumps(estimate.__dict__), json.dumps(list(people))),
            )
            self.database.run("DELETE FROM queue")
            self.database.run_many(
                "INSERT INTO queue (low, high, kind, chance, fit) VALUES (?, ?, ?, ?, ?)",
                [(*pick[:4], number) for pick in batch],
            )
        return number

    def judge(self, number: int, estimate: Estimate, people: Sequence[dict[str, Any]]) -> None:
        """Keep what a fit says of the project and its people, once that is known."""
        self.database.run(
            "UPDATE fits SET progress = ?, people = ? WHERE fit = ?",
            *(json.dumps(estimate.__dict__), json.dumps(list(people)), number),
        )

    def waiting(self) -> int:
        """Return how many pairs the queue holds."""
        row = self.database.row("SELECT count(*) FROM queue")
        return 0 if row is None else int(row[0])


def _estimate(progress: str) -> Estimate:
    """Read an estimate; what another version says beside what is known here is passed over."""
    known = {one.name for one in fields(Estimate)}
    try:
        return Estimate(**{name: said for name, said in _read(progress).items() if name in known})
    except (AttributeError, TypeError) as error:
        raise sqlite3.DatabaseError(f"what it says of a fit is unreadable: {error}") from error


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise sqlite3.DatabaseError(f"what it says of a fit is no JSON: {error}") from error
