"""``noisypairs predict``: classes and probabilities of new items, from a model file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from noisypairs.cli import app, options, terminal


@app.command()
def predict(
    *,
    model: options.Model,
    items: Annotated[Path, typer.Argument(help="New items, with the columns of the old ones.")],
    output: options.Table,
    id: options.Id = None,
    images: options.Images = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Name the second of two classes from this probability on; else 0.5."),
    ] = None,
    where: options.Where,
    show: options.Writing,
) -> None:
    """Classify new items: classes with probabilities.

    ITEMS may be - for standard input, and so may the output be for standard output: then all that
    is said goes to standard error.

    Example: noisypairs predict model.skops new.csv -o classes.csv
    """
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app.files import table_writer
        from noisypairs.app.prediction import DECIMALS, predict_file

        if threshold is not None and not 0.0 < threshold < 1.0:
            raise ValueError(f"threshold {threshold:g}: expected a number between 0 and 1")
        where.check()
        if where.engine is not None and (output.suffix != ".parquet" or threshold or images):
            raise ValueError(
                f"-o {output}: --engine writes Parquet (name it .parquet), and takes neither "
                "--threshold nor --images"
            )
        content = table_writer(output, show.raw, DECIMALS)
        show.refuse_two_on_stdout(output)
        show.reserve({"the classes": output}, [items, model])
    with app.failing_with(app.BAD_DATA):
        if where.engine is not None:
            from noisypairs.app.engine import predict_tables

            n = predict_tables(model, items, id, output, where.open())
            if show.as_json:
                terminal.say_json({"n_items": n, "written": str(output)})
            else:
                show.say_written(f"{n:,} items classified.", output)
            return
        options.keep_features(items)
        table, notes, drift = predict_file(model, items, id, threshold, images)
        show.write(output, lambda: content(table))
    counts = {str(name): int(n) for name, n in table["class"].value_counts().items()}
    if show.as_json:
        found = {"n_items": len(table), "classes": counts, "notes": notes, "drift": asdict(drift)}
        terminal.say_json(found | {"written": str(output)})
        return
    show.say_notes(notes)
    named = ", ".join(f"{name}: {n:,}" for name, n in counts.items())
    show.say_written(f"{len(table):,} items classified ({named}).", output)
