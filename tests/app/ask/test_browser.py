"""The page in Chromium, as people use it: keys, touch, undo, names, reloads, kills and the dark."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import wave
from contextlib import closing

import pytest

from noisypairs.app.ask.fits import Estimate
from noisypairs.app.ask.questions import CHOSEN, Pick
from noisypairs.app.files.importers.ask import stored_answers
from tests.app.ask.ask_problems import HOSTILE, open_site, running, write_items, write_pictures

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as kit:
        flags = ["--no-sandbox"] * (os.geteuid() == 0)  # Chromium refuses it to root
        chromium = kit.chromium.launch(executable_path=BROWSER, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """One project of twelve items with hostile text, pictures and sounds."""
    folder = tmp_path_factory.mktemp("browser")
    write_items(folder, note=HOSTILE.replace('"', '""'))
    write_pictures(folder / "media", [f"i{k:02d}.png" for k in range(6)])
    for k in range(6, 12):
        with wave.open(str(folder / "media" / f"i{k:02d}.wav"), "wb") as sound:
            sound.setparams((1, 1, 8000, 0, "NONE", ""))
            sound.writeframes(b"\x80" * 800)
    with running(open_site(folder, images=str(folder / "media"))) as server:
        yield server


class Visit:
    """Somebody's window, with all that it asked for and complained about."""

    def __init__(self, browser, base, **settings):
        self.context = browser.new_context(**settings)
        self.page, self.base = self.context.new_page(), base
        self.requests, self.complaints = [], []
        self.page.on("request", lambda one: self.requests.append(one.url))
        self.page.on("pageerror", lambda one: self.complaints.append(str(one)))
        self.page.on("dialog", lambda one: self.complaints.append(one.message))
        self.page.on(
            "console", lambda one: self.complaints.append(one.text) if one.type == "error" else None
        )
        self.page.set_default_timeout(15_000)

    def join(self, name):
        self.page.goto(self.base)
        self.page.get_by_label("Your name").fill(name)
        self.page.keyboard.press("Enter")
        self.page.get_by_role("button", name=re.compile("^Same")).wait_for()
        return self

    def kept(self, said):
        self.page.get_by_text(f"Kept: {said}.").wait_for()

    @property
    def pair(self):
        return tuple(self.page.locator(f"#{end}-id").inner_text() for end in ("left", "right"))

    def press(self, key, said):
        before = self.pair
        self.page.keyboard.press(key)
        self.kept(said)
        until(self.page, lambda: self.pair != before)


def until(page, holds, seconds=15.0):
    """Wait until something holds; the page's policy forbids Playwright's own way, an eval."""
    for _ in range(int(seconds * 50)):
        if holds():
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"did not hold within {seconds} seconds")


@pytest.fixture
def visit(browser, served):
    """Return a window in which somebody new has joined; nothing may go wrong in any of them."""
    visits = []

    def begin(name, base=served.base, **settings):
        visits.append(Visit(browser, base, **settings))
        return visits[-1].join(name)

    yield begin
    for one in visits:
        one.context.close()
        assert one.complaints == []
        assert all(url.startswith(one.base) for url in one.requests), one.requests


def said_by(served, name):
    rows = stored_answers(served.site.project.settings.store)
    return [(row[0], row[1], row[2]) for row in rows if row[3] == name]


def test_keys_answer_and_the_store_has_it_before_the_next_pair(visit, served):
    ann = visit("key ann")
    given = []
    for key, said in (("s", "same"), ("d", "different"), ("u", "unsure"), ("k", "skip")):
        given.append((*ann.pair, said))
        ann.press(key, said)
        assert said_by(served, "key ann") == [one for one in given if one[2] != "skip"]
    assert len(set(given)) == 4


def test_any_answer_can_be_undone_and_is_asked_again(visit, served):
    bob = visit("undo bob")
    pairs = []
    for key, said in (("s", "same"), ("d", "different"), ("s", "same")):
        pairs.append(bob.pair)
        bob.press(key, said)
    bob.page.get_by_role("button", name=f"Undo same for {pairs[0][0]} and {pairs[0][1]}").click()
    bob.page.get_by_text("Undone.").wait_for()
    assert set(bob.pair) == set(pairs[0])
    assert len(said_by(served, "undo bob")) == 2
    bob.press("d", "different")
    bob.page.keyboard.press("z")  # the last one
    bob.page.get_by_text("Undone.").wait_for()
    assert set(bob.pair) == set(pairs[0])
    assert len(said_by(served, "undo bob")) == 2


