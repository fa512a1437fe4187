"""Names and tokens: who is who, and what is refused."""

from __future__ import annotations

import pytest

from noisypairs.app.ask.database import Database
from noisypairs.app.ask.people import JOIN, OWNER, People, Refused, alike, checked_name


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
    assert people.join("ann", known_too=True) == ann
    assert people.everybody() == [ann]


@pytest.mark.parametrize(
    "name", ["", "   ", "x" * 61, "a\x00b", "a\u202eb", None, 7, "NaN", "null"]
)
def test_what_is_no_name_is_refused(name):
    with pytest.raises(Refused):
        checked_name(name)


def test_a_name_is_kept_in_one_form():
    assert checked_name("Zoe\u0308  Ü") == "Zoë Ü"


# ---------------------------------------------------------------- what the owner may change


@pytest.fixture
def people(tmp_path):
    return People(Database(tmp_path / "a.db"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Élise", "élise"),
        ("Ada", "Ａｄａ"),
        ("Straße", "STRASSE"),
        ("Zoe\u0308", "ZOË"),
        ("ﬁn", "FIN"),
    ],
)
def test_a_name_is_the_same_in_any_case_and_width(people, one, other):
    people.add(one)
    with pytest.raises(Refused, match="taken"):
        people.add(other)


def test_names_that_look_alike_are_found_and_not_refused(people):
    for name in ("Ada", "Аda", "Adа", "Bob", "Al1ce", "Alice", "AIice"):
        people.add(name)
    found = alike(one.name for one in people.everybody())
    assert found["Ada"] == ["Аda", "Adа"]  # with Cyrillic letters
    assert found["Аda"] == ["Ada", "Adа"]
    assert found["Bob"] == []
    assert "Al1ce" not in found["Alice"]


def test_a_link_lets_in_as_many_as_the_owner_says_and_a_new_one_as_many_again(people):
    people.change_link(most=2)
    first, old = people.join("a"), people.join_token
    people.join("b")
    people.add("by the owner")
    with pytest.raises(Refused, match="2 people have joined by this link") as refusal:
        people.join("c")
    assert refusal.value.status == 403
    assert people.named("c") is None
    assert people.join("A", known_too=True) == first  # who is there goes on
    people.change_link(renew=True)
    assert people.role(old) is None
    assert people.role(people.join_token) == JOIN
    people.join("c")
    again = People(people.database)
    assert (again.join_token, again.most_by_link) == (people.join_token, 2)
    for most in (-1, True, "2", 1.5, 10**9):
        with pytest.raises(Refused, match="whole number"):
            people.change_link(most=most)


def test_a_hundred_people_join_by_one_link_if_nobody_says_otherwise(people):
    for k in range(100):
        people.join(f"person {k}")
    with pytest.raises(Refused, match="100 people have joined"):
        people.join("one more")


def test_the_owner_replaces_links_blocks_and_leaves_out_and_takes_it_all_back(people):
    ann = people.add("ann")
    renewed = people.change(ann.number, "renew")
    assert people.by_token(ann.token) is None
    assert people.by_token(renewed.token) == renewed
    assert renewed.token != ann.token
    assert people.change(ann.number, "block").blocked
    assert people.by_token(renewed.token).blocked
    assert not people.change(ann.number, "unblock").blocked
    assert people.change(ann.number, "leave out").left_out
    assert people.change(ann.number, "restore") == renewed


@pytest.mark.parametrize(
    ("number", "what", "why"),
    [
        (9, "block", "nobody"),
        ("1", "block", "nobody"),
        (True, "block", "nobody"),
        (1, "shoot", "one of"),
    ],
)
def test_changes_of_nobody_and_unknown_ones_are_refused(people, number, what, why):
    people.add("ann")
    with pytest.raises(Refused, match=why):
        people.change(number, what)
