"""Names and tokens: who is who, and what is refused."""

from __future__ import annotations

import pytest

from noisypairs.app.ask.database import Database
from noisypairs.app.ask.people import JOIN, OWNER, People, Refused, checked_name


def test_tokens_open_what_they_are_for_and_survive_a_restart(tmp_path):
    people = People(Database(tmp_path / "a.db"))
    again = People(Database(tmp_path / "a.db"))
    assert again.role(people.owner_token) == OWNER
    assert again.role(people.join_token) == JOIN
    assert again.role("") is None
    assert again.role("é") is None
    assert len({people.owner_token, people.join_token, people.project}) == 3
    assert len(people.owner_token) >= 20


def test_a_name_is_taken_once_whatever_its_case(tmp_path):
    people = People(Database(tmp_path / "a.db"))
    ann = people.add(" Ann ")
    assert people.by_token(ann.token) == ann
    assert people.by_token(people.owner_token) is None
    with pytest.raises(Refused, match="taken") as refusal:
        people.add("ANN")
    assert refusal.value.status == 409
    assert people.add("ann", known_too=True) == ann
    assert people.everybody() == [ann]


@pytest.mark.parametrize(
    "name", ["", "   ", "x" * 61, "a\x00b", "a\u202eb", None, 7, "NaN", "null"]
)
def test_what_is_no_name_is_refused(name):
    with pytest.raises(Refused):
        checked_name(name)


def test_a_name_is_kept_in_one_form():
    assert checked_name("Zoe\u0308  Ü") == "Zoë Ü"
