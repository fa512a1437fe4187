"""Draw docs/figures/report.png: the top of the demo's page, for light and for dark readers.

    python docs/figures/report.py

Needs Chromium. The page is that of ``noisypairs demo`` with seed 0.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.image import imread
from PIL import Image

from noisypairs.app import demo

TARGET = Path(__file__).with_suffix(".png")
SCHEMES = ([], ["--blink-settings=preferredColorScheme=0"])
SIZE = "720,1130"


def screenshot(page: Path, target: Path, flags: list[str]) -> np.ndarray:
    """Return the top of a page as an array (height, width, 3)."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("install Chromium first: apt-get install chromium")
    flags = [*flags, *["--no-sandbox"] * (os.geteuid() == 0), "--disable-gpu", "--hide-scrollbars"]
    where = [f"--window-size={SIZE}", f"--screenshot={target}", page.as_uri()]
    subprocess.run([browser, "--headless=new", *flags, *where], check=True, capture_output=True)
    return imread(target)[..., :3]


def main() -> None:
    """Run the demo, look at its page twice, and put both looks side by side."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        page.write_text(demo.demo_report(demo.run(0)), encoding="utf-8")
        looks = [screenshot(page, Path(folder, "look.png"), flags) for flags in SCHEMES]
    both = (255 * np.concatenate(looks, axis=1)).round().astype(np.uint8)
    Image.fromarray(both).quantize(64).save(TARGET, optimize=True)
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
