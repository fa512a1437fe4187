"""``noisypairs fit``: from a file of items and a file of answers to a model file and a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noisypairs.cli import app, options, progress, terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from noisypairs.app.fit.result import FitResult, ModelSummary


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
    images: options.Images = None,
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
        if images is not None and report is None:
            raise ValueError("--images are for the report: name it with --report")
        tables = dict(zip(_OPTIONS, (suspects, items_out, name_out), strict=True))
        writers = {what: _writer(what, path, raw) for what, path in tables.items() if path}
        outputs = {"the model": output, "the report": report, **tables}
        options.check_outputs(outputs, [only, pairs, labels], force)
        _require_writers(report is not None)
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app import model_file
        from noisypairs.app.files import atomic_write
        from noisypairs.app.fit.fitting import STEP_SHARES, fit_dataset
        from noisypairs.app.suspects import items_of

        dataset = reading.dataset(only, pairs, labels)
        pictures = None
        if report is not None:
            pictures = options.pictures(images, dataset, only or pairs)
        with progress.steps(STEP_SHARES, quiet) as step:
            fitted = fit_dataset(dataset, request, step)
        if fitted.model is not None:
            model_file.save(output, fitted.model, fitted.result.facts, force)
        frames = {
            "the suspects": fitted.suspects.frame,
            "the items": lambda: fitted.items,
            "the items to name": fitted.to_name,
        }
        for what, write in writers.items():
            atomic_write(tables[what] or Path(), write(frames[what]()), force)
        if report is not None:
            from noisypairs.app.report.pages import fit_report

            small = of_classes = None
            if pictures is not None:
                small = pictures.thumbnails(items_of(fitted.result.evidence.suspects))
                of_classes = pictures.thumbnails(fitted.result.model.class_items, "class")
            atomic_write(report, fit_report(fitted.result, small, of_classes), force)
    model = None if fitted.model is None else output
    outputs = {"model": model, "report": report, "suspects": suspects, "items": items_out}
    outputs["items to name"] = name_out
    written = {what: None if path is None else str(path) for what, path in outputs.items()}
    verdict = fitted.result.verdict
    doubted = () if verdict.measured is None else verdict.measured.contradicted
    items_of_verdict = {
        name: [str(dataset.ids[item]) for item in positions]
        for name, positions in (("items_to_name", verdict.to_name), ("doubtful_labels", doubted))
    }
    if as_json:
        app.print_json(fitted.result.to_dict() | {"written": written} | items_of_verdict)
    else:
        _print_result(fitted.result, written, [only, pairs], verbose)
        to_name, to_check = items_of_verdict.values()
        if to_name and name_out is None:
            terminal.say(
                f"Items to name, in a file for --labels (--name-out): {', '.join(to_name)}."
            )
        if to_check:
            terminal.say(f"Labels to look at again: {', '.join(to_check)}.")


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


#: Classes and notes that are printed, and letters of a verdict; --verbose prints all.
MOST_CLASSES, MOST_NOTES, MOST_LETTERS = 6, 3, 480


def _print_result(
    result: FitResult, written: Mapping[str, str | None], inputs: list[Path | None], verbose: bool
) -> None:
    """Print the answer first, then what it rests on: at most a screen, all of it if verbose."""
    from noisypairs.assess.words import exact_share, hard_ones, percent, shortened

    console = terminal.console_of(100)
    data, found, run = result.data, result.model, result.run
    if found.accuracy is None:
        first = f"No accuracy on new items: {found.accuracy_how}."
    else:
        how = "Measured" if result.verdict.is_measured else "Estimated"
        first = (
            f"{how} accuracy on new items: {exact_share(found.accuracy)}; always naming the "
            f"largest class would reach {percent(found.majority_share, 1)}."
        )
    console.print(first, style="bold")
    why = str(result.verdict)
    console.print(why if verbose else shortened(why, MOST_LETTERS), "", sep="\n")
    most = len(found.classes) if verbose else MOST_CLASSES
    rows = [
        (one.name, percent(one.share, 1), f"{one.n_items:,}", "; ".join(one.telling[:1]))
        for one in found.classes[:most]
    ]
    headings = ("class", "share", "items", "what tells it")
    shown = 4 if any(row[3] for row in rows) else 3
    console.print(app.table(console, headings[:shown], [row[:shown] for row in rows]))
    if len(found.classes) > most:
        console.print(f"… and {len(found.classes) - most} more classes (--verbose)")
    console.print(
        "",
        f"Same pairs called different: {exact_share(found.noise.similar_flip)}; different pairs "
        f"called same: {exact_share(found.noise.dissimilar_flip)}. "
        f"{result.evidence.n_suspects:,} of {data.n_pairs:,} answers are probably wrong. "
        f"{hard_ones(result.evidence.n_hard)}".strip(),
        sep="\n",
    )
    if verbose:
        _print_choice(console, result.model)
    notes = [terminal.one_line(text) for text in data.notes]
    for text in notes if verbose else notes[:MOST_NOTES]:
        console.print(f"* {text if verbose else shortened(text, 97)}")
    if len(notes) > MOST_NOTES and not verbose:
        console.print(f"* {len(notes) - MOST_NOTES} more notes: --verbose")
    files = ", ".join(f"{what} {path}" for what, path in written.items() if path)
    if written["model"] is None:
        files = files or "nothing (--report and --items-out write what was found)"
    console.print("", f"Written: {files} ({run.seconds:.0f} s, seed {run.seed}).", sep="\n")
    for line in _next(result, written, inputs):
        console.print(f"Next: {terminal.one_line(line)}", soft_wrap=True)


def _next(
    result: FitResult, written: Mapping[str, str | None], inputs: list[Path | None]
) -> Iterator[str]:
    """Yield commands to go on with, with the files as they were given."""
    model = written["model"]
    if model is None:
        return
    if not result.model.names_known:
        yield f"noisypairs name {model} NAMES.csv -o named.skops (columns group and class)"
    yield f"noisypairs predict {model} NEW_ITEMS.csv -o predicted.csv"
    items, pairs = inputs[:2]
    if written["suspects"] is None and result.evidence.n_suspects and items is not None:
        yield f"noisypairs suspects {model} {pairs} {items} -o suspects.csv"


def _print_choice(console: Any, found: ModelSummary) -> None:
    """Print how many classes were chosen, and how the accuracy was estimated."""
    if found.class_number is not None:
        console.print("", f"{found.class_number.text}.", sep="\n")
    console.print(f"How estimated: {found.accuracy_how}.", "", sep="\n")
