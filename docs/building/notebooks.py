"""Run the notebooks of the gallery once, cell by cell: what a reader downloads must work.

``python -m building.notebooks FOLDER``, in docs/, stops at the first cell that fails. With
DOCS_QUICK=1 only the quick examples are run, as in CI.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt

from building import gallery


def run(path: Path) -> int:
    """Run the cells of a notebook in one namespace, and return how many there are."""
    names = {"__name__": "__main__"}
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    for number, code in enumerate(codes, 1):
        exec(compile(code, f"{path.name}, cell {number}", "exec"), names)
    return len(codes)


def main() -> None:
    """Run the notebooks in the folder that is named on the command line."""
    matplotlib.use("agg")
    chosen = gallery.QUICK if os.environ.get("DOCS_QUICK") else gallery.EXAMPLES
    for name in chosen:
        print(f"{name}: {run(Path(sys.argv[1]) / f'plot_{name}.ipynb')} cells run")
        plt.close("all")


if __name__ == "__main__":
    main()
