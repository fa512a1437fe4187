"""The addresses of the server: joining, answering, undoing, pictures, and what is the owner's."""

from __future__ import annotations

import json
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import httpx
import pytest

from noisypairs.app.ask import server
from noisypairs.app.ask.fits import Estimate
from noisypairs.app.ask.questions import CHOSEN, Pick
from tests.app.ask.ask_problems import (
    HOSTILE,
    Client,
    open_site,
    running,
    write_items,
    write_pictures,
)


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
    from noisypairs.app.files.store import stored_answers

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
    assert client.post("/api/people", json={"name": "bob"}).status_code == 403
    assert "honest" not in client.get("/api/now").text
    client.get(f"/?token={site.people.owner_token}")
    page = client.get("/owner").text
    for shown in ("honest", "12%", site.people.named("ann").token, "97% (95 to 99%)", "Enough"):
        assert shown in page
    assert client.post("/api/people", json={"name": "bob"}).json() == {"name": "bob"}
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
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorname = "SQLITE_FULL"
        raise error

    monkeypatch.setattr(site.answers, "record", fail)
    told = client.post("/api/answer", json={"question": state["pair"]["question"], "said": "same"})
    assert told.status_code == 503
    assert told.json()["error"].startswith("answers.db cannot be used (database or disk is full)")


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
            "about 40 more than 0",
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


# ---------------------------------------------------------------- membership


@pytest.fixture
def hall(tmp_path):
    """A project over a network, somebody who has answered, and the owner."""
    site = open_site(tmp_path, loopback=False)
    ann, owner = Client(site), Client(site)
    ann.get(f"/?token={site.people.join_token}")
    owner.get(f"/?token={site.people.owner_token}")
    question = joined(ann)["pair"]["question"]
    assert ann.post("/api/answer", json={"question": question, "said": "same"}).status_code == 200
    return site, ann, owner


def test_whoever_is_blocked_is_told_so_and_answers_nothing(hall):
    site, ann, owner = hall
    question = ann.get("/api/now").json()["pair"]["question"]
    assert owner.post("/api/people", json={"person": 1, "do": "block"}).status_code == 200
    state = ann.get("/api/now").json()
    assert (state["join"], "takes no more answers" in state["closed"]) == (False, True)
    for path, body in (
        ("/api/answer", {"question": question, "said": "same"}),
        ("/api/undo", {"answer": 1}),
    ):
        told = ann.post(path, json=body)
        assert (told.status_code, "takes no more answers" in told.text) == (403, True)
    assert site.answers.count() == 1  # what was said stays
    assert "ann (blocked)" in owner.get("/owner").text
    owner.post("/api/people", json={"person": 1, "do": "unblock"})
    assert ann.get("/api/now").json()["pair"]["question"] == question


def test_a_blocked_name_is_no_way_in_on_this_machine(client, site):
    joined(client)
    site.people.change(1, "block")
    assert client.post("/api/join", json={"name": "Ann"}).status_code == 403


def test_a_replaced_link_opens_nothing_and_the_new_one_does(hall):
    site, ann, owner = hall
    old, join = site.people.named("ann").token, site.people.join_token
    assert owner.post("/api/people", json={"person": 1, "do": "renew"}).status_code == 200
    assert ann.get("/api/history").status_code == 401
    assert Client(site).get(f"/?token={old}").status_code == 403
    assert Client(site).get(f"/?token={site.people.named('ann').token}").status_code == 303
    assert owner.post("/api/link", json={"renew": True}).status_code == 200
    assert Client(site).get(f"/?token={join}").status_code == 403
    assert ann.get("/api/now").json()["join"] is False  # with the cookie of the old one


