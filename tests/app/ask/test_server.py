"""The addresses of the server: joining, answering, undoing, pictures, and what is the owner's."""

from __future__ import annotations

import json
import sqlite3

import pytest

from noisypairs.app.ask.fits import Estimate
from noisypairs.app.ask.questions import CHOSEN, Pick
from tests.app.ask.ask_problems import HOSTILE, Client, open_site, write_items, write_pictures


@pytest.fixture
def site(tmp_path):
    return open_site(tmp_path)


@pytest.fixture
def client(site):
    return Client(site)


def joined(client, name="ann"):
    told = client.post("/api/join", json={"name": name})
    assert told.status_code == 200, told.text
    return told.json()


def test_the_page_and_its_files_are_there_and_no_others(client):
    page = client.get("/")
    assert page.status_code == 200
    assert "<script src=" in page.text
    for name, kind in (("page.js", "text/javascript"), ("page.css", "text/css")):
        assert client.get(f"/static/{name}").headers["content-type"].startswith(kind)
    for name in ("page.html", "server.py", "..%2fserver.py", "%2e%2e/server.py", "..%5cserver.py"):
        assert client.get(f"/static/{name}").status_code == 404


def test_a_name_gives_a_pair_and_an_answer_the_next_one(client, site):
    assert client.get("/api/now").json() == {"join": True, "owner": False}
    first = joined(client)
    pair = first["pair"]
    assert [column["name"] for column in pair["columns"]] == ["size", "colour", "note"]
    said = {"question": pair["question"], "said": "same", "seconds": 1.5, "shown": False}
    told = client.post("/api/answer", json=said).json()
    assert told["answered"] == 1
    assert told["pair"]["question"] != pair["question"]
    assert told["progress"]["yours"] == told["progress"]["all"] == 1
    assert client.get("/api/now").json()["pair"] == told["pair"]  # as after a reload
    (listed,) = client.get("/api/history").json()["answers"]
    assert (listed["said"], listed["left"]) == ("same", pair["left"])
    undone = client.post("/api/undo", json={"answer": 1}).json()
    ends = {undone["pair"][end]["id"] for end in ("left", "right")}
    assert ends == {pair[end]["id"] for end in ("left", "right")}
    assert site.answers.count() == 0


def test_nobody_answers_without_a_name(client):
    for path, body in (
        ("/api/answer", {"question": 1, "said": "same"}),
        ("/api/undo", {"answer": 1}),
    ):
        told = client.post(path, json=body)
        assert (told.status_code, told.json()) == (401, {"error": "give a name first"})
    assert client.get("/api/history").status_code == 401
    client.cookies.set("noisypairs-none", "x")
    assert client.get("/api/history").status_code == 401


def test_an_answer_is_in_the_file_before_the_next_pair_is_told(client, site):
    from noisypairs.app.files.importers.ask import stored_answers

    state = joined(client)
    for count in range(1, 4):
        said = {"question": state["pair"]["question"], "said": "different", "seconds": 1}
        state = client.post("/api/answer", json=said).json()
        assert len(stored_answers(site.project.settings.store)) == count


def test_what_the_model_thinks_is_told_unless_the_owner_forbids_it(tmp_path):
    site = open_site(tmp_path)
    site.fits.add(0, Estimate(0.95), [], [Pick(1, 2, CHOSEN, 0.8)])
    client = Client(site)
    assert joined(client)["pair"]["chance"] == 0.8
    blind = Client(open_site(tmp_path, blind=True))
    told = joined(blind)
    assert (told["pair"]["chance"], told["blind"]) == (None, True)


def test_on_this_machine_a_name_goes_on_where_it_was(client, site):
    first = joined(client)
    other = Client(site)
    assert joined(other, "ANN")["pair"] == first["pair"]
    client.post("/api/leave", json={})
    assert client.get("/api/now").json()["join"] is True


# ---------------------------------------------------------------- tokens


def test_over_a_network_a_token_is_needed_for_everything_but_the_empty_page(tmp_path):
    site = open_site(tmp_path, loopback=False)
    client = Client(site)
    assert client.get("/api/now").json() == {"join": False, "owner": False}
    told = client.post("/api/join", json={"name": "eve"})
    assert (told.status_code, site.people.everybody()) == (403, [])
    assert client.get("/?token=guessed").status_code == 403
    assert client.get("/media/1").status_code == 401
    let_in = client.get(f"/?token={site.people.join_token}")
    assert (let_in.status_code, let_in.headers["location"]) == (303, "/")  # off the address
    assert "httponly" in let_in.headers["set-cookie"].lower()
    assert joined(client, "eve")["name"] == "eve"
    assert client.get("/owner").status_code == 403
    stranger = Client(site)
    stranger.get(f"/?token={site.people.join_token}")
    taken = stranger.post("/api/join", json={"name": "Eve"})
    assert (taken.status_code, "taken" in taken.json()["error"]) == (409, True)


def test_a_personal_link_needs_no_name(tmp_path):
    site = open_site(tmp_path, loopback=False)
    ann, client = site.people.add("ann"), Client(site)
    assert client.get(f"/?token={ann.token}").status_code == 303
    assert client.get("/api/now").json()["name"] == "ann"


