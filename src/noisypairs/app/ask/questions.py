"""Which pair somebody is shown: the one they have not answered yet, else the next.

The next pair comes from the queue that the worker fills. Until there is one, and where it is empty,
it is drawn at random: nobody ever waits for the model, nor for anybody else. No pair is asked
twice, but for a stated share of the questions, which are asked again of another person.
"""

from __future__ import annotations

import random
from collections.abc import Container, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from noisypairs.app.ask.database import Database, now
from noisypairs.app.ask.people import Person

CHOSEN, RANDOM, REPEAT = "chosen", "random", "repeat"
"""Why a pair is asked: by the chooser, drawn at random, or of a second person."""

KNOWN, DOUBT = "known", "doubt"
"""Why a person is asked what judges have answered: one of a random sample, or they may all err."""

ABANDONED = timedelta(minutes=15)
"""After so long a pair that somebody has open may be asked of others."""

TRIES = 200
"""Random pairs looked at before all pairs are gone through."""

_FREE = """
    NOT EXISTS (
        SELECT 1 FROM standing
        WHERE standing.low = pair.low AND standing.high = pair.high
        AND (said <> 'skip' OR person = :person)
    )
    AND NOT EXISTS (
        SELECT 1 FROM questions
        WHERE questions.low = pair.low AND questions.high = pair.high AND open
        AND (person = :person OR (asked_at > :since AND person NOT IN blocked))
    )
"""

_BLOCKED = "WITH blocked AS (SELECT person FROM people WHERE blocked_at IS NOT NULL) "


class Pick(NamedTuple):
    """A pair to ask, ``low`` < ``high``, why, P(same) by the model, and by which fit."""

    low: int
    high: int
    kind: str
    chance: float | None = None
    fit: int | None = None


@dataclass(frozen=True)
class Question:
    """A pair as it is shown to one person; ``chance`` is the model's P(same), if there is one."""

    number: int
    left: int
    right: int
    kind: str
    chance: float | None


