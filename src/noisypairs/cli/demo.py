"""``noisypairs demo``: the main job on data that needs no download."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from noisypairs.cli.app import BAD_DATA, command, console_of, failing_with, progress, table

if TYPE_CHECKING:
    from noisypairs.demo import Story


@command()
def demo(
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Decides every draw.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Learn tumours and a simulated crowd from noisy pairs, without any download, in seconds."""
    with failing_with(BAD_DATA):
        from noisypairs import demo as work

        with progress(work.N_STEPS, quiet) as step:
            result = work.run(seed, step)
    if as_json:
        import json
        from dataclasses import asdict

        typer.echo(json.dumps(asdict(result), allow_nan=False, ensure_ascii=False))
    else:
        _tell(work.stories(result), f"{result.seconds:.0f} s in all, with seed {seed}.")


def _tell(stories: Sequence[Story], last: str) -> None:
    console = console_of(100)
    for story in stories:
        console.print(story.title, style="bold")
        console.print(story.before, "", table(console, story.headings, story.rows), "", sep="\n")
        for paragraph in ("\n".join(story.footnotes), story.after):
            console.print(paragraph, end="\n\n" if paragraph else "")
    console.print(last)
