"""Formulas as MathML, which browsers draw themselves: no script and no network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def mathml(tex: str, display: str) -> str:
    """Return a formula as MathML, ``"inline"`` or as a ``"block"``.

    >>> mathml("a", "inline").partition("<mrow>")[2]
    '<mi>a</mi></mrow></math>'
    """
    return str(convert(tex.strip(), display=display))


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Offer it to Sphinx; ``html_math_renderer`` in the settings chooses it."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
