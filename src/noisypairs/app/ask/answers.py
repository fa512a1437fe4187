"""What people said: recorded once, undone by whoever said it, listed, counted and exported."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeGuard

from noisypairs.app.ask.database import MOST_ROWS, Database, now
from noisypairs.app.ask.people import Person, Refused
from noisypairs.app.ask.questions import Pick, Questions
from noisypairs.app.files import delimited_text
from noisypairs.app.files.store import COLUMNS, VIEW
from noisypairs.pairs.levels import Scale

WORDS = ("same", "different", "unsure", "skip")
NEITHER = ("unsure", "skip")
PAGE = 20
"""Own answers listed at once."""


@dataclass(frozen=True)
class Said:
    """One answer of the store that counts, by the numbers of its items and its person.

    ``grade`` is its level, None of a project without a scale.
    """

    left: int
    right: int
    same: bool
    person: str
    kind: str
    grade: str | None = None


class Answers:
    """The answers of a project: same or different, or the levels of its ``scale``."""

    def __init__(self, database: Database, scale: Scale | None = None) -> None:
        self.database, self.scale = database, scale

    @property
    def words(self) -> tuple[str, ...]:
        """What can be said of a pair."""
        return WORDS if self.scale is None else (*self.scale.names, *NEITHER)

    def record(
        self, person: Person, question: object, said: object, seconds: object, shown: object
    ) -> int:
        """Keep an answer and return its number; refuse one to no open question of this person.

        The same answer again, as a browser sends it that never heard of its success, changes
        nothing.
        """
        if said not in self.words:
            raise Refused(f"an answer is one of {', '.join(self.words)}")
        grade, word = None, str(said)
        if self.scale is not None and said not in NEITHER:
            grade, word = word, self.scale.meanings()[word]
        if not _is_number(question):
            raise Refused("a question is named by its number")
        with self.database.writing():
            asked = self.database.row(
                "SELECT low, high, open, asked_at FROM questions WHERE question = ? AND person = ?",
                *(question, person.number),
            )
            if asked is None:
                raise Refused("there is no such question for you", 404)
            low, high, open_, asked_at = asked
            if not open_:
                return self._known(question, str(said))
            self.database.run("UPDATE questions SET open = 0 WHERE question = ?", question)
            return self.database.run(
                "INSERT INTO answers "
                "(question, person, low, high, said, grade, answered_at, seconds, model_shown) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                *(question, person.number, low, high, word, grade),
                *(now(), _seconds(seconds, asked_at), int(shown is True)),
            )

    def _known(self, question: int, said: str) -> int:
        row = self.database.row(
            "SELECT answer, coalesce(grade, said) FROM answers WHERE question = ?", question
        )
        if row is None or row[1] != said:
            raise Refused("this pair is answered already: undo that answer first", 409)
        return int(row[0])

    def undo(self, person: Person, answer: object, questions: Questions) -> None:
        """Take back one's own answer; its pair is asked again at once."""
        if not _is_number(answer):
            raise Refused("an answer is named by its number")
        with self.database.writing():
            row = self.database.row(
                "SELECT answers.low, answers.high, kind, chance, fit, undone_at "
                "FROM answers JOIN questions USING (question) "
                "WHERE answer = ? AND answers.person = ?",
                *(answer, person.number),
            )
            if row is None:
                raise Refused("there is no such answer of yours", 404)
            *pick, undone_at = row
            if undone_at is None:
                self.database.run(
                    "UPDATE answers SET undone_at = ? WHERE answer = ?", now(), answer
                )
                questions.ask(person, Pick(*pick))

    def history(self, person: Person, before: int | None = None) -> list[tuple[Any, ...]]:
        """Return one's own standing answers, the last first: number, items, word, time."""
        return self.database.rows(
            "SELECT answer, answers.low, answers.high, swapped, coalesce(grade, said), answered_at "
            "FROM answers JOIN questions USING (question) "
            "WHERE answers.person = ? AND undone_at IS NULL AND answer < ? "
            f"ORDER BY answer DESC LIMIT {PAGE}",
            *(person.number, 2**62 if before is None else before),
        )

    def count(self, person: Person | None = None) -> int:
        """Return how many answers stand that say something, of one person or of all."""
        query = "SELECT count(*) FROM standing WHERE said IN ('same', 'different')"
        if person is None:
            return _number(self.database.row(query))
        return _number(self.database.row(f"{query} AND person = ?", person.number))

    def telling(self) -> list[Said]:
        """Return every answer that counts and says same or different, in order."""
        rows = self.database.rows(
            "SELECT standing.low, standing.high, said = 'same', name, kind, grade "
            "FROM standing JOIN questions USING (question) "
            "JOIN people ON people.person = standing.person "
            "WHERE said IN ('same', 'different') ORDER BY answer"
        )
        return [Said(low, high, bool(same), *rest) for low, high, same, *rest in rows]

    def tallies(self) -> list[tuple[Any, ...]]:
        """Return for everybody: number, same, different, unsure, skip, undone, mean seconds."""
        counts = ", ".join(
            f"coalesce(sum(said = '{word}' AND undone_at IS NULL), 0)" for word in WORDS
        )
        return self.database.rows(
            f"SELECT person, {counts}, coalesce(sum(undone_at IS NOT NULL), 0), avg(seconds) "
            "FROM people LEFT JOIN answers USING (person) GROUP BY person ORDER BY person"
        )

    def agreement(self) -> tuple[int, int]:
        """Return how many couples of people answered one pair, and how many of them agree."""
        row = self.database.row(
            "SELECT count(*), coalesce(sum(one.said = other.said), 0) FROM standing AS one "
            "JOIN standing AS other ON one.low = other.low AND one.high = other.high "
            "AND one.person < other.person "
            "WHERE one.said IN ('same', 'different') AND other.said IN ('same', 'different')"
        )
        both, agreeing = row or (0, 0)
        return int(both), int(agreeing)

    def csv(self) -> str:
        """Return all answers that count as the text of a CSV file, which all commands read."""
        return delimited_text(COLUMNS, self.rows())

    def rows(self) -> list[tuple[Any, ...]]:
        """Return all answers that count, in the columns `COLUMNS`."""
        named = ", ".join(f'"{name}"' for name in COLUMNS)
        return self.database.rows(f"SELECT {named} FROM {VIEW}")


def _is_number(given: object) -> TypeGuard[int]:
    """Whether something can be the number of a row."""
    return isinstance(given, int) and not isinstance(given, bool) and 0 <= given < MOST_ROWS


def _seconds(given: object, asked_at: str) -> float:
    """Return how long the answer took as the page says, else since it was asked."""
    if isinstance(given, int | float) and 0 <= given <= 86_400:  # which NaN is not
        return round(float(given), 3)
    waited = datetime.now(UTC) - datetime.fromisoformat(asked_at)
    return round(max(waited.total_seconds(), 0.0), 3)


def _number(row: tuple[Any, ...] | None) -> int:
    return 0 if row is None else int(row[0])
