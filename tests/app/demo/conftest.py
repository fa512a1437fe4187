"""One result, shown by many tests."""

from __future__ import annotations

import pytest

from noisypairs.app import demo

from .quick_demo import quick_demo


@pytest.fixture
def result() -> demo.Demo:
    return quick_demo()