def test_only_the_owner_sees_skill_links_and_all_answers(client, site):
    joined(client)
    people = [
        {"name": "ann", "accuracy": 0.9, "verdict": "honest"}
        | {
            f"{rate}{end}": 0.125
            for rate in ("similar_flip", "dissimilar_flip")
            for end in ("", "_low", "_high")
        }
    ]
    site.fits.add(30, Estimate(0.95, "reached", (0.97, 0.95, 0.99), 0.9, None, 2, 30), people, [])
    for path in ("/owner", "/owner/answers.csv"):
        assert client.get(path).status_code == 403
    assert client.post("/api/invite", json={"name": "bob"}).status_code == 403
    assert "honest" not in client.get("/api/now").text
    client.get(f"/?token={site.people.owner_token}")
    page = client.get("/owner").text
    for shown in ("honest", "12%", site.people.named("ann").token, "97% (95 to 99%)", "Enough"):
        assert shown in page
    assert client.post("/api/invite", json={"name": "bob"}).json() == {"name": "bob"}
    assert site.people.named("bob").token in client.get("/owner").text
    assert client.get("/owner/answers.csv").text.startswith("left,right,answer,annotator,")


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/owner", 403, "this page is the owner's"),
        ("/owner/answers.csv", 403, "this page is the owner's"),
        ("/none", 404, "there is no such page"),
    ],
)
def test_a_refusal_is_a_page_for_people_and_json_for_the_page(client, path, status, says):
    told = client.get(path, headers={"accept": "text/html,*/*"})
    assert told.status_code == status
    assert told.headers["content-type"].startswith("text/html")
    assert "Answer pairs" in told.text
    told = client.get(path)
    assert (told.status_code, told.json()["error"][: len(says)]) == (status, says)


def test_a_store_that_cannot_be_written_is_an_answer_for_later(client, site, monkeypatch):
    state = joined(client)

    def fail(*_):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(site.answers, "record", fail)
    told = client.post("/api/answer", json={"question": state["pair"]["question"], "said": "same"})
    assert told.status_code == 503
    assert told.json()["error"].endswith("(database or disk is full)")


def test_names_are_escaped_on_the_owners_page(client, site):
    site.people.add(HOSTILE[:60])
    client.get(f"/?token={site.people.owner_token}")
    page = client.get("/owner").text
    assert "<img" not in page
    assert "&lt;img" in page


def test_the_question_is_escaped_in_the_page(tmp_path):
    page = Client(open_site(tmp_path, question=HOSTILE)).get("/").text
    assert "<img" not in page
    assert page.count("<script") == 1


# ---------------------------------------------------------------- progress and media


@pytest.mark.parametrize(
    ("estimate", "accuracy", "left", "enough"),
    [
        (
            Estimate(0.95, "more", (0.9, 0.85, 0.94), 0.9, 40, 2, 0),
            "90% (85 to 94%)",
            "about 39",
            False,
        ),
        (
            Estimate(0.95, "more", (0.9, 0.85, 0.94), 0.9, 1, 2, 0),  # which one answer did not do
            "90% (85 to 94%)",
            "estimated again soon",
            False,
        ),
        (
            Estimate(0.95, "reached", (0.97, 0.95, 0.99), 0.9, None, 2, 0),
            "97% (95 to 99%)",
            "none",
            True,
        ),
        (
            Estimate(0.9, "reached", (0.97, 0.95, 0.99), 0.9, None, 2, 0),  # of another target
            "97% (95 to 99%)",
            "",
            False,
        ),
        (
            Estimate(0.95, "doubtful", (0.97, 0.95, 0.99), 0.9, None, 2, 0),
            "97% (95 to 99%)",
            "",
            False,
        ),
        (Estimate(0.95), "", "", False),
    ],
)
def test_progress_says_accuracy_answers_left_and_enough(
    client, site, estimate, accuracy, left, enough
):
    site.fits.add(0, estimate, [], [])
    state = joined(client)
    said = {"question": state["pair"]["question"], "said": "same", "seconds": 1}
    told = client.post("/api/answer", json=said).json()["progress"]
    assert (told["accuracy"], told["left"], told["enough"]) == (accuracy, left, enough)


@pytest.mark.parametrize(
    ("note", "says"),
    [
        ("", "The model has too few answers yet to say how good it is."),
        ("the last fit failed: KeyError: 3", "No accuracy can be said yet: the last fit failed."),
    ],
)
def test_why_there_is_no_accuracy_is_said(client, site, note, says):
    site.fits.add(1, Estimate(0.95, note=note), [], [])
    assert joined(client)["progress"]["note"] == says
    client.get(f"/?token={site.people.owner_token}")
    page = client.get("/owner").text
    assert "The model has seen 1 answer." in page
    assert not note or f"T{note[1:]}." in page  # a sentence, with its particulars


def test_pictures_are_served_by_number_to_people_of_the_project(tmp_path):
    write_items(tmp_path)
    write_pictures(tmp_path / "p", ["i00.png", "i01.png"])
    site = open_site(tmp_path, images=str(tmp_path / "p"))
    client = Client(site)
    assert client.get("/media/1").status_code == 401
    joined(client)
    told = client.get("/media/1")
    assert told.headers["content-type"] == "image/png"
    assert "sandbox" in told.headers["content-security-policy"]
    assert told.content == (tmp_path / "p" / "i00.png").read_bytes()
    far = "9" * 5000  # more digits than Python reads as a number
    for name in ("3", "99", "-1", "1/..", "..%2fitems.csv", "²", far):
        assert client.get(f"/media/{name}").status_code == 404
    (tmp_path / "p" / "i01.png").unlink()
    (tmp_path / "p" / "i01.png").symlink_to(tmp_path / "items.csv")
    assert client.get("/media/2").status_code == 404  # another file took its name meanwhile


def test_hostile_text_travels_as_json(tmp_path):
    write_items(tmp_path, 4, HOSTILE.replace('"', '""'))
    told = Client(open_site(tmp_path)).post("/api/join", json={"name": "ann"})
    assert told.headers["content-type"] == "application/json"
    assert HOSTILE in json.loads(told.text)["pair"]["columns"][2]["left"]