def test_answers_are_left_out_of_everything_and_restored(hall):
    from noisypairs.app.files.store import stored_answers

    site, _, owner = hall
    store = site.project.settings.store
    whole = stored_answers(store)
    assert owner.post("/api/people", json={"person": 1, "do": "leave out"}).status_code == 200
    assert (stored_answers(store), site.answers.telling(), site.answers.count()) == ([], [], 0)
    assert len(owner.get("/owner/answers.csv").text.splitlines()) == 1
    assert "ann (left out)" in owner.get("/owner").text
    assert owner.post("/api/people", json={"person": 1, "do": "restore"}).status_code == 200
    assert (stored_answers(store), site.answers.count()) == (whole, 1)


def test_so_many_join_by_a_link_as_the_owner_lets_in(hall):
    site, _, owner = hall
    assert owner.post("/api/link", json={"most": 3}).status_code == 200
    came = []
    for k in range(6):
        guest = Client(site)
        guest.get(f"/?token={site.people.join_token}")
        came.append(guest.post("/api/join", json={"name": f"guest {k}"}).status_code)
    assert came == [200, 200, 403, 403, 403, 403]  # ann was the first of three
    assert owner.post("/api/people", json={"name": "guest 5"}).status_code == 200


def test_only_the_owner_changes_who_may_do_what(hall):
    _, ann, owner = hall
    for path, body in (
        ("/api/people", {"person": 1, "do": "block"}),
        ("/api/people", {"name": "bob"}),
        ("/api/link", {"most": 9}),
    ):
        assert ann.post(path, json=body).status_code == 403
    assert owner.post("/api/people", json={"person": 1, "do": "erase"}).status_code == 400
    assert owner.post("/api/people", json={"person": 5, "do": "block"}).status_code == 404


def test_names_that_look_alike_are_noted_for_the_owner(hall):
    _, _, owner = hall
    assert owner.post("/api/people", json={"name": "аnn"}).status_code == 200  # Cyrillic а
    assert "looks like аnn" in owner.get("/owner").text


# ---------------------------------------------------------------- a store that somebody else holds


def test_while_another_program_holds_the_store_only_answers_wait(tmp_path, monkeypatch):
    """As a backup does, or somebody who looks at it by hand."""
    monkeypatch.setattr(server, "PATIENCE", 0.5)
    with running(open_site(tmp_path)) as served, httpx.Client(base_url=served.base) as browser:
        state = browser.post("/api/join", json={"name": "ann"}).json()
        said = {"question": state["pair"]["question"], "said": "same"}
        store = served.site.project.settings.store
        with closing(sqlite3.connect(store, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with ThreadPoolExecutor(8) as people:
                waiting = [
                    people.submit(httpx.post, f"{served.base}/api/answer", json=said)  # nobody
                    if k % 2
                    else people.submit(browser.post, "/api/answer", json=said)
                    for k in range(6)
                ]
                start = time.monotonic()
                for path in ("/", "/static/page.js", "/static/page.css"):
                    assert httpx.get(f"{served.base}{path}").status_code == 200
                assert time.monotonic() - start < 0.4
                told = [one.result() for one in waiting[::2]]
                assert time.monotonic() - start < 2.0  # not one after the other
            assert [one.status_code for one in told] == [503] * 3
            assert "answers.db is in use by another program" in told[0].json()["error"]
            other.execute("ROLLBACK")
        assert browser.post("/api/answer", json=said).json()["answered"] == 1


def test_an_unknown_field_of_another_version_is_passed_over(client, site):
    site.fits.add(3, Estimate(0.95, "reached", (0.97, 0.95, 0.99), 0.9, None, 2, 3), [], [])
    site.project.database.run(
        "UPDATE fits SET progress = json_set(progress, '$.mood', 'new', '$.n_answers', 4)"
    )
    assert joined(client)["progress"]["enough"] is True


@pytest.mark.parametrize("progress", ["{", "[1]", '{"mood": 1}'])
def test_a_store_with_an_unreadable_fit_is_named(client, site, progress):
    joined(client)
    site.fits.add(3, Estimate(0.95), [], [])
    site.project.database.run("UPDATE fits SET progress = ?", progress)
    told = client.get("/api/now")
    assert (told.status_code, "answers.db is a damaged store" in told.text) == (503, True)
