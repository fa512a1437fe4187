"""``noisypairs name``: kinds of a model become classes with names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noisypairs.cli import app, options, terminal


@app.command()
def name(
    model: options.Model,
    names: Annotated[Path, typer.Argument(help="Table with the columns kind and class.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Model file to write.")],
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no notes.")] = False,
) -> None:
    """Name the kinds of a model: it then predicts classes.

    Several kinds may have one name. The report of fit --kinds shows typical items of each kind.

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
        kinds = {str(one["number"]): one["name"] for one in facts["kinds"]}
        app.print_json({"classes": classes, "kinds": kinds, "notes": notes, "written": str(output)})
        return
    for note in notes if not quiet else []:
        terminal.say(f"Note: {terminal.one_line(note)}", err=True)
    said = f"{len(facts['kinds']):,} kinds are now {len(classes):,} classes: {', '.join(classes)}."
    options.say_written(terminal.one_line(said), output, quiet)
