"""``noisypairs name``: groups of a model become classes with names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noisypairs.cli import app, options, terminal


@app.command()
def name(
    model: options.Model,
    names: Annotated[Path, typer.Argument(help="Table with the columns group and class.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Model file to write.")],
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no notes.")] = False,
) -> None:
    """Name the groups of a model: it then predicts classes.

    Several groups may have one name. The report of fit shows typical items of each group.

    Example: noisypairs name model.skops names.csv -o named.skops
    """
    with app.failing_with(app.WRONG_USE):
        options.check_outputs({"the model": output}, [model, names], force)
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app import model_file
        from noisypairs.app.fit.naming import name_file

        pipeline, facts, notes = name_file(model, names)
        model_file.save(output, pipeline, facts, force)
    classes = [one["name"] for one in facts["classes"]]
    if as_json:
        written = str(output)
        groups = {str(k): one["name"] for k, one in enumerate(facts["groups"], 1)}
        app.print_json({"classes": classes, "groups": groups, "notes": notes, "written": written})
        return
    for note in notes if not quiet else []:
        terminal.say(f"Note: {terminal.one_line(note)}", err=True)
    said = (
        f"{len(facts['groups']):,} groups are now {len(classes):,} classes: {', '.join(classes)}."
    )
    options.say_written(terminal.one_line(said), output, quiet)
