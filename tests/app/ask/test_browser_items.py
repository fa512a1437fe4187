"""What Chromium shows of items: text, columns, pictures and sounds, and items that come later."""

from __future__ import annotations

import re
import wave

import pytest

from noisypairs.app.ask import server
from tests.app.ask.ask_problems import (
    HOSTILE,
    Visit,
    open_site,
    running,
    until,
    write_items,
    write_pictures,
)

expect = pytest.importorskip("playwright.sync_api", reason="needs playwright").expect


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


def test_columns_behind_more_are_counted_and_those_that_differ(browser, tmp_path):
    names = [f"c{k}" for k in range(16)]
    rows = [["a"] + ["1"] * 16, ["b"] + ["1"] * 14 + ["2"] * 2, ["c"] + ["3"] * 14 + ["1", "2"]]
    text = "\n".join(",".join(row) for row in [["id", *names], *rows])
    (tmp_path / "items.csv").write_text(text)
    differing = {"ab": 2, "ac": 3, "bc": 3}
    with running(open_site(tmp_path)) as served:
        visit = Visit(browser, served.base).join("wide will")
        for _ in range(3):
            found = differing["".join(sorted(visit.pair))]
            told = visit.page.locator("#more-title").inner_text()
            assert told == f"4 more columns, {found} of them marked as different"
            visit.answer("s")
        expect(visit.page.locator("#nothing")).to_be_visible()
        visit.context.close()


def test_the_next_pair_begins_at_its_top(visit):
    una = visit("scrolling una", viewport={"width": 390, "height": 300})
    una.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert una.page.evaluate("scrollY") > 100
    una.press("s", "same")
    until(una.page, lambda: una.page.evaluate("scrollY") < 30)


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


@pytest.fixture
def sounds(browser, tmp_path):
    """A window on a project of which every item is a sound of half a second."""
    write_items(tmp_path)
    (tmp_path / "media").mkdir()
    for k in range(12):
        with wave.open(str(tmp_path / "media" / f"i{k:02d}.wav"), "wb") as sound:
            sound.setparams((1, 1, 8000, 0, "NONE", ""))
            sound.writeframes(b"\x80" * 4000)
    with running(open_site(tmp_path, images=str(tmp_path / "media"))) as served:
        visit = Visit(browser, served.base).join("listening lin")
        yield visit
        visit.context.close()


def playing(page):
    return page.evaluate("[...document.querySelectorAll('audio')].map(one => !one.paused)")


def test_sounds_are_played_by_keys_one_at_a_time(sounds):
    page = sounds.page
    assert [page.locator(f"#{end}-key").inner_text() for end in ("left", "right")] == ["1", "2"]
    page.keyboard.press("1")
    until(page, lambda: playing(page) == [True, False])
    page.keyboard.press("2")
    until(page, lambda: playing(page) == [False, True])
    page.keyboard.press("2")
    until(page, lambda: playing(page) == [False, False])
    assert sounds.complaints == []


def test_after_a_click_on_a_sound_the_keys_still_answer(sounds):
    page = sounds.page
    page.locator("audio").first.click(position={"x": 20, "y": 27})  # its button
    page.wait_for_timeout(100)
    sounds.press("s", "same")
    page.locator("audio").first.focus()
    sounds.press("d", "different")


def test_a_sound_that_is_none_is_said(browser, tmp_path):
    (tmp_path / "media").mkdir()
    for k in range(12):
        (tmp_path / "media" / f"i{k:02d}.wav").write_bytes(b"no sound")
    with running(open_site(tmp_path, images=str(tmp_path / "media"))) as served:
        visit = Visit(browser, served.base).join("deaf don")
        texts = visit.page.get_by_text("This sound cannot be played.")
        expect(texts).to_have_count(2)
        visit.context.close()


def test_own_answers_are_listed_by_twenty_with_their_pictures(browser, tmp_path):
    write_pictures(tmp_path / "media", [f"i{k:02d}.png" for k in range(12)])
    with running(open_site(tmp_path, images=str(tmp_path / "media"))) as served:
        meg = Visit(browser, served.base).join("many meg")
        for _ in range(22):
            meg.press("d", "different")
        lines = meg.page.locator("#history li")
        expect(lines).to_have_count(20)
        pictures = lines.first.locator("img")
        assert [one.get_attribute("src").partition("?")[0] for one in pictures.all()] == [
            f"/media/{int(id[1:]) + 1}"
            for id in re.findall(r"i\d\d", lines.first.locator("span").inner_text())
        ]
        meg.page.get_by_role("button", name="Show older ones").click()
        expect(lines).to_have_count(22)
        meg.page.reload()
        expect(lines).to_have_count(20)
        expect(lines.first.locator("img")).to_have_count(2)
        assert meg.complaints == []
        meg.context.close()


def test_whoever_has_answered_everything_is_asked_about_new_items(browser, tmp_path, monkeypatch):
    monkeypatch.setattr(server, "WATCH", 0.02)
    write_items(tmp_path, 3)
    with running(open_site(tmp_path)) as served:
        visit = Visit(browser, served.base)
        visit.page.clock.install()
        visit.join("ready rob")
        for _ in range(3):
            visit.answer("s")
        expect(visit.page.locator("#nothing")).to_be_visible()
        write_items(tmp_path, 4)
        until(visit.page, lambda: len(served.site.project.shown.ids) == 4)
        visit.page.clock.fast_forward(11_000)
        until(visit.page, lambda: "i03" in visit.pair)
        expect(visit.page.locator("#nothing")).to_be_hidden()
        expect(visit.page.locator("#status")).to_contain_text("i03")
        visit.context.close()
