"""Links from a page to files outside ``docs/``, which GitHub follows and the site must, too.

The pages at the root of the repository have a page of the site each; any other file is shown as a
download.
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
_FILE = re.compile(r"\]\((?:\.\./)?((?:benchmarks|tests|examples|src)/[\w./-]*\w)\)")


def inside(text: str) -> str:
    """Return the text of a page with its links to files outside ``docs/`` led to the site.

    >>> inside("[a](../README.md#data), [b](docs/joint.md), [c](benchmarks/dogs.py)")
    '[a](index.md#data), [b](joint.md), [c](../benchmarks/dogs.py)'
    """
    text = _LINK.sub(lambda link: f"]({PAGES[link[1]]}{link[2] or ''})", text)
    text = _INCLUDED.sub(lambda link: f"]({link[1]}{link[2] or ''})", text)
    return _FILE.sub(lambda link: f"](../{link[1]})", text)


def process(_app: Any, _name: str, source: list[str]) -> None:
    """Change the text of a page as it is read, in place."""
    source[0] = inside(source[0])
