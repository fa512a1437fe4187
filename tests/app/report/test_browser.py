"""The reports in a real browser: they render, say nothing to the console and fetch nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from noisypairs.app.report.annotators import annotators_report
from noisypairs.app.report.model import fit_report
from noisypairs.app.report.plan import plan_report
from tests.app.report.report_problems import HOSTILE, crowd, fit_result, plan_result

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")

DARK = "--blink-settings=preferredColorScheme=0"
FLAGS = (
    "--headless=new",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--enable-logging=stderr",
    "--v=0",
    "--window-size=900,1400",
)


@dataclass(frozen=True)
class Visit:
    """What a visit to a page left behind: its picture, console lines and requests."""

    picture: np.ndarray
    console: list[str]
    requests: list[str]


def visit(html: str, folder: Path, *flags: str) -> Visit:
    page, picture, log = folder / "page.html", folder / "page.png", folder / "net.json"
    page.write_text(html, encoding="utf-8")
    sandbox = ["--no-sandbox"] * (os.geteuid() == 0)  # Chromium refuses it to root
    where = [f"--user-data-dir={folder / 'profile'}", f"--log-net-log={log}"]
    done = subprocess.run(
        [BROWSER, *FLAGS, *sandbox, *where, *flags, f"--screenshot={picture}", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    events = [one.get("params") or {} for one in json.loads(log.read_text())["events"]]
    requests = [
        one["url"]
        for one in events  # what the browser asks for by itself has no origin
        if "url" in one and one.get("initiator", "not an origin") != "not an origin"
    ]
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    return Visit(imread(picture)[..., :3], console, requests)


def test_the_visit_sees_errors_and_requests(tmp_path):
    """Else the tests below could not fail."""
    bad = '<img src="http://127.0.0.1:9/a.png"><script>console.error("oh no")</script>'
    seen = visit(f"<!DOCTYPE html><html><body>{bad}</body></html>", tmp_path)
    assert seen.requests == ["http://127.0.0.1:9/a.png"]
    assert len(seen.console) >= 1
    assert "oh no" in seen.console[0]


@pytest.mark.parametrize("word", ["item", HOSTILE], ids=["plain", "hostile"])
def test_a_report_renders_without_console_errors_and_requests(word, tmp_path):
    seen = visit(fit_report(fit_result(word)), tmp_path)
    assert (seen.console, seen.requests) == ([], [])
    assert seen.picture[:20, :20].min() > 0.98  # white paper
    ink = (seen.picture < 0.4).all(axis=2)
    assert 0.01 < ink.mean() < 0.3
    blue = (seen.picture[..., 2] - seen.picture[..., 0]) > 0.3
    assert blue.any()  # links, at least: the style was applied


@pytest.mark.parametrize("name", ["annotators", "plan"])
@pytest.mark.parametrize("flags", [(), (DARK,)], ids=["light", "dark"])
def test_the_other_pages_render_without_console_errors_and_requests(name, flags, tmp_path):
    found = plan_result()
    page = {
        "annotators": lambda: annotators_report(crowd()),
        "plan": lambda: plan_report(found, [HOSTILE] * 40, 0.04, found.next_pairs(5)),
    }[name]()
    seen = visit(page, tmp_path, *flags)
    assert (seen.console, seen.requests) == ([], [])
    corner = seen.picture[:20, :20]
    assert corner.max() < 0.2 if flags else corner.min() > 0.98
    ink = (seen.picture > 0.8 if flags else seen.picture < 0.4).all(axis=2)
    assert 0.005 < ink.mean() < 0.3


def test_a_report_is_dark_where_the_reader_wants_it_dark(tmp_path):
    seen = visit(fit_report(fit_result()), tmp_path, DARK)
    assert seen.console == []
    assert seen.picture[:20, :20].max() < 0.2
    assert 0.01 < (seen.picture > 0.8).all(axis=2).mean() < 0.3


def test_a_report_prints(tmp_path):
    target = tmp_path / "page.pdf"
    visit(fit_report(fit_result()), tmp_path)
    sandbox = ["--no-sandbox"] * (os.geteuid() == 0)
    where = [f"--user-data-dir={tmp_path / 'printing'}", f"--print-to-pdf={target}"]
    page = (tmp_path / "page.html").as_uri()
    subprocess.run(
        [BROWSER, *FLAGS, *sandbox, *where, page], capture_output=True, timeout=120, check=True
    )
    data = target.read_bytes()
    assert data.startswith(b"%PDF")
    assert 3 <= data.count(b"/Type /Page\n") <= 12
