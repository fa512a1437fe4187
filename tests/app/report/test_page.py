"""The page: well-formed, self-contained, escaped, readable in every colour scheme."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib import resources

import pytest
from jinja2 import UndefinedError

from noisypairs.app.report import charts
from noisypairs.app.report import page as room
from noisypairs.app.report.page import (
    Picture,
    Shown,
    clean,
    figure,
    is_generated,
    render,
    side_by_side,
)
from tests.app.page_reader import check_page, read
from tests.app.report.report_problems import HOSTILE

FULL = """
{% extends "page.html" %}
{% block opening %}
{% call callout("good") %}{{ word }}{% endcall %}
{% call(tile) numbers() %}{{ tile(word, word, word) }}{{ tile("2", "two") }}{% endcall %}
{% endblock %}
{% block sections %}
{% call section("0 " ~ word) %}<p>{{ word }}</p>{% endcall %}
{% call section("1 " ~ word) %}{{ bullets([word]) }}{% endcall %}
{% call section("2 " ~ word, folded=true) %}
{% call figure(drawing(svg)) %}{{ word }}{% endcall %}
{% endcall %}
{% call section("3 " ~ word) %}{% endcall %}
{% call section("Table") %}
{% call(row) table(word, "n", caption=word, last=true) %}
{{ row(word, 1) }}{{ row("b", none) }}
{% endcall %}
{% endcall %}
{% endblock %}
"""


def shown(source: str, **context: object) -> str:
    """Return the page of a template that extends the page of all, or of what its sections hold."""
    if "extends" not in source:
        source = f'{{% extends "page.html" %}}{{% block sections %}}{source}{{% endblock %}}'
    template = room.environment().from_string(source.strip())
    return render(template, "noisypairs", **{"title": "t", "lead": "", **context})


def full_page(word: str = "word") -> str:
    picture = charts.bars([word, "other"], [0.5, None])
    return shown(FULL, word=word, svg=picture, title=f"Title {word}", lead=f"Lead {word}")


def test_a_page_is_well_formed_and_fetches_nothing():
    page = check_page(full_page())
    kinds = {tag for tag, _ in page.tags}
    assert {"main", "header", "nav", "section", "figure", "figcaption", "table", "dl"} <= kinds
    assert ("html", {"lang": "en"}) in page.tags


def test_the_policy_of_the_page_forbids_everything_but_its_own_style_and_script():
    page = read(full_page())
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv"))
    digest = base64.b64encode(hashlib.sha256(page.script[0].encode()).digest()).decode()
    own = "style-src 'unsafe-inline'; img-src data:"
    assert policy == f"default-src 'none'; {own}; script-src 'sha256-{digest}'"


CARDS = """
{% call section("s") %}
{% call cards([{"name": "wrong", "numeric": true, "choose": false}], pictures) %}
{% for k in range(3) %}
{{ card("%s <b>" % k, ("p", "q"), [("size", "1", "2")], ["why"], [["90%", 0.9], ["x", none]],
        pictures) }}
{% endfor %}
{% endcall %}
{% endcall %}
"""


def test_a_card_holds_two_items_and_each_picture_is_embedded_once():
    picture = Picture("picture-0", 4, 3, "data:image/png;base64,AAAA")
    page = check_page(shown(CARDS, pictures={"p": picture}))
    assert sum(tag == "image" for tag, _ in page.tags) == 1
    assert sum(tag == "use" for tag, _ in page.tags) == 3
    keys = [a["data-keys"] for tag, a in page.tags if tag == "article"]
    assert json.loads(keys[0]) == [["90%", 0.9], ["x", None]]
    assert "0 <b>" in page.text


def test_a_cell_can_be_sorted_by_another_number_than_it_shows():
    rows = [[Shown("none", 0.0), Shown("over 99%", 0.999)], ["b", 1]]
    page = read(room.filled_table(["a", "b"], rows, numeric=[1]))
    assert [a.get("data-v") for tag, a in page.tags if tag == "td"] == ["0.999", None]


def test_hostile_words_are_shown_as_they_are_wherever_they_stand():
    page = check_page(full_page(HOSTILE))
    harmless = HOSTILE.replace("\x00", "\ufffd").replace("\x1b", "\ufffd")
    text = "".join(page.text)
    places = 2 * 1 + 1 + 1 + 3 + 4 + 4 + 1 + 1 + 1 + 3 + 1
    # title twice, lead, callout, numbers, contents, headings, paragraph, bullet, caption,
    # heading, cell and caption of the table, and under the pointer; the picture cuts long names.
    assert text.count(harmless) == places
    assert "49" not in text


def test_the_same_page_gives_the_same_text():
    assert full_page() == full_page()


def test_tables_name_rows_and_columns():
    page = read(room.filled_table(["a", "b"], [["x", 1], ["y", 2]]))
    scopes = [a["scope"] for tag, a in page.tags if tag == "th"]
    assert scopes == ["col", "col", "row", "row"]
    assert [a.get("class") for tag, a in page.tags if tag == "td"] == ["numeric", "numeric"]


def test_columns_of_numbers_are_found():
    rows = [["a", "1.5", "−3 ± 1", "12 %", "n/a", None], ["b", None, ".5", "5", "3", None]]

    def numeric(*given: object, **settings: object) -> list[str]:
        page = read(room.filled_table(*given, **settings))
        return [
            tag[1].get("class", "") for tag in page.tags if tag[0] == "th" and "class" in tag[1]
        ]

    assert len(numeric([*"uvwxyz"], rows)) == 3
    assert numeric(["a", "b"], [["x", "1"]], numeric=()) == []


def test_a_row_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="row 1 of the table has 1 cells under 2 headings"):
        room.filled_table(["a", "b"], [["x", "y"], ["z"]])


def test_only_pictures_pass_unescaped():
    with pytest.raises(ValueError, match=r"expected the text of an SVG from charts.svg, got '<img"):
        figure("<img src=x onerror=alert(1)>", "no")


@pytest.mark.parametrize("source", ['{% call callout("cuation") %}…{% endcall %}', "{{ wrod }}"])
def test_a_misspelt_name_in_a_template_is_an_error(source):
    with pytest.raises(UndefinedError, match=r"cuation|wrod"):
        shown(source)


def test_short_pages_have_no_contents():
    assert "<nav" not in shown("")


def test_pages_are_recognised_by_who_wrote_them():
    html = render("sections.html", "noisypairs demo", title="t", lead="", sections=[])
    assert is_generated(html, "noisypairs demo")
    assert not is_generated(html, "noisypairs fit")
    assert not is_generated(shown("", title='"noisypairs fit (version '), "noisypairs fit")


def test_lone_surrogates_do_not_reach_the_file():
    assert clean("a\udc80b") == "a\ufffdb"
    assert shown("", title="\udc80", lead="\ud800").encode()


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


def test_columns_beside_each_other_end_with_how_many_more_there_are():
    left, right = {"a": "1", "b": "2", "c": "3"}, {"b": "4", "d": "5"}
    rows = [("a", "1", "–"), ("b", "2", "4"), ("c", "3", "–")]
    assert side_by_side(left, right, 4) == [*rows, ("d", "–", "5")]
    assert side_by_side(left, right, 3) == [*rows, ("1 more column", "…", "…")]
    assert side_by_side(left, right, 3, leave_out="b")[1] == rows[2]
    assert side_by_side(left, right, 2) == [*rows[:2], ("2 more columns", "…", "…")]
