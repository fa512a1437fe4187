"""Who answers, and who may look: names, and the tokens by which a browser shows who it is.

A token is a secret of 128 bits. Everybody has one of their own; the owner has one that opens the
owner's page, and one that lets people join is in the link that the owner passes on.
"""

from __future__ import annotations

import hmac
import secrets
import unicodedata
from dataclasses import dataclass

from noisypairs.app.ask.database import Database, now
from noisypairs.app.files.cells import MISSING

LONGEST_NAME = 60
OWNER, JOIN = "owner", "join"


class Refused(ValueError):
    """What somebody sent cannot be accepted; ``status`` is that of the answer to it."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Person:
    """Somebody who answers."""

    number: int
    name: str
    token: str


class People:
    """The people of a project, in its store."""

    def __init__(self, database: Database) -> None:
        self.database = database
        with database.writing():
            for role in (OWNER, JOIN, "project"):
                if database.setting(f"{role} token") is None:
                    database.set_setting(f"{role} token", secrets.token_urlsafe(16))
        self.owner_token, self.join_token, self.project = (
            str(database.setting(f"{role} token")) for role in (OWNER, JOIN, "project")
        )

    def role(self, token: str) -> str | None:
        """Return what a token opens: `OWNER`, `JOIN`, or None where it is neither's."""
        for role, known in ((OWNER, self.owner_token), (JOIN, self.join_token)):
            if hmac.compare_digest(token.encode(), known.encode()):
                return role
        return None

    def by_token(self, token: str) -> Person | None:
        """Return whose token this is."""
        found = self.database.row("SELECT person, name, token FROM people WHERE token = ?", token)
        return None if found is None else Person(*found)

    def named(self, name: str) -> Person | None:
        """Return who has a name, whatever the case."""
        found = self.database.row("SELECT person, name, token FROM people WHERE name = ?", name)
        return None if found is None else Person(*found)

    def everybody(self) -> list[Person]:
        """Return all people in the order in which they came."""
        rows = self.database.rows("SELECT person, name, token FROM people ORDER BY person")
        return [Person(*row) for row in rows]

    def add(self, name: object, known_too: bool = False) -> Person:
        """Give somebody a place; a name that is taken is refused unless ``known_too``."""
        clean = checked_name(name)
        with self.database.writing():
            person = self.named(clean)
            if person is not None:
                if known_too:
                    return person
                raise Refused(
                    f"the name {clean!r} is taken: choose another, or ask the owner for your link",
                    409,
                )
            token = secrets.token_urlsafe(16)
            add = "INSERT INTO people (name, token, joined_at) VALUES (?, ?, ?)"
            return Person(self.database.run(add, clean, token, now()), clean, token)


def checked_name(name: object) -> str:
    """Return a name in its usual form, or say why it is none.

    >>> checked_name("  Ada   Lovelace ")
    'Ada Lovelace'
    >>> checked_name("nan")
    Traceback (most recent call last):
    noisypairs.app.ask.people.Refused: 'nan' means that nobody is named: write another name
    """
    if not isinstance(name, str):
        raise Refused("a name is text")
    clean = " ".join(unicodedata.normalize("NFC", name).split())
    if not 0 < len(clean) <= LONGEST_NAME:
        raise Refused(f"a name has 1 to {LONGEST_NAME} characters")
    if any(unicodedata.category(one).startswith("C") for one in clean):
        raise Refused("a name has no control characters")
    if clean.lower() in MISSING:
        raise Refused(f"{clean!r} means that nobody is named: write another name")
    return clean
