"""``noisypairs fit``: from a file of items and a file of answers to a model file and a report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from noisypairs.cli import app, options, progress, terminal


@app.command()
def fit(
    *,
    files: options.Files,
    output: options.ModelOut = Path("model.skops"),
    report: options.Report = None,
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
    kinds: Annotated[
        str | None, typer.Option(help="The old name of --classes, for one version more.")
    ] = None,
    annotators: Annotated[
        bool | None,
        typer.Option("--annotators/--no-annotators", help="Rates for everyone who answered."),
    ] = None,
    noise_model: Annotated[str, typer.Option(help="auto, pairing, labeling or free.")] = "auto",
    where: options.Where,
    tables_out: Annotated[
        Path | None,
        typer.Option(help="With --engine: folder of tables of all items, suspects and people."),
    ] = None,
    sample: Annotated[
        int, typer.Option(min=1, help="With --engine: items on which the model is chosen.")
    ] = 100_000,
    show: options.Writing,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print all that was found.")] = False,
) -> None:
    """Learn a classifier from answers about pairs, and save it.

    The encoding of the columns is saved in the model: give new items as they are. With a file of
    answers alone, fit finds the classes of its items and writes no model.

    Example: noisypairs fit items.csv pairs.csv -o model.skops --report report.html
    """
    if kinds is not None:
        terminal.say(
            "Note: --kinds is called --classes now: name groups with noisypairs name", err=True
        )
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app import model_file
        from noisypairs.app.files import table_writer
        from noisypairs.app.fit.request import Request, class_numbers

        request = Request(
            method=method,
            estimator=estimator,
            n_classes=files.n_classes if kinds is None else class_numbers(kinds),
            annotators=annotators,
            noise_model=noise_model,
            seed=files.seed,
        )
        files.check()
        where.check()
        if (where.engine is None) is not (tables_out is None):
            raise ValueError("--engine writes its tables to the folder of --tables-out: give both")
        if where.engine is not None and files.labels is not None:
            raise ValueError(
                "--engine takes no --labels: name the groups afterwards with noisypairs name"
            )
        tables = {"the suspects": suspects, "the items": items_out, "the items to name": name_out}
        asked = ("--suspects", "--items-out", "--name-out")
        for option, path in zip(asked, tables.values(), strict=True):
            if str(path) == "-":
                raise ValueError(
                    f"{option} - would mix the table with what is printed: name a file"
                )
        writers = {what: table_writer(path, show.raw) for what, path in tables.items() if path}
        outputs = {"the model": output, "the report": report, **tables}
        show.reserve(outputs, files.inputs)
        model_file.require_skops()
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app.fit.fitting import STEP_SHARES, fit_dataset
        from noisypairs.app.sentences import blocks
        from noisypairs.app.suspects import items_of

        opened = None
        if tables_out is None:
            data = files.dataset()
        else:
            from noisypairs.app.engine import fit_tables, open_tables

            opened = open_tables(*files.named, files.reading.columns(), sample, where.open())
            data = opened.sample
        with progress.steps(STEP_SHARES, show.quiet) as step:
            if opened is None or tables_out is None:
                fitted = fit_dataset(data, request, step)
            else:
                fitted = fit_tables(opened, request, tables_out, step)
        result = fitted.result
        if fitted.model is not None:
            model_file.save(output, fitted.model, result.facts, show.force)
        for what, content in writers.items():
            show.write(tables[what], partial(content, fitted.table(what)))
        outputs["the model"] = None if fitted.model is None else output
        written = options.plain(outputs)
        items, pairs = files.named
        named = {"items": items, "pairs": pairs, "more": files.reading.given}
        facts = {"result": result, "written": written, **named}
        commands = blocks("next.txt", **facts) if written["model"] else []
        ids = items_of(result.evidence.suspects), result.model.class_items
        pages = options.pages
        show.write(
            report,
            lambda: pages().fit_report(result, *pages().pictures(data, *ids), commands=commands),
        )
    marked = fitted.marked
    if show.as_json:
        terminal.say_json(result.to_dict() | {"written": written} | marked)
    else:
        to_name = [] if name_out is not None else marked["items_to_name"]
        told = {"to_name": to_name, "doubtful": marked["doubtful_labels"], "verbose": verbose}
        terminal.show("fit.txt", 100, **facts, **told, commands=commands)
