"""``noisypairs name``: groups of a model become classes with names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noisypairs.cli import app, options, terminal


@app.command()
def name(
    *,
    model: options.Model,
    names: Annotated[Path, typer.Argument(help="Table with the columns group and class.")],
    output: options.ModelOut,
    show: options.Showing,
) -> None:
    """Name the groups of a model: it then predicts classes.

    Several groups may have one name. The report of fit shows typical items of each group.

    Example: noisypairs name model.skops names.csv -o named.skops
    """
    with app.failing_with(app.WRONG_USE):
        show.reserve({"the model": output}, [model, names])
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app import model_file
        from noisypairs.app.fit.naming import name_file

        pipeline, facts, notes = name_file(model, names)
        model_file.save(output, pipeline, facts, show.force)
    classes = [one["name"] for one in facts["classes"]]
    if show.as_json:
        written = str(output)
        groups = {str(k): one["name"] for k, one in enumerate(facts["groups"], 1)}
        terminal.say_json(
            {"classes": classes, "groups": groups, "notes": notes, "written": written}
        )
        return
    show.say_notes(notes)
    said = f"{len(facts['groups']):,} groups are now {len(classes):,} classes"
    show.say_written(f"{said}: {', '.join(classes)}.", output)
