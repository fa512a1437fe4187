"""The page in Chromium, as people use it: keys, touch, undo, names, reloads and the dark."""

from __future__ import annotations

import itertools
import re

import pytest

from noisypairs.app.ask.fits import Estimate
from noisypairs.app.ask.questions import CHOSEN, Pick
from noisypairs.app.files.store import stored_answers
from tests.app.ask.ask_problems import PHONE, Visit, open_site, running, said_by, until

expect = pytest.importorskip("playwright.sync_api", reason="needs playwright").expect


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


def test_the_last_answer_is_undone_by_touch_and_nothing_where_there_is_none(visit, served):
    ben = visit("touch ben", **PHONE)
    undo = ben.page.get_by_role("button", name="Undo the last answer")
    assert undo.get_attribute("aria-disabled") == "true"
    undo.tap(force=True)
    before = ben.pair
    ben.page.get_by_role("button", name=re.compile("^Same")).tap()
    ben.kept("same")
    expect(undo).to_have_attribute("aria-disabled", "false")
    undo.tap()
    ben.page.get_by_text("Undone.").wait_for()
    assert set(ben.pair) == set(before)
    assert said_by(served, "touch ben") == []
    expect(ben.page.locator("#buttons [aria-disabled=true]")).to_have_count(
        1
    )  # the others can be used


def test_after_an_undo_in_the_list_the_keyboard_is_at_the_answers(visit):
    ron = visit("focus ron")
    ron.press("s", "same")
    ron.page.get_by_role("button", name=re.compile("^Undo same for")).focus()
    ron.page.keyboard.press("Enter")
    ron.page.get_by_text("Undone.").wait_for()
    expect(ron.page.locator("[data-said=same]")).to_be_focused()


def test_two_people_have_different_pairs_and_see_nothing_of_each_other(visit, served):
    one, two = visit("one of two"), visit("two of two")
    assert set(one.pair) != set(two.pair)
    one.press("s", "same")
    two.press("d", "different")
    assert "one of two" not in two.page.content()
    expect(two.page.locator("#history li")).to_have_count(1)


def test_a_reload_shows_the_same_pair_and_the_own_answers(visit):
    eve = visit("reload eve")
    eve.press("s", "same")
    before = eve.pair
    eve.page.reload()
    eve.page.get_by_role("button", name=re.compile("^Same")).wait_for()
    assert eve.pair == before
    expect(eve.page.locator("#history li")).to_have_count(1)


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


def test_the_model_is_hidden_until_asked_for_and_enough_is_said(visit, served):
    every = itertools.combinations(range(1, 13), 2)  # of which the others have answered some
    served.site.fits.add(9, Estimate(0.95), [], [Pick(*pair, CHOSEN, 0.25) for pair in every])
    tom = visit("model tom")
    tom.page.keyboard.press("k")
    tom.page.wait_for_timeout(200)
    expect(tom.page.locator("#chance")).to_be_hidden()
    expect(tom.page.locator("#enough")).to_be_hidden()
    tom.page.get_by_text("Keys and settings").click()
    tom.page.get_by_label("Show what the model thinks").check()
    tom.page.get_by_text("same with a chance of 25%").wait_for()
    estimate = Estimate(0.95, "reached", (0.97, 0.95, 0.99), 0.9, None, 2, 9)
    served.site.fits.add(9, estimate, [], [])
    tom.page.keyboard.press("s")
    tom.page.get_by_text("Enough: the target of 95% is reached.").wait_for()
    expect(tom.page.locator("#accuracy")).to_have_text("97% (95 to 99%)")
    rows = stored_answers(served.site.project.settings.store)
    assert [row[6:8] for row in rows if row[3] == "model tom"] == [(0.25, 1)]


def test_no_chance_is_said_to_be_certain(browser, tmp_path):
    picks = [Pick(1, 2, CHOSEN, 0.9996), Pick(1, 3, CHOSEN, 0.0004)]
    with running(open_site(tmp_path)) as project:
        project.site.fits.add(9, Estimate(0.95), [], picks)
        sue = Visit(browser, project.base).join("sure sue")
        sue.page.get_by_text("Keys and settings").click()
        sue.page.get_by_label("Show what the model thinks").check()
        sue.page.get_by_text("a chance of more than 99%.").wait_for()
        sue.press("s", "same")
        sue.page.get_by_text("a chance of less than 1%.").wait_for()
        sue.context.close()


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


def test_the_owners_page_follows_without_a_reload(browser, served):
    owner = Visit(browser, served.base, viewport={"width": 390, "height": 844})
    owner.page.clock.install()
    owner.page.goto(served.owner)
    owner.page.goto(f"{served.base}/owner")
    table = owner.page.get_by_role("region", name="People")
    lines = [row.bounding_box()["height"] for row in table.locator("tbody tr").all()]
    assert max(lines) < 100  # a row is a row, also on a phone
    table.focus()
    table.evaluate("one => { one.scrollLeft = 120; }")
    served.site.people.add("late lou")
    owner.page.clock.fast_forward(16_000)
    owner.page.get_by_role("rowheader", name="late lou").wait_for()
    assert table.evaluate("one => [document.activeElement === one, one.scrollLeft]") == [True, 120]
    expect(owner.page.locator("#links").get_by_text("late lou")).to_have_count(1)
    assert owner.complaints == []
    owner.context.set_offline(True)
    owner.page.clock.fast_forward(16_000)
    owner.page.get_by_text("The server does not answer: this is from before.").wait_for()
    owner.page.get_by_label("A new person").fill("lost lil")
    owner.page.keyboard.press("Enter")
    owner.page.get_by_text("Nothing was changed: the server does not answer.").wait_for()
    owner.context.set_offline(False)
    owner.page.clock.fast_forward(16_000)
    owner.page.locator("#trouble").wait_for(state="hidden")
    owner.context.close()


def test_who_is_not_the_owner_is_told_so_on_a_page(browser, served):
    page = Visit(browser, served.base).page
    page.goto(f"{served.base}/owner")
    page.get_by_text("This page is the owner's: come by the link that").wait_for()
    page.get_by_role("link", name="Answer pairs").click()
    page.get_by_label("Your name").wait_for()
    page.goto(f"{served.base}/none")
    page.get_by_text("There is no such page.").wait_for()
    page.context.close()


def test_a_scale_has_a_button_and_a_key_for_every_grade(browser, tmp_path):
    with running(open_site(tmp_path, scale="4")) as project:
        ann = Visit(browser, project.base)
        ann.page.goto(project.base)
        ann.page.get_by_label("Your name").fill("ann")
        ann.page.keyboard.press("Enter")
        buttons = ann.page.locator("#buttons [data-level]")
        expect(buttons).to_have_text(["1 different 1", "2 2", "3 3", "4 same 4"])
        buttons.first.wait_for()  # they are there before the pair is, but hidden
        until(ann.page, lambda: all(ann.pair))
        ann.press("4", "4")
        before = ann.pair
        buttons.nth(1).click()
        ann.kept("2")
        until(ann.page, lambda: ann.pair != before)
        ann.press("u", "unsure")
        assert [said for *_, said in said_by(project, "ann")] == ["4", "2", "unsure"]
        assert ann.complaints == []
        ann.context.close()
