"""Chromium, a project that is served, and windows on it."""

from __future__ import annotations

import os
import shutil
import wave

import pytest

from tests.app.ask.ask_problems import (
    HOSTILE,
    Visit,
    open_site,
    running,
    write_items,
    write_pictures,
)

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser():
    """Chromium, without which these tests cannot be."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as kit:
        flags = ["--no-sandbox"] * (os.geteuid() == 0)  # Chromium refuses it to root
        chromium = kit.chromium.launch(executable_path=found, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """One project of twelve items with hostile text, pictures and sounds."""
    folder = tmp_path_factory.mktemp("browser")
    write_items(folder, note=HOSTILE.replace('"', '""'))
    write_pictures(folder / "media", [f"i{k:02d}.png" for k in range(6)])
    for k in range(6, 12):
        with wave.open(str(folder / "media" / f"i{k:02d}.wav"), "wb") as sound:
            sound.setparams((1, 1, 8000, 0, "NONE", ""))
            sound.writeframes(b"\x80" * 800)
    with running(open_site(folder, images=str(folder / "media"))) as project:
        yield project


@pytest.fixture
def visit(browser, served):
    """Return a window in which somebody new has joined; nothing may go wrong in any of them."""
    visits = []

    def begin(name, base=served.base, **settings):
        visits.append(Visit(browser, base, **settings))
        return visits[-1].join(name)

    yield begin
    for one in visits:
        one.context.close()
        assert one.complaints == []
        assert all(url.startswith(one.base) for url in one.requests), one.requests
