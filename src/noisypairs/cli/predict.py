"""``noisypairs predict``: classes and probabilities of new items, from a model file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noisypairs.cli import app, options, terminal

if TYPE_CHECKING:
    from noisypairs.app.prediction import Prediction


@app.command()
def predict(
    model: options.Model,
    items: Annotated[Path, typer.Argument(help="New items, with the columns of the old ones.")],
    output: options.Table,
    id: options.Id = None,
    images: options.Images = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Name the second of two classes from this probability on; else 0.5."),
    ] = None,
    engine: options.Engine = None,
    master: options.Master = None,
    raw: options.Raw = False,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no notes.")] = False,
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
        if engine is not None:
            from noisypairs.app.engine import check_engine

            check_engine(engine, master)
            if output.suffix != ".parquet" or threshold is not None or images is not None:
                raise ValueError(
                    f"-o {output}: --engine writes Parquet (name it .parquet), and takes neither "
                    "--threshold nor --images"
                )
        content = table_writer(output, raw, DECIMALS)
        options.refuse_two_on_stdout(output, as_json)
        options.check_outputs({"the classes": output}, [items, model], force)
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app.files import atomic_write

        if engine is not None:
            from noisypairs.app.engine import open_engine, predict_tables

            n = predict_tables(model, items, id, output, open_engine(engine, master))
            if as_json:
                app.print_json({"n_items": n, "written": str(output)})
            else:
                options.say_written(f"{n:,} items classified.", output, quiet)
            return
        options.keep_features(items)
        found = predict_file(model, items, id, threshold, images)
        atomic_write(output, content(found.table), force)
    _print_result(found, output, as_json, quiet)


def _print_result(found: Prediction, output: Path, as_json: bool, quiet: bool) -> None:
    result, notes, drift = found
    counts = {str(name): int(n) for name, n in result["class"].value_counts().items()}
    if as_json:
        app.print_json(
            {
                "n_items": len(result),
                "classes": counts,
                "notes": notes,
                "drift": asdict(drift),
                "written": str(output),
            }
        )
        return
    for note in notes if not quiet else []:
        terminal.say(f"Note: {terminal.one_line(note)}", err=True)
    named = ", ".join(f"{terminal.one_line(name)}: {n:,}" for name, n in counts.items())
    said = f"{len(result):,} items classified ({named})."
    options.say_written(said, output, quiet)
