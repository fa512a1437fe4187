"""``noisypairs fit``: from a file of items and a file of answers to a model file and a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noisypairs.cli import app, options, progress, terminal

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


@app.command()
@options.with_reading
def fit(
    items: options.Items,
    pairs: options.PairsAfterItems = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="Model file to write.")] = Path(
        "model.skops"
    ),
    report: Annotated[Path | None, typer.Option(help="HTML report to write.")] = None,
    suspects: Annotated[
        Path | None, typer.Option(help="Table of all answers that are probably wrong, to write.")
    ] = None,
    items_out: Annotated[
        Path | None, typer.Option(help="Table of the items with their classes, to write.")
    ] = None,
    name_out: Annotated[
        Path | None,
        typer.Option(help="Table of 20 items to name, to write: a file for --labels."),
    ] = None,
    method: Annotated[str, typer.Option(help="auto, joint, weighted or correction.")] = "auto",
    estimator: Annotated[
        str, typer.Option(help="default, logistic, forest, boosting or mlp.")
    ] = "default",
    labels: options.Labels = None,
    classes: options.Classes = None,
    kinds: options.Kinds = None,
    annotators: Annotated[
        bool | None,
        typer.Option("--annotators/--no-annotators", help="Rates for everyone who answered."),
    ] = None,
    noise_model: Annotated[str, typer.Option(help="auto, pairing, labeling or free.")] = "auto",
    reading: options.Reading = options.GUESSED,
    engine: options.Engine = None,
    master: options.Master = None,
    tables_out: Annotated[
        Path | None,
        typer.Option(help="Folder of tables of all items, suspects and people, with --engine."),
    ] = None,
    sample: Annotated[
        int, typer.Option(min=1, help="Items on which the model is chosen, with --engine.")
    ] = 100_000,
    seed: options.Seed = 0,
    raw: options.Raw = False,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print all that was found.")] = False,
) -> None:
    """Learn a classifier from answers about pairs, and save it.

    The encoding of the columns is saved with it, so that new items need none. With a file of
    answers alone the classes of the items in it are found, and no model is written.

    Example: noisypairs fit items.csv pairs.csv -o model.skops --report report.html
    """
    only, pairs = (None, items) if pairs is None else (items, pairs)
    if kinds is not None:
        terminal.say(
            "Note: --kinds is called --classes now: name groups with noisypairs name", err=True
        )
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app.fit.request import Request, class_numbers

        request = Request(
            method=method,
            estimator=estimator,
            n_classes=class_numbers(classes if kinds is None else kinds),
            annotators=annotators,
            noise_model=noise_model,
            seed=seed,
        )
        reading.check()
        _check_engine(engine, master, tables_out, only, labels)
        tables = dict(zip(_OPTIONS, (suspects, items_out, name_out), strict=True))
        writers = {what: _writer(what, path, raw) for what, path in tables.items() if path}
        outputs = {"the model": output, "the report": report, **tables}
        options.check_outputs(outputs, [only, pairs, labels], force)
        _require_writers(report is not None)
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app import model_file
        from noisypairs.app.files import atomic_write
        from noisypairs.app.fit.fitting import STEP_SHARES, fit_dataset
        from noisypairs.app.sentences import blocks
        from noisypairs.app.suspects import items_of

        if engine is None or only is None or tables_out is None:
            dataset = reading.dataset(only, pairs, labels)
            with progress.steps(STEP_SHARES, quiet) as step:
                fitted = fit_dataset(dataset, request, step)
        else:
            from noisypairs.app.engine import fit_tables, open_engine, open_tables

            opened = open_tables(
                only, pairs, reading.columns(), sample, open_engine(engine, master)
            )
            dataset = opened.sample
            with progress.steps(STEP_SHARES, quiet) as step:
                fitted = fit_tables(opened, request, tables_out, step)
        if fitted.model is not None:
            model_file.save(output, fitted.model, fitted.result.facts, force)
        frames = {
            "the suspects": lambda: fitted.suspects.frame(),
            "the items": lambda: fitted.items,
            "the items to name": lambda: fitted.to_name(),
        }
        for what, write in writers.items():
            atomic_write(tables[what] or Path(), write(frames[what]()), force)
        outputs["the model"] = None if fitted.model is None else output
        written = {
            what.removeprefix("the "): None if path is None else str(path)
            for what, path in outputs.items()
        }
        facts = {"result": fitted.result, "written": written, "items": only, "pairs": pairs}
        commands = blocks("next.txt", **facts) if written["model"] else []
        if report is not None:
            from noisypairs.app.report.pages import fit_report
            from noisypairs.app.report.thumbnails import image_source

            small = of_classes = None
            pictures = image_source(dataset.features, dataset.ids)
            if pictures is not None:
                small = pictures.thumbnails(items_of(fitted.result.evidence.suspects))
                of_classes = pictures.thumbnails(fitted.result.model.class_items, "class")
            page = fit_report(fitted.result, small, of_classes, commands)
            atomic_write(report, page, force)
    verdict = fitted.result.verdict
    doubted = () if verdict.measured is None else verdict.measured.contradicted
    items_of_verdict = {
        name: [str(dataset.ids[item]) for item in positions]
        for name, positions in (("items_to_name", verdict.to_name), ("doubtful_labels", doubted))
    }
    if as_json:
        app.print_json(fitted.result.to_dict() | {"written": written} | items_of_verdict)
    else:
        doubtful = items_of_verdict["doubtful_labels"]
        to_name = [] if name_out is not None else items_of_verdict["items_to_name"]
        told = {"commands": commands, "to_name": to_name, "doubtful": doubtful, "verbose": verbose}
        terminal.show("fit.txt", 100, **facts, **told)


def _check_engine(
    engine: str | None, master: str | None, folder: Path | None, items: Path | None, labels: Any
) -> None:
    """Refuse options that make no sense without, or with, an engine."""
    if engine is None:
        if master is not None or folder is not None:
            raise ValueError("--master and --tables-out belong to --engine: give duckdb or spark")
        return
    from noisypairs.app.engine import check_engine

    check_engine(engine, master)
    if folder is None:
        raise ValueError("--engine writes tables: name a folder for them with --tables-out")
    if items is None or labels is not None:
        raise ValueError(
            "--engine takes a table of items and one of pairs, and no --labels: name the groups "
            "afterwards with noisypairs name"
        )


_OPTIONS = {
    "the suspects": "--suspects",
    "the items": "--items-out",
    "the items to name": "--name-out",
}


def _writer(what: str, path: Path, raw: bool) -> Callable[[Any], str | bytes]:
    from noisypairs.app.files import table_writer

    if str(path) == "-":
        option = _OPTIONS[what]
        raise ValueError(f"{option} - would mix the table with what is printed: name a file")
    return table_writer(path, raw)


def _require_writers(with_report: bool) -> None:
    """Say at once, not after minutes of work, that a package for writing is missing."""
    from noisypairs.app import model_file

    model_file.require_skops()
    if with_report:
        import noisypairs.app.report.pages  # noqa: F401
