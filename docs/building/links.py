"""Check a built site: every internal link leads somewhere, and nothing is fetched from elsewhere.

``python docs/building/links.py FOLDER`` prints what is broken and exits with 1 if anything is.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes that make a browser fetch something by itself, by tag.
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
#: What is not a link to a page, although it looks like one.
OTHER = ("mailto:", "data:", "javascript:")


class Page(HTMLParser):
    """The links of one page, what it fetches, and the places that a link can lead to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.fetched: set[str] = set()
        self.places: set[str] = {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what one tag says."""
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        elif given.get(FETCHED.get(tag, "")) and given.get("rel") not in ("next", "prev"):
            self.fetched.add(given[FETCHED[tag]])


@cache
def read(path: Path) -> Page:
    """Return a page, read once."""
    return Page(path)


def broken(folder: Path) -> list[str]:
    """Return a line for every link that leads nowhere and for everything fetched from elsewhere."""
    found = []
    for path in sorted(folder.rglob("*.html")):
        if "_static" in path.parts:
            continue
        page, name = read(path), path.relative_to(folder)
        for link in sorted(page.links | page.fetched):
            parts = urlsplit(link)
            if link.startswith(OTHER) or (parts.netloc and link not in page.fetched):
                continue
            if parts.netloc:
                found.append(f"{name}: fetches {link}")
            elif not _leads_somewhere(path, unquote(parts.path), unquote(parts.fragment)):
                found.append(f"{name}: {link}")
    return found


def _leads_somewhere(page: Path, link: str, place: str) -> bool:
    target = (page.parent / link).resolve() if link else page
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return False
    return not place or target.suffix != ".html" or place in read(target.resolve()).places


if __name__ == "__main__":
    lines = broken(Path(sys.argv[1]).resolve())
    print("\n".join(lines) or "Every internal link leads somewhere; nothing is fetched.")
    sys.exit(bool(lines))
