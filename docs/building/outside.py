"""Links from a page to files outside ``docs/``, which GitHub follows and the site must, too.

The pages at the root of the repository have a page of the site each, and so have the examples; any
other file is a download.
"""

from __future__ import annotations

import re
from typing import Any

#: Pages at the root of the repository, by the page of the site that shows them.
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "CITATION.cff": "cite.md",
    "LICENSE": "licence.md",
}
_LINK = re.compile(r"\]\((?:\.\./)?(" + "|".join(map(re.escape, PAGES)) + r")(#[^)]*)?\)")
_INCLUDED = re.compile(r"\]\(docs/([\w./-]+)(#[^)]*)?\)")
_EXAMPLE = re.compile(r"\]\((?:\.\./)?examples(?:/(\w+)\.(?:py|rst))?\)")
_FILE = re.compile(r"\]\((?:\.\./)?((?:benchmarks|tests|src)/[\w./-]*\w)\)")


def inside(text: str) -> str:
    """Return the text of a page with its links to files outside ``docs/`` led to the site.

    >>> inside("[a](../README.md#data), [b](docs/joint.md), [c](benchmarks/people.py)")
    '[a](index.md#data), [b](joint.md), [c](../benchmarks/people.py)'
    """
    text = _LINK.sub(lambda link: f"]({PAGES[link[1]]}{link[2] or ''})", text)
    text = _INCLUDED.sub(lambda link: f"]({link[1]}{link[2] or ''})", text)
    text = _EXAMPLE.sub(lambda link: f"](gallery/{_example_page(link[1])}.rst)", text)
    return _FILE.sub(lambda link: f"](../{link[1]})", text)


def _example_page(name: str | None) -> str:
    """Return the page of the gallery that shows an example; its front page for the folder."""
    return name if name and name.startswith("plot_") else "index"


def process(_app: Any, _name: str, source: list[str]) -> None:
    """Change the text of a page as it is read, in place."""
    source[0] = inside(source[0])