def test_two_people_have_different_pairs_and_see_nothing_of_each_other(visit, served):
    one, two = visit("one of two"), visit("two of two")
    assert set(one.pair) != set(two.pair)
    one.press("s", "same")
    two.press("d", "different")
    assert "one of two" not in two.page.content()
    assert two.page.locator("#history li").count() == 1


def test_a_reload_shows_the_same_pair_and_the_own_answers(visit):
    eve = visit("reload eve")
    eve.press("s", "same")
    before = eve.pair
    eve.page.reload()
    eve.page.get_by_role("button", name=re.compile("^Same")).wait_for()
    assert eve.pair == before
    assert eve.page.locator("#history li").count() == 1


def test_on_a_phone_it_fits_and_is_answered_by_touch(visit, served):
    mia = visit("phone mia", **PHONE)
    wide = mia.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1] == 390
    before = mia.pair
    for name in ("Same", "Different", "Unsure", "Skip"):
        button = mia.page.get_by_role("button", name=re.compile(f"^{name}"))
        box = button.bounding_box()
        assert box["height"] >= 44
        assert 0 <= box["y"] <= 844 - box["height"]  # without scrolling
    mia.page.get_by_role("button", name=re.compile("^Different")).tap()
    mia.kept("different")
    assert said_by(served, "phone mia") == [(*before, "different")]


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_it_follows_the_readers_colours(visit, scheme, dark):
    page = visit(f"{scheme} leo", color_scheme=scheme).page
    style = "getComputedStyle(document.body)"
    paper, ink = (page.evaluate(f"{style}.{one}") for one in ("backgroundColor", "color"))
    paper, ink = (sum(map(int, re.findall(r"\d+", one)[:3])) for one in (paper, ink))
    assert (paper < 150 and ink > 600) if dark else (paper > 700 and ink < 150)


def test_hostile_text_is_shown_and_runs_nothing(visit):
    page = visit("hostile hal").page
    assert HOSTILE in page.locator("#rows").inner_text()
    assert page.locator("#rows img, #rows script").count() == 0
    assert page.title() == "Are these two the same?"


def test_columns_that_differ_are_marked_for_eyes_and_ears(visit):
    page = visit("marked max").page
    for row in page.locator("#rows tr").all():
        left, right = row.locator("td").all_inner_texts()
        marked = "differs" in (row.get_attribute("class") or "")
        assert marked == (left != right)
        assert ("differs:" in row.locator("th").text_content()) == marked


def test_pictures_and_sounds_are_there_with_their_labels(visit):
    zoe = visit("media zoe")
    seen = set()
    loaded = "() => [...document.images].every(one => one.complete)"
    for _ in range(20):
        until(zoe.page, lambda: zoe.page.evaluate(loaded))
        for one in zoe.page.locator(".media img").all():
            assert one.evaluate("one => one.naturalWidth") == 4
            assert re.match(r"Picture of the (first|second) item, i\d\d", one.get_attribute("alt"))
            seen.add("img")
        for one in zoe.page.locator(".media audio").all():
            one.evaluate(
                "one => one.readyState >= 1 || new Promise(done => one.onloadedmetadata = done)"
            )
            assert one.evaluate("one => one.duration") == pytest.approx(0.1)
            assert re.match(
                r"Sound of the (first|second) item, i\d\d", one.get_attribute("aria-label")
            )
            seen.add("audio")
        if seen == {"img", "audio"}:
            return
        zoe.press("k", "skip")
    raise AssertionError(seen)


def test_everything_is_done_by_keyboard_alone_and_keys_can_be_changed(browser, served):
    kim = Visit(browser, served.base)
    page = kim.page
    page.goto(served.base)
    page.get_by_label("Your name").wait_for()
    page.keyboard.type("keyboard kim")  # the field has the focus
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # on the button
    page.get_by_role("button", name=re.compile("^Same")).wait_for()
    until(page, lambda: page.evaluate("() => document.activeElement.dataset.said") == "same")
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            break
    page.keyboard.press("Enter")
    page.get_by_label("Same", exact=True).focus()
    page.keyboard.press("d")  # which is taken
    page.get_by_text("The key D is taken").wait_for()
    page.keyboard.press("j")
    page.get_by_text("Same: J.").wait_for()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("s")
    kim.press("j", "same")
    assert [one[2] for one in said_by(served, "keyboard kim")] == ["same"]
    page.reload()
    page.get_by_role("button", name="Same J").wait_for()  # remembered
    assert kim.complaints == []
    kim.context.close()


