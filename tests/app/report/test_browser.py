"""The reports in a real browser: sorted, filtered, hovered, narrow, dark, printed; no network."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from noisypairs.app.check import check
from noisypairs.app.report.page import Picture
from noisypairs.app.report.pages import (
    annotators_report,
    check_report,
    fit_report,
    plan_report,
)
from noisypairs.app.report.thumbnails import Thumbnails
from tests.app.fit.fit_problems import write_files
from tests.app.report.report_problems import HOSTILE, crowd, fit_result, plan_result, with_fields

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
expect = sync_api.expect
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND"]
PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield found
        found.close()


def many_suspects() -> tuple:
    """Return forty suspects of four annotators, said to be less and less probably wrong."""
    (first,) = fit_result().evidence.suspects
    return tuple(
        replace(
            first,
            left=f"item {k}",
            right=f"other {k}",
            annotator=f"w{k % 4}",
            answer=("same", "different")[k % 2],
            probability=0.999 - k / 100,
            doubts=("others disagree", "features disagree")[: 1 + k % 2],
        )
        for k in range(40)
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    """Every page of the room, as a file."""
    folder = tmp_path_factory.mktemp("pages")
    result = with_fields(fit_result(), suspects=many_suspects(), n_suspects=40)
    seen = Thumbnails({"item 0": Picture("picture-0", 40, 30, PIXEL)}, ("1 item has no picture.",))
    plan, files = plan_result(), write_files(folder, 40, 200)
    html = {
        "fit": fit_report(result, seen),
        "hostile": fit_report(fit_result(HOSTILE)),
        "annotators": annotators_report(crowd()),
        "plan": plan_report(plan, [HOSTILE] * 40, 0.04, plan.next_pairs(5)),
        "check": check_report(check(files.read(), fit=False)),
    }
    for name, text in html.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in html}


@dataclass
class Visit:
    """A page in the browser, with what it said to the console and what it asked for."""

    page: object
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def visit(browser):
    """Return what opens a file, or a text as a page, in a window of its own."""
    contexts = []

    def open_(path: Path | str, width: int = 1280, unfold: bool = True, **settings) -> Visit:
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        contexts.append(context)
        seen = Visit(context.new_page())
        seen.page.on("console", lambda message: seen.said.append(message.text))
        seen.page.on("pageerror", lambda error: seen.said.append(str(error)))
        seen.page.on("request", lambda request: seen.asked.append(request.url))
        if isinstance(path, Path):
            seen.page.goto(path.as_uri())
        else:
            seen.page.set_content(path)
        if unfold:
            seen.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        seen.asked = [url for url in seen.asked if not url.startswith(("file:", "data:"))]
        return seen

    yield open_
    for context in contexts:
        context.close()


def column(page, name: str, heading: str) -> list[str]:
    """Return the visible cells of a column of the table that has this heading first."""
    table = page.locator(".scroll > table", has=page.locator(f"thead th >> text='{name}'")).first
    heads = [text.strip() for text in table.locator("thead th").all_inner_texts()]
    place = next(k for k, text in enumerate(heads) if text.rstrip(" ↑↓") == heading)
    rows = table.locator("tbody tr:visible")
    return [row.split("\t")[place].strip() for row in rows.all_inner_texts()]


def becomes(page, name: str, heading: str, cells: list[str]) -> None:
    """Wait until the visible cells of a column are these."""
    for _ in range(250):
        if column(page, name, heading) == cells:
            return
        page.wait_for_timeout(20)
    assert column(page, name, heading) == cells


def test_the_visit_sees_errors_and_requests(visit):
    """Else the tests below could not fail."""
    bad = '<img src="http://127.0.0.1:9/a.png"><script>console.error("oh no")</script>'
    seen = visit(f"<!DOCTYPE html><html><body>{bad}</body></html>")
    for _ in range(250):
        if seen.asked and seen.said:
            break
        seen.page.wait_for_timeout(20)
    assert seen.asked == ["http://127.0.0.1:9/a.png"]
    assert "oh no" in seen.said


@pytest.mark.parametrize("name", ["fit", "hostile", "annotators", "plan", "check"])
def test_every_page_fits_every_width_in_light_and_dark_and_asks_for_nothing(visit, pages, name):
    for width, scheme in ((1280, "light"), (390, "dark")):
        seen = visit(pages[name], width, color_scheme=scheme)
        assert (seen.said, seen.asked) == ([], [])
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        which = ".wide td, .wide th" if name == "hostile" else "td, th"  # long words scroll inside
        beyond = f"[...document.querySelectorAll('{which}')].filter(cell => cell.offsetParent && "
        beyond += "!cell.closest('thead') && cell.getBoundingClientRect().right > innerWidth)"
        assert seen.page.evaluate(f"{beyond}.map(cell => cell.textContent)") == []
        ground = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        light = np.mean([int(part) for part in ground[4:-1].split(",")])
        assert light > 250 if scheme == "light" else light < 40
        assert seen.page.evaluate("scripted = document.querySelectorAll('script').length") == 1


def test_the_rest_is_folded_until_a_link_leads_there_or_it_is_printed(visit, pages):
    page = visit(pages["fit"], 390, unfold=False).page
    assert page.evaluate("document.documentElement.scrollHeight") < 8000
    closed = page.locator("details:not([open])")
    n_closed = closed.count()
    assert n_closed > 5
    page.get_by_role("link", name="Who answered").click()
    expect(closed).to_have_count(n_closed - 1)  # the page hears of the new address later
    expect(page.locator("details[open] h2")).to_have_text("Who answered")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(closed).to_have_count(0)
    cut = "[...document.querySelectorAll('figure svg')].filter(s => s.clientWidth > innerWidth)"
    assert page.evaluate(f"{cut}.length") == 0


@pytest.mark.parametrize("width", [1280, 800, 390])
def test_the_verdict_on_an_annotator_never_falls_off_the_page(visit, pages, width):
    page = visit(pages["annotators"], width).page
    cells = page.locator("#s1 ~ .scroll td[data-label=verdict]:visible")
    expect(cells).to_have_count(20 + (width > 700))  # the empty one of the crowd is not stacked
    boxes = [cell.bounding_box() for cell in cells.all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)


def test_a_click_on_a_heading_sorts_by_numbers_and_the_crowd_stays_last(visit, pages):
    page = visit(pages["annotators"]).page
    heading = page.locator("#s1 ~ .scroll thead button", has_text="same called different").first
    for turn, order in ((-1, "descending"), (1, "ascending")):
        heading.click()
        expect(page.locator(f"#s1 ~ .scroll th[aria-sort={order}]").first).to_be_visible()
        cells = column(page, "annotator", "same called different")
        rates = [float(cell.split("%")[0].strip("<>")) for cell in cells]
        assert len(rates) == 20 + 1
        assert rates[:-1] == sorted(rates[:-1], key=lambda rate: turn * rate)
        assert column(page, "annotator", "annotator")[-1] == "all together"


def test_words_and_choices_filter_the_rows(visit, pages):
    page = visit(pages["annotators"]).page
    everybody = column(page, "annotator", "verdict")[:-1]
    page.get_by_label("verdict").first.select_option("honest")
    n_honest = everybody.count("honest")
    becomes(page, "annotator", "verdict", ["honest"] * n_honest + [""])
    expect(page.locator("output").first).to_have_text(re.compile(f"^{n_honest} of"))
    page.get_by_label("Filter the rows").first.fill("no such annotator")
    becomes(page, "annotator", "annotator", ["all together"])


def test_suspects_are_sorted_chosen_and_shown_in_full(visit, pages):
    page = visit(pages["fit"]).page
    shown = page.locator(".cards > article:visible")
    expect(shown).to_have_count(25)
    expect(page.locator("output").last).to_have_text("25 of 40 pairs")
    page.get_by_role("button", name="Show all 40 pairs").click()
    expect(shown).to_have_count(40)
    page.get_by_label("annotator", exact=True).select_option("w3")
    page.get_by_label("reason").select_option("features disagree")
    expect(shown).to_have_count(10)
    page.get_by_label("Sort by").last.select_option("Sort: probably wrong")
    expect(shown.first).to_contain_text("item 3")  # numbers fall first
    page.get_by_label("Turn the order round").last.click()
    expect(shown.first).to_contain_text("item 39")
    page.get_by_label("Filter the pairs").fill("other 7")
    expect(shown).to_have_count(1)


def test_a_thumbnail_is_drawn_where_the_item_has_one(visit, pages):
    page = visit(pages["fit"]).page
    first, second = page.locator(".cards > article").nth(0), page.locator(".cards > article").nth(1)
    box = first.locator("svg.thumbnail").bounding_box()
    assert (box["width"], box["height"]) == (40, 30)
    expect(second.locator("svg.thumbnail")).to_have_count(0)


def test_values_are_told_under_the_pointer(visit, pages):
    page = visit(pages["fit"]).page
    tip = page.locator(".tip")
    expect(tip).to_be_hidden()
    page.locator("section[aria-labelledby=s4] figure [data-tip]").first.hover()
    expect(tip).to_have_text("this model\n93.0% (90.0 to 96.0%)")
    page.locator("h1").hover()
    expect(tip).to_be_hidden()
    page = visit(pages["plan"]).page
    dot = page.locator("figure use[data-tip]").first
    dot.scroll_into_view_if_needed()
    mark = dot.bounding_box()
    page.mouse.move(mark["x"] + 12, mark["y"] - 8)  # near it is enough
    expect(page.locator(".tip")).to_have_text(re.compile(r"^100 answers in all\s+83\.0% \("))


def test_without_scripts_everything_is_there(visit, pages):
    page = visit(pages["fit"], java_script_enabled=False).page
    expect(page.locator(".cards > article:visible")).to_have_count(40)
    assert page.locator(".picture title").count() > 20  # which browsers show by themselves
    expect(page.locator(".tools")).to_have_count(0)


def test_a_report_prints_without_its_tools_on_white_paper(visit, pages):
    page = visit(pages["fit"], color_scheme="dark").page
    data = page.pdf(format="A4")
    assert data.startswith(b"%PDF")
    assert 4 <= data.count(b"/Type /Page\n") <= 30
    page.emulate_media(media="print")
    expect(page.locator(".tools:visible, nav:visible, button.more:visible")).to_have_count(0)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
