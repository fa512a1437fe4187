"""Draw the pictures of docs/ask.md: ask.png, ask-columns.png and ask-owner.png.

    python docs/figures/ask.py

Needs Chromium and the extra dev. Three simulated people, one of them careless, answer the digits of
``noisypairs ask --demo`` until the page says that it is enough. The worker learns meanwhile, so
this takes a few minutes. The second picture is of items made up below.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from PIL import Image
from playwright.sync_api import Browser, sync_playwright
from sklearn.datasets import load_digits

from noisypairs.app.ask.database import Database
from noisypairs.app.ask.digits import write_digits
from noisypairs.app.ask.fits import Fits
from noisypairs.app.ask.project import Settings
from noisypairs.app.ask.serving import serve
from noisypairs.app.ask.worker import LEARNER

HERE = Path(__file__).parent
#: Who answers, and how often wrongly.
PEOPLE = {"Ada": 0.03, "Ben": 0.05, "Cleo": 0.3}
MOST_ANSWERS, PART, PATIENCE = 900, 90, 90.0
RECORDS = """id,name,street,city,seats,garden
c1,Café Central,Market Street 4,Leeds,40,yes
c2,Cafe Central,4 Market St.,Leeds,40,no
c3,Central Park Café,Park Row 12,York,40,yes
c4,Park Café,Park Row 12,York,85,no
"""


def _serve(settings: Settings, learner: str | None, sender: Any) -> None:
    serve(settings, lambda where: sender.send((where.people, where.owner)), learner=learner)


@contextlib.contextmanager
def served(settings: Settings, learner: str | None) -> Iterator[tuple[str, str]]:
    """Serve a project in a process of its own; give its addresses."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(False)
    process = context.Process(target=_serve, args=(settings, learner, sender))
    process.start()
    try:
        yield receiver.recv()
    finally:
        process.terminate()
        process.join()


def answer_until_enough(base: str, store: Path) -> None:
    """Let the people answer in turn, by what the digits are and with their errors.

    After every `PART` answers they wait for the model, as people do who need seconds for each.
    """
    fits = Fits(Database(store))
    truth, rng = load_digits().target, np.random.default_rng(0)
    windows = {name: httpx.Client(base_url=base, timeout=60.0) for name in PEOPLE}
    states = {n: one.post("/api/join", json={"name": n}).json() for n, one in windows.items()}
    for k in range(MOST_ANSWERS // len(PEOPLE)):
        for name, wrong in PEOPLE.items():
            pair = states[name]["pair"]
            same = len({truth[int(pair[end]["id"])] for end in ("left", "right")}) == 1
            said = "same" if same != (rng.random() < wrong) else "different"
            body = {"question": pair["question"], "said": said, "seconds": 2 + rng.random()}
            states[name] = windows[name].post("/api/answer", json=body).json()
        given = len(PEOPLE) * (k + 1)
        if given % PART == 0:
            last = time.monotonic() + PATIENCE
            while _judged(fits) < 0.8 * given and time.monotonic() < last:
                time.sleep(0.5)
        if states["Ada"]["progress"]["enough"]:
            break
    print(states["Ada"]["progress"])


def _judged(fits: Fits) -> int:
    fit = fits.latest()
    return 0 if fit is None else fit.estimate.n_answers


def look(
    browser: Browser, links: list[str], size: tuple[int, int], scheme: str, join: str
) -> Image.Image:
    """Return the last of some pages as it looks in a window of this size."""
    window = {"width": size[0], "height": size[1]}
    page = browser.new_context(viewport=window, color_scheme=scheme).new_page()
    for link in links:
        page.goto(link)
        page.wait_for_timeout(500)
        if join and page.locator("#join").is_visible():
            page.fill("#name", join)
            page.keyboard.press("Enter")
            page.wait_for_selector("#buttons:not([hidden])")
            page.wait_for_timeout(500)
    page.evaluate("document.activeElement.blur()")
    return Image.open(BytesIO(page.screenshot())).convert("RGB")


def save(name: str, *looks: Image.Image) -> None:
    """Write pictures side by side."""
    whole = Image.new("RGB", (sum(one.width for one in looks), max(one.height for one in looks)))
    at = 0
    for one in looks:
        whole.paste(one, (at, 0))
        at += one.width
    target = HERE / name
    whole.quantize(64).save(target, optimize=True)
    print(f"{name}: {target.stat().st_size / 1000:.0f} kB")


def main() -> None:
    """Run both projects and take the pictures."""
    flags = ["--no-sandbox"] * (os.geteuid() == 0)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as kit:
        folder = Path(name)
        browser = kit.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        digits = Settings(
            write_digits(folder),
            folder / "digits.db",
            images=str(folder),
            columns=(),
            question="Are these two the same digit?",
        )
        with served(digits, LEARNER) as (people, owner):
            answer_until_enough(people, digits.store)
            wide = look(browser, [people], (780, 844), "light", "Ada")
            phone = look(browser, [people], (390, 844), "dark", "Ben")
            save("ask.png", wide, phone)
            save(
                "ask-owner.png", look(browser, [owner, f"{people}owner"], (1000, 640), "light", "")
            )
        (folder / "cafes.csv").write_text(RECORDS, encoding="utf-8")
        cafes = Settings(
            folder / "cafes.csv", folder / "cafes.db", question="Is this the same café?"
        )
        with served(cafes, None) as (people, _):
            wide = look(browser, [people], (780, 560), "light", "Ada")
            save("ask-columns.png", wide)
        browser.close()


if __name__ == "__main__":
    main()
