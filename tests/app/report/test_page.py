"""The page: well-formed, self-contained, escaped, readable in every colour scheme."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib import resources

import pytest

from noisypairs.app.report import charts
from noisypairs.app.report.page import (
    Key,
    Page,
    Picture,
    Shown,
    bullets,
    callout,
    card,
    cards,
    clean,
    figure,
    is_generated,
    numbers,
    paragraph,
    table,
)
from tests.app.page_reader import check_page, read
from tests.app.report.report_problems import HOSTILE


def full_page(word: str = "word") -> Page:
    picture = charts.bars([word, "other"], [0.5, None])
    page = Page(f"Title {word}", f"Lead {word}")
    page.open_with(callout(word, "good"), numbers([(word, word, word), ("2", "two")]))
    blocks = (paragraph(word), bullets([word]), figure(picture, word))
    for number in range(5):
        page.section(f"{number} {word}", *blocks[number : number + 1], note=word)
    return page.section("Table", table([word, "n"], [[word, 1], ["b", None]], word, bold=[1]))


def test_a_page_is_well_formed_and_fetches_nothing():
    page = check_page(full_page().html())
    kinds = {tag for tag, _ in page.tags}
    assert {"main", "header", "nav", "section", "figure", "figcaption", "table", "dl"} <= kinds
    assert ("html", {"lang": "en"}) in page.tags


def test_the_policy_of_the_page_forbids_everything_but_its_own_style_and_script():
    page = read(full_page().html())
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv"))
    digest = base64.b64encode(hashlib.sha256(page.script[0].encode()).digest()).decode()
    own = "style-src 'unsafe-inline'; img-src data:"
    assert policy == f"default-src 'none'; {own}; script-src 'sha256-{digest}'"


def test_a_card_holds_two_items_and_each_picture_is_embedded_once():
    shown = [
        card(f"{k} <b>", ("p", "q"), [("size", "1", "2")], ["why"], [Shown("90%", 0.9), "x"])
        for k in range(3)
    ]
    picture = Picture("picture-0", 4, 3, "data:image/png;base64,AAAA")
    block = cards(shown, [Key("wrong", numeric=True), Key("who", choose=True)], {"p": picture})
    page = check_page(Page("t").section("s", block).html())
    assert sum(tag == "image" for tag, _ in page.tags) == 1
    assert sum(tag == "use" for tag, _ in page.tags) == 3
    keys = [a["data-keys"] for tag, a in page.tags if tag == "article"]
    assert json.loads(keys[0]) == [["90%", 0.9], ["x", None]]
    assert "0 <b>" in page.text


def test_a_cell_can_be_sorted_by_another_number_than_it_shows():
    rows = [[Shown("none", 0.0), Shown("over 99%", 0.999)], ["b", 1]]
    page = read(Page("t").section("s", table(["a", "b"], rows, numeric=[1])).html())
    assert [a.get("data-v") for tag, a in page.tags if tag == "td"] == ["0.999", None]


def test_hostile_words_are_shown_as_they_are_wherever_they_stand():
    page = check_page(full_page(HOSTILE).html())
    harmless = HOSTILE.replace("\x00", "\ufffd").replace("\x1b", "\ufffd")
    text = "".join(page.text)
    places = 2 * 1 + 1 + 1 + 3 + 5 + 5 + 5 + 1 + 1 + 1 + 3 + 1
    # title twice, lead, callout, numbers, contents, headings, notes, paragraph, bullet, caption,
    # heading, cell and caption of the table, and under the pointer; the picture cuts long names.
    assert text.count(harmless) == places
    assert "49" not in text


def test_the_same_page_gives_the_same_text():
    assert full_page().html() == full_page().html()


def test_tables_name_rows_and_columns():
    page = read(Page("t").section("s", table(["a", "b"], [["x", 1], ["y", 2]])).html())
    scopes = [a["scope"] for tag, a in page.tags if tag == "th"]
    assert scopes == ["col", "col", "row", "row"]
    assert [a.get("class") for tag, a in page.tags if tag == "td"] == ["numeric", "numeric"]


def test_columns_of_numbers_are_found():
    rows = [["a", "1.5", "−3 ± 1", "12 %", "n/a", None], ["b", None, ".5", "5", "3", None]]
    assert table([*"uvwxyz"], rows).numeric == {1, 2, 3}
    assert table(["a", "b"], [["x", "1"]], numeric=()).numeric == frozenset()


def test_a_row_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="row 1 of the table has 1 cells under 2 headings"):
        table(["a", "b"], [["x", "y"], ["z"]])


def test_only_pictures_pass_unescaped():
    with pytest.raises(ValueError, match=r"expected the text of an SVG from charts.svg, got '<img"):
        figure("<img src=x onerror=alert(1)>", "no")


def test_a_misspelt_callout_gets_a_hint():
    with pytest.raises(ValueError, match="did you mean 'caution'"):
        callout("…", "cuation")  # type: ignore[arg-type]


def test_short_pages_have_no_contents():
    assert "<nav" not in Page("t").section("s").html()


def test_pages_are_recognised_by_who_wrote_them():
    html = Page("t", generator="noisypairs demo").html()
    assert is_generated(html, "noisypairs demo")
    assert not is_generated(html, "noisypairs fit")
    assert not is_generated(Page('"noisypairs fit (version ').html(), "noisypairs fit")


def test_lone_surrogates_do_not_reach_the_file():
    assert clean("a\udc80b") == "a\ufffdb"
    assert Page("\udc80", "\ud800").html().encode()


# ---------------------------------------------------------------- colours


def schemes() -> dict[str, dict[str, str]]:
    """Return the variables of the style sheet for light, dark and print."""
    css = resources.files("noisypairs.app.report").joinpath("page.css").read_text(encoding="utf-8")
    found = [dict(re.findall(r"--([\w-]+): (#\w{6})", part)) for part in css.split("@media")]
    filled = [part for part in found if part]
    assert len(filled) == 3
    return dict(zip(("light", "dark", "print"), filled, strict=True))


def contrast(first: str, second: str) -> float:
    """Return WCAG's contrast ratio of two colours."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_every_text_stands_out_from_its_ground(scheme):
    colours = schemes()[scheme]
    for text in ("ink", "soft", "link", "good", "caution", "bad", "note"):
        for ground in ("paper", "shade"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_every_series_of_a_picture_stands_out_from_the_paper(scheme):
    colours = schemes()[scheme]
    for number in range(1, 7):
        assert contrast(colours[f"series-{number}"], colours["paper"]) >= 3.0, number
