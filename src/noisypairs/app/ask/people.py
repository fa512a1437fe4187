"""Who answers, and who may look: names, tokens, and what the owner may change of both.

A token is a secret of 128 bits. Everybody has one of their own; the owner has one that opens the
owner's page, and one that lets people join is in the link that the owner passes on. The owner may
replace any token but the own one, block people, and leave out their answers: nothing is deleted.
"""

from __future__ import annotations

import hmac
import secrets
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from confusable_homoglyphs import confusables

from noisypairs.app.ask.database import Database, now
from noisypairs.app.files.cells import MISSING

LONGEST_NAME = 60
OWNER, JOIN = "owner", "join"

MOST_BY_LINK = 100
"""People who may give a name by one link, if the owner does not say how many."""

CHANGES = {
    "renew": "token = :token",
    "block": "blocked_at = coalesce(blocked_at, :now)",
    "unblock": "blocked_at = NULL",
    "leave out": "left_out_at = coalesce(left_out_at, :now)",
    "restore": "left_out_at = NULL",
}
"""What the owner may do about somebody."""

_COLUMNS = "person, name, token, blocked_at IS NOT NULL, left_out_at IS NOT NULL"


class Refused(ValueError):
    """What somebody sent cannot be accepted; ``status`` is that of the answer to it."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Person:
    """Somebody who answers, or did before the owner blocked or left out what they say."""

    number: int
    name: str
    token: str
    blocked: bool = False
    left_out: bool = False


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
        return _person(self.database.row(f"SELECT {_COLUMNS} FROM people WHERE token = ?", token))

    def named(self, name: str) -> Person | None:
        """Return who has a name, whatever its case and the width of its letters."""
        alike = (one for one in self.everybody() if compared(one.name) == compared(name))
        return next(alike, None)

    def everybody(self) -> list[Person]:
        """Return all people in the order in which they came."""
        rows = self.database.rows(f"SELECT {_COLUMNS} FROM people ORDER BY person")
        return [found for row in rows if (found := _person(row))]

    def add(self, name: object) -> Person:
        """Give somebody a place; a name that is taken is refused."""
        clean = checked_name(name)
        with self.database.writing():
            if self.named(clean) is not None:
                raise Refused(
                    f"the name {clean!r} is taken: choose another, or ask the owner for your link",
                    409,
                )
            token = secrets.token_urlsafe(16)
            add = "INSERT INTO people (name, token, joined_at) VALUES (?, ?, ?)"
            return Person(self.database.run(add, clean, token, now()), clean, token)

    def join(self, name: object, known_too: bool = False) -> Person:
        """Give a place to somebody who came by the link.

        With ``known_too`` a name that is taken is that of somebody who goes on.
        """
        clean = checked_name(name)
        with self.database.writing():
            person = self.named(clean) if known_too else None
            if person is not None:
                return person
            joined = "SELECT 1 FROM people WHERE joined_by = ?"
            if len(self.database.rows(joined, self.join_token)) >= self.most_by_link:
                raise Refused(
                    f"{self.most_by_link} people have joined by this link, which is all that it "
                    "lets in: ask the owner for a link of your own",
                    403,
                )
            person = self.add(clean)
            by = "UPDATE people SET joined_by = ? WHERE person = ?"
            self.database.run(by, self.join_token, person.number)
            return person

    def change(self, number: object, what: object) -> Person:
        """Do one of `CHANGES` about somebody; return them as they are then."""
        if not isinstance(what, str) or what not in CHANGES:
            raise Refused(f"what to do is one of {', '.join(CHANGES)}")
        with self.database.writing():
            known = {one.number for one in self.everybody()}
            if isinstance(number, bool) or not isinstance(number, int) or number not in known:
                raise Refused("there is nobody of this number", 404)
            values = {"token": secrets.token_urlsafe(16), "now": now(), "person": number}
            self.database.rows(
                f"UPDATE people SET {CHANGES[what]} WHERE person = :person", **values
            )
            return next(one for one in self.everybody() if one.number == number)

    def change_link(self, most: object = None, renew: object = False) -> None:
        """Limit how many people join by the link, or replace it: the old one then opens nothing."""
        if most is not None:
            if isinstance(most, bool) or not isinstance(most, int) or not 0 <= most < 1_000_000:
                raise Refused("how many may join by the link is a whole number, such as 100")
            self.database.set_setting("most by link", str(most))
        if renew is True:
            self.join_token = secrets.token_urlsafe(16)
            self.database.set_setting(f"{JOIN} token", self.join_token)

    @property
    def most_by_link(self) -> int:
        """How many may join by one link."""
        return int(self.database.setting("most by link") or MOST_BY_LINK)


def _person(row: tuple[Any, ...] | None) -> Person | None:
    return None if row is None else Person(*row[:3], *map(bool, row[3:]))


def compared(name: str) -> str:
    """Return a name as it is compared with others.

    >>> compared("\uff21\uff44\uff41") == compared("Ada")
    True
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def alike(names: Iterable[str]) -> dict[str, list[str]]:
    """Return for each name those of the others that look like it, such as one in other letters.

    >>> alike(["Ada", "\u0410da", "Bob"])["Ada"] == ["\u0410da"]
    True
    """
    looks = {name: "".join(map(_look, compared(name))) for name in names}
    groups: dict[str, list[str]] = {}
    for name, look in looks.items():
        groups.setdefault(look, []).append(name)
    return {name: [one for one in groups[look] if one != name] for name, look in looks.items()}


def _look(letter: str) -> str:
    """Return the first letter of those that look like one, or like one that does."""
    near = (one["c"] for one in confusables.confusables_data.get(letter, ()))
    first = min((one for one in near if len(one) == 1), default=letter)
    return letter if first >= letter else _look(first)


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
