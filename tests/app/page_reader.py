"""Reads a page and asserts what holds for every page of ours."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

from noisypairs.app import report

#: The one script of every page.
SCRIPT = Path(report.__file__).with_name("page.js")
VOID = {"meta", "link", "br", "img", "hr", "input"}
FETCHING = {
    "img",
    "iframe",
    "object",
    "embed",
    "audio",
    "video",
    "source",
    "form",
    "base",
}


class Reader(HTMLParser):
    """Collects tags, texts and attributes, and notes what is closed in the wrong order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.script: list[str] = []
        self.mistakes: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.mistakes.append(tag)

    def handle_data(self, data):
        (self.script if self.open[-1:] == ["script"] else self.text).append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


def check_page(html: str) -> Reader:
    """Assert what holds for every page of ours, and return what is in it."""
    page = read(html)
    assert (page.open, page.mistakes) == ([], [])
    assert {tag for tag, _ in page.tags} & FETCHING == set()
    for tag, attributes in page.tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), f"{name} in <{tag}>"
            if name in ("src", "href", "xlink:href", "srcset", "action", "poster"):
                own = r"#|data:,$|data:image/(png|jpeg);base64,[\w+/=]+$"
                assert re.match(own, value or ""), f"<{tag} {name}={value!r}>"
    assert page.script == [SCRIPT.read_text(encoding="utf-8")]  # ours, and no other
    assert [a for tag, a in page.tags if tag == "script"] == [{}]
    assert re.search(r"@import|url\((?!#)", html) is None
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    referred = re.findall(r'(?:href="|url\()#([^")]+)', html)
    assert set(referred) <= set(ids)
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    return page


def words_of(html: str) -> str:
    """Return the words of a page that passes all checks, with single spaces."""
    return " ".join(" ".join(check_page(html).text).split())


def text_of(part: str) -> str:
    """Return the words of a part of a page, with single spaces."""
    return " ".join(" ".join(read(part).text).split())


def tables_of(html: str) -> list[list[list[str]]]:
    """Return every table as rows of cells, the headings first."""
    tables = re.findall(r"<table.*?</table>", html, re.DOTALL)
    return [
        [
            [
                unescape(cell).strip()
                for cell in re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row, re.S)
            ]
            for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL)
        ]
        for table in tables
    ]


def rows_of(html: str, *headings: str) -> list[list[str]]:
    """Return the rows of the one table whose headings begin so."""
    (found,) = (one for one in tables_of(html) if one[0][: len(headings)] == list(headings))
    return found[1:]


def section_of(html: str, heading: str) -> str:
    """Return the words of one section."""
    sections = re.findall(r"<section.*?</section>", html, re.DOTALL)
    (found,) = (one for one in sections if re.search(rf"<h2[^>]*>{re.escape(heading)}</h2>", one))
    return text_of(found)
