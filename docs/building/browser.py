"""Open every page of a built site in Chromium, as on a phone: nothing scrolls sideways or fails.

``python docs/building/browser.py FOLDER`` prints what is wrong and exits with 1 if anything is.
Without playwright or Chromium it says so and exits with 0.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

#: Width of a small phone, in CSS pixels.
WIDTH = 390
NAMES = ("chromium", "chromium-browser", "google-chrome")


def wrong(folder: Path, chromium: str) -> list[str]:
    """Return a line for every page that is wider than its window, and for every error on one."""
    from playwright.sync_api import sync_playwright

    found: list[str] = []
    flags = ["--no-sandbox"] * (os.geteuid() == 0)  # Chromium refuses it to root
    with sync_playwright() as kit:
        browser = kit.chromium.launch(executable_path=chromium, args=flags)
        window = browser.new_page(viewport={"width": WIDTH, "height": 800})
        window.on("pageerror", lambda error: found.append(f"{window.url}: {error}"))
        window.on("requestfailed", lambda one: found.append(f"{window.url}: no {one.url}"))
        for path in sorted(folder.rglob("*.html")):
            if "_static" in path.parts:
                continue
            window.goto(path.as_uri())
            width = window.evaluate("document.documentElement.scrollWidth")
            if width > WIDTH:
                found.append(f"{path.relative_to(folder)}: {width} pixels wide, expected {WIDTH}")
        browser.close()
    return found


def main() -> int:
    """Check the folder that is named on the command line."""
    chromium = next(filter(None, map(shutil.which, NAMES)), None)
    try:
        import playwright  # noqa: F401 -- an extra of its own
    except ImportError:
        chromium = None
    if chromium is None:
        print("Pages not opened in a browser: playwright or Chromium is not installed.")
        return 0
    lines = wrong(Path(sys.argv[1]).resolve(), chromium)
    print("\n".join(lines) or f"Every page fits {WIDTH} pixels in Chromium, without an error.")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