class Questions:
    """The questions of a project; ``repeated`` is the share that is asked of a second person."""

    def __init__(self, database: Database, repeated: float, seed: int | None = None) -> None:
        self.database, self.repeated = database, repeated
        self._random = random.Random(seed)

    def current(
        self, person: Person, items: Sequence[int], known: Container[int]
    ) -> Question | None:
        """Return what this person is to answer now; None where no pair is left for them.

        ``items`` are the numbers of those that can be shown, and ``known`` the same as a set.
        """
        with self.database.writing():
            waiting = self.database.rows(
                "SELECT question, low, high, swapped, kind, chance FROM questions "
                "WHERE person = ? AND open ORDER BY question DESC",
                person.number,
            )
            for number, low, high, swapped, kind, chance in waiting:
                if low in known and high in known:
                    return _question(number, Pick(low, high, kind, chance), swapped)
            pick = (
                self._wanted(person, known)
                or self._repeated(person, known)
                or self._abandoned(person, known)
                or self._queued(person, known)
                or self._drawn(person, items)
            )
            return None if pick is None else self.ask(person, pick)

    def ask(self, person: Person, pick: Pick, swapped: bool | None = None) -> Question:
        """Let a pair be the next that somebody is shown."""
        if swapped is None:  # so that no habit of a hand follows the order
            swapped = self._random.random() < 0.5
        number = self.database.run(
            "INSERT INTO questions (person, low, high, kind, chance, fit, swapped, asked_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(person.number, *pick, int(swapped), now()),
        )
        return _question(number, pick, swapped)

    def _wanted(self, person: Person, known: Container[int]) -> Pick | None:
        """Return a pair of judges that a person should answer, if no person has."""
        rows = self.database.rows(
            f"{_BLOCKED}SELECT low, high, kind FROM wanted AS pair WHERE NOT EXISTS ("
            "    SELECT 1 FROM standing JOIN people USING (person)"
            "    WHERE standing.low = pair.low AND standing.high = pair.high"
            "    AND joined_by IS NOT 'judge' AND (said <> 'skip' OR person = :person)"
            ") AND NOT EXISTS ("
            "    SELECT 1 FROM questions JOIN people USING (person)"
            "    WHERE questions.low = pair.low AND questions.high = pair.high AND open"
            "    AND joined_by IS NOT 'judge' AND asked_at > :since AND person NOT IN blocked"
            ") ORDER BY place",
            person=person.number,
            since=_since(),
        )
        return next((Pick(*one) for one in rows if one[0] in known and one[1] in known), None)

    def _abandoned(self, person: Person, known: Container[int]) -> Pick | None:
        """Return a pair of the latest batch that somebody left open too long, or may not answer.

        Random pairs need not come back: others are as good.
        """
        rows = self.database.rows(
            f"{_BLOCKED}SELECT low, high, kind, chance, fit FROM questions AS pair "
            "WHERE open AND kind = :kind AND fit = (SELECT max(fit) FROM fits) "
            f"AND (asked_at <= :since OR person IN blocked) AND {_FREE} ORDER BY question",
            kind=CHOSEN,
            person=person.number,
            since=_since(),
        )
        return next((Pick(*one) for one in rows if one[0] in known and one[1] in known), None)

    def _queued(self, person: Person, known: Container[int]) -> Pick | None:
        """Take the first pair of the queue that is free; those that are not are left to others."""
        while True:
            row = self.database.row(
                f"{_BLOCKED}SELECT place, low, high, kind, chance, fit FROM queue AS pair "
                f"WHERE {_FREE} ORDER BY place LIMIT 1",
                person=person.number,
                since=_since(),
            )
            if row is None:
                return None
            place, *pick = row
            self.database.run("DELETE FROM queue WHERE place = ?", place)
            if pick[0] in known and pick[1] in known:
                return Pick(*pick)

    def _repeated(self, person: Person, known: Container[int]) -> Pick | None:
        """Return a pair that one other person has answered, as often as it is stated."""
        if self._random.random() >= self.repeated:
            return None
        (last,) = self.database.row("SELECT coalesce(max(answer), 0) FROM answers") or (0,)
        start = self._random.randint(1, max(last, 1))
        for condition in ("answer >= :start", "answer < :start"):
            row = self.database.row(
                "SELECT given.low, given.high, chance, fit "
                "FROM standing AS given JOIN questions AS before USING (question) "
                f"WHERE {condition} AND said IN ('same', 'different') "
                "AND given.person <> :person "
                "AND (SELECT count(*) FROM standing WHERE standing.low = given.low "
                "     AND standing.high = given.high) = 1 "
                "AND NOT EXISTS (SELECT 1 FROM questions WHERE questions.low = given.low "
                "     AND questions.high = given.high AND open) "
                "ORDER BY answer LIMIT 1",
                person=person.number,
                start=start,
            )
            if row is not None and row[0] in known and row[1] in known:
                return Pick(row[0], row[1], REPEAT, *row[2:])
        return None

    def _drawn(self, person: Person, items: Sequence[int]) -> Pick | None:
        """Return a free pair at random; None where there is none."""
        if len(items) < 2:
            return None
        for _ in range(TRIES):
            low, high = sorted(self._random.sample(items, 2))
            if self._is_free(person, low, high):
                return Pick(low, high, RANDOM)
        order = self._random.sample(items, len(items))
        for k, one in enumerate(order):
            for other in order[:k]:
                low, high = min(one, other), max(one, other)
                if self._is_free(person, low, high):
                    return Pick(low, high, RANDOM)
        return None

    def _is_free(self, person: Person, low: int, high: int) -> bool:
        found = self.database.row(
            f"{_BLOCKED}SELECT 1 FROM (SELECT :low AS low, :high AS high) AS pair WHERE {_FREE}",
            low=low,
            high=high,
            person=person.number,
            since=_since(),
        )
        return found is not None


def _question(number: int, pick: Pick, swapped: bool) -> Question:
    left, right = (pick.high, pick.low) if swapped else (pick.low, pick.high)
    return Question(number, left, right, pick.kind, pick.chance)


def _since() -> str:
    return (datetime.now(UTC) - ABANDONED).isoformat(timespec="milliseconds")
