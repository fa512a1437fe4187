"""What the commands say, in words: templates beside this file, one for each of them.

In a template a line end is a blank like any other, and blanks in a row are one. `tell` runs a
template whose blocks are given to functions such as ``line``; `said` returns what one of its macros
says. Numbers become words by the functions of `noisypairs.assess.words`, as filters.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from noisypairs.assess import words
from noisypairs.errors import MissingExtra
from noisypairs.estimation import Interval

try:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from jinja2.ext import Extension
except ImportError as error:
    raise MissingExtra("jinja2", "app", "What the commands say") from error

#: What a line end of a template is until all is said: names hold line ends of their own.
_BREAK = "\x1f"
_BREAKS = re.compile(f"{_BREAK}+")


class _OneLine(Extension):
    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        del name, filename
        return re.sub(r"\s*\n\s*", _BREAK, source)


def whole_sentences(text: str, most: int) -> str:
    """Return the first sentences of a text, as many as have this number of letters together.

    >>> whole_sentences("One. Two. Three.", 10)
    'One. Two.'
    """
    while len(text) > most and ". " in text:
        text = text.rpartition(". ")[0] + "."
    return text


FILTERS: dict[str, Callable[..., Any]] = {
    **{k: v for k, v in vars(words).items() if getattr(v, "__module__", "") == words.__name__},
    "asking_first": lambda notes: sorted(notes, key=lambda note: "--" not in note),
    "commas": "{:,}".format,
    "file_name": lambda path: Path(path).name,
    "interval": lambda ends: Interval(**ends),
    "quoted": repr,
    "whole_sentences": whole_sentences,
    "shell": lambda path: shlex.quote(str(path)),
}
"""What templates of sentences and of pages make words with."""


@cache
def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=False,  # what is said is text; pages escape it
        undefined=StrictUndefined,
        extensions=[_OneLine],
    )
    found.filters |= FILTERS
    return found


def flowing(text: str) -> str:
    """Return what a template gave, without the line ends that are the template's own."""
    return _BREAKS.sub(" ", text.lstrip(_BREAK).rstrip(f" {_BREAK}"))


def said(template: str, macro: str, *facts: Any, **more: Any) -> str:
    """Return what a macro of a template says.

    >>> said("demo.txt", "test_cell", 0.9651, ())
    '96.5%'
    """
    found = getattr(_environment().get_template(template).module, macro)
    return flowing(found(*facts, **more))


def tell(template: str, **facts: Any) -> None:
    """Run a template for what it gives to the functions among its facts."""
    _environment().get_template(template).render(facts)


def blocks(template: str, **facts: Any) -> list[str]:
    """Return the blocks of a template as Markdown: each ``line``, ``listing`` and ``table``."""
    found: list[str] = []

    def add(text: str) -> str:
        found.append(text)
        return ""

    def table(*headings: str, caller: Callable[[Any], str]) -> str:
        rows = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]

        def row(*cells: Any) -> str:
            rows.append("| " + " | ".join(map(str, cells)) + " |")
            return ""

        caller(row)
        return add("\n".join(rows))

    tell(
        template,
        line=lambda caller: add(flowing(caller())),
        listing=lambda entries: add("\n".join(f"* {entry}" for entry in entries)),
        table=table,
        **facts,
    )
    return found