def test_every_control_has_a_name_and_news_are_announced(visit):
    page = visit("screen reader sam").page
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    for one in page.locator("button:visible, input:visible, audio:visible").all():
        name = one.evaluate("one => one.ariaLabel || one.innerText || one.labels?.[0]?.innerText")
        assert name, one.evaluate("one => one.outerHTML")
    assert page.locator("#status").get_attribute("role") == "status"
    assert page.locator("#trouble").get_attribute("role") == "alert"
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.get_by_role("group", name="Your answer").count() == 1


def test_without_a_connection_the_answer_waits_and_is_kept_once(browser, served):
    off = Visit(browser, served.base).join("offline olga")
    pair = off.pair
    off.context.set_offline(True)
    off.page.keyboard.press("s")
    off.page.get_by_text("Not kept yet").wait_for()
    assert off.pair == pair
    off.context.set_offline(False)
    off.kept("same")
    assert said_by(served, "offline olga") == [(*pair, "same")]
    assert off.page.locator("#trouble").is_hidden()
    off.context.close()


def test_the_model_is_hidden_until_asked_for_and_enough_is_said(visit, served):
    served.site.fits.add(
        9, Estimate(0.95), [], [Pick(low, 12, CHOSEN, 0.25) for low in range(1, 9)]
    )
    tom = visit("model tom")
    tom.page.keyboard.press("k")
    tom.page.wait_for_timeout(200)
    assert tom.page.locator("#chance").is_hidden()
    assert tom.page.locator("#enough").is_hidden()
    tom.page.get_by_text("Keys and settings").click()
    tom.page.get_by_label("Show what the model thinks").check()
    tom.page.get_by_text("same with a chance of 25 %").wait_for()
    tom.page.get_by_label("Show what the model thinks").blur()
    estimate = Estimate(0.95, "reached", (0.97, 0.95, 0.99), 0.9, None, 2, 9)
    served.site.fits.add(9, estimate, [], [])
    tom.page.keyboard.press("s")
    tom.page.get_by_text("Enough: the target of 95% is reached.").wait_for()
    assert tom.page.locator("#accuracy").inner_text() == "97% (95 to 99%)"
    rows = stored_answers(served.site.project.settings.store)
    assert [row[6:8] for row in rows if row[3] == "model tom"] == [(0.25, 1)]


def test_the_owner_makes_a_link_by_which_somebody_comes_without_a_name(browser, served):
    owner = Visit(browser, served.base)
    owner.page.goto(served.owner)
    owner.page.get_by_role("link", name="The owner's page").click()
    owner.page.wait_for_url("**/owner")
    owner.page.get_by_label("A new person").fill("linked lea")
    owner.page.keyboard.press("Enter")
    row = owner.page.locator("li", has_text="linked lea")
    link = row.locator("code").inner_text()
    lea = Visit(browser, served.base)
    lea.page.goto(link)
    lea.page.get_by_role("button", name=re.compile("^Same")).wait_for()
    assert lea.page.url == f"{served.base}/"  # no token is left in the address
    assert lea.page.get_by_role("link", name="The owner's page").count() == 0
    assert owner.complaints + lea.complaints == []
    owner.context.close()
    lea.context.close()


# ---------------------------------------------------------------- kill -9

SERVE = """
import sys
from pathlib import Path
from noisypairs.app.ask.project import Settings
from noisypairs.app.ask.serving import serve
items, port = Path(sys.argv[1]), int(sys.argv[2])
serve(Settings(items, items.with_name("a.db")), lambda where: None, port=port, learner=None)
"""


def start(items, port):
    process = subprocess.Popen([sys.executable, "-c", SERVE, str(items), str(port)])
    last = time.monotonic() + 60
    while time.monotonic() < last:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return process
        time.sleep(0.05)
    raise AssertionError("the server did not start")


def test_after_kill_9_nothing_is_lost_and_the_page_goes_on(browser, tmp_path):
    items = write_items(tmp_path)
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    process = start(items, port)
    try:
        ida = Visit(browser, f"http://127.0.0.1:{port}").join("ida")
        for _ in range(3):
            ida.press("s", "same")
        pair = ida.pair
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        assert len(stored_answers(tmp_path / "a.db")) == 3
        ida.page.keyboard.press("d")
        ida.page.get_by_text("Not kept yet").wait_for()
        process = start(items, port)
        ida.kept("different")
        rows = stored_answers(tmp_path / "a.db")
        assert [row[2] for row in rows] == ["same"] * 3 + ["different"]
        assert rows[-1][:2] == pair
        with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        ida.context.close()
    finally:
        process.kill()
        process.wait(10)
