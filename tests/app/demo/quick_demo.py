"""The demo with a small crowd: all that words, page and command need, in a third of the time."""

from __future__ import annotations

from functools import cache

import pytest

from noisypairs.app import demo
from noisypairs.app.demo.learning import CROWD

SMALL = {"n_items": 100, "n_annotators": 10}


@cache
def quick_demo() -> demo.Demo:
    """Run it once per process."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SMALL.items():
            patch.setitem(CROWD, name, value)
        return demo.run(0)
