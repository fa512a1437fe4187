"""What the site needs beyond Sphinx: pages made from the code, docstrings, links, formulas."""

from __future__ import annotations

from typing import Any


def setup(app: Any) -> dict[str, bool]:
    """Let Sphinx call the parts."""
    from building import docstrings, formulas, outside, reference

    app.connect("builder-inited", lambda app: reference.write_pages(app.srcdir))
    app.connect("autodoc-process-docstring", docstrings.process, priority=100)  # before numpydoc
    app.connect("autodoc-skip-member", docstrings.skip)
    app.connect("source-read", outside.process)
    app.connect("include-read", lambda app, _path, name, text: outside.process(app, name, text))
    formulas.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
