"""``noisypairs demo``: the main job on data that needs no download."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from noisypairs.cli import app, options, progress, terminal


@app.command()
def demo(
    *,
    seed: options.Seed = 0,
    report: Annotated[
        Path, typer.Option(help="Where the page goes; the page of an earlier demo is replaced.")
    ] = Path("report.html"),
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no page.")] = False,
    show: options.Showing,
) -> None:
    """See it work on data that need no download, in seconds.

    Learns tumours and a simulated crowd from noisy pairs and writes a page with the same.

    Example: noisypairs demo --report demo.html
    """
    target = None if no_report else report
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app import demo as work

        if target is not None and _is_ours(target, work.GENERATOR):
            show = replace(show, force=True)
        show.reserve({"the page": target}, [])
    with app.failing_with(app.BAD_DATA), progress.steps([1.0] * work.N_STEPS, show.quiet) as step:
        result = work.run(seed, step)
    with app.failing_with(app.WRONG_USE):
        show.write(target, lambda: work.demo_report(result))
    if show.as_json:
        terminal.say_json(asdict(result) | {"report": None if target is None else str(target)})
    else:
        page = "" if target is None else f" The same with pictures: {target}"
        told = {"stories": work.stories(result), "result": result, "page": page}
        terminal.show("stories.txt", 100, **told)


def _is_ours(target: Path, generator: str) -> bool:
    """Whether there is the page of an earlier demo, which may be replaced unasked."""
    from noisypairs.app.report.page import is_generated

    if not (target.is_file() and os.access(target, os.R_OK)):
        return False
    with target.open(encoding="utf-8", errors="replace") as stream:
        return is_generated(stream.read(5000), generator)
