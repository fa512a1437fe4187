"""``noisypairs sample``: a small invented data set to try every command on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noisypairs.cli import app, options, terminal


@app.command()
def sample(
    *,
    folder: Annotated[Path, typer.Argument(help="Folder to write to; made if it is not there.")],
    seed: options.Seed = 0,
    show: options.Showing,
) -> None:
    """Write sample files: a small shop, and answers of 20 people.

    The items are pieces of pottery with text, numbers, categories and pictures. The first fit in
    the documentation uses these files.

    Example: noisypairs sample pottery
    """
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app.files import atomic_write, check_folder
        from noisypairs.app.sample import FILES, PICTURES, sample_files

        check_folder(folder, show.force)
        files = sample_files(seed)
        (folder / PICTURES).mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            atomic_write(folder / name, content, show.force)
    n_pictures = sum(name.startswith(PICTURES) for name in files)
    if show.as_json:
        terminal.say_json({"folder": str(folder), "files": sorted(files), "seed": seed})
        return
    facts = {"files": FILES, "pictures": PICTURES, "n_pictures": n_pictures}
    terminal.show("sample.txt", 100, folder=terminal.one_line(str(folder)), **facts)
