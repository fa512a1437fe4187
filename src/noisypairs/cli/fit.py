"""``noisypairs fit``: from a file of items and a file of answers to a model file and a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noisypairs.cli import app, options, progress, terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from noisypairs.app.fit.result import Candidate, FitResult


@app.command()
@options.with_reading
def fit(
    items: options.Items,
    pairs: options.Pairs,
    output: Annotated[Path, typer.Option("-o", "--output", help="Model file to write.")] = Path(
        "model.skops"
    ),
    report: Annotated[Path | None, typer.Option(help="HTML report to write.")] = None,
    suspects: Annotated[
        Path | None, typer.Option(help="Table of all answers that are probably wrong, to write.")
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
) -> None:
    """Learn a classifier from answers about pairs, and save it.

    The encoding of the columns is saved with it, so that new items need none.

    Example: noisypairs fit items.csv pairs.csv -o model.skops --report report.html
    """
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app.fit.request import Request, class_numbers, kind_numbers

        request = Request(
            method=method,
            estimator=estimator,
            n_classes=class_numbers(classes),
            n_kinds=kind_numbers(kinds),
            annotators=annotators,
            noise_model=noise_model,
            curve=report is not None,
            seed=seed,
        )
        reading.check()
        if images is not None and report is None:
            raise ValueError("--images are for the report: name it with --report")
        content = None if suspects is None else _table_of(suspects, raw)
        outputs = {"the model": output, "the report": report, "the suspects": suspects}
        options.check_outputs(outputs, [items, pairs, labels], force)
        _require_writers(report is not None)
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app import model_file
        from noisypairs.app.files import atomic_write
        from noisypairs.app.fit.fitting import fit_dataset, step_shares
        from noisypairs.app.fit.verdict import verdict
        from noisypairs.app.suspects import items_of

        dataset = reading.dataset(items, pairs, labels)
        pictures = None if images is None else options.pictures(images, dataset, items)
        with progress.steps(step_shares(request), quiet) as step:
            fitted = fit_dataset(dataset, request, step)
        model_file.save(output, fitted.model, fitted.result.facts, force)
        if suspects is not None and content is not None:
            atomic_write(suspects, content(fitted.suspects.frame()), force)
        if report is not None:
            from noisypairs.app.report.model import fit_report

            small = of_kinds = None
            if pictures is not None:
                small = pictures.thumbnails(items_of(fitted.result.evidence.suspects))
                of_kinds = pictures.thumbnails(fitted.result.model.kind_items, "kind")
            atomic_write(report, fit_report(fitted.result, small, of_kinds), force)
    outputs = {"model": output, "report": report, "suspects": suspects}
    written = {what: None if path is None else str(path) for what, path in outputs.items()}
    if as_json:
        kind, reason = verdict(fitted.result)
        said = {"verdict": {"kind": kind, "reason": reason}, "written": written}
        app.print_json(fitted.result.to_dict() | said)
    else:
        _print_result(fitted.result, written)


def _table_of(suspects: Path, raw: bool) -> Callable[[Any], str | bytes]:
    from noisypairs.app.files import table_writer

    if str(suspects) == "-":
        raise ValueError("--suspects - would mix the table with what is printed: name a file")
    return table_writer(suspects, raw)


def _require_writers(with_report: bool) -> None:
    """Say at once, not after minutes of work, that a package for writing is missing."""
    from noisypairs.app import model_file

    model_file.require_skops()
    if with_report:
        import noisypairs.app.report.model  # noqa: F401


def _print_result(result: FitResult, written: Mapping[str, str | None]) -> None:
    """Print the answer first, then what it rests on."""
    from noisypairs.app.fit.verdict import TITLES, verdict
    from noisypairs.app.words import exact_share, hard_ones, percent

    console = terminal.console_of(100)
    data, choice, found, run = result.data, result.choice, result.model, result.run
    accuracy = "not estimated" if found.accuracy is None else exact_share(found.accuracy)
    console.print(
        f"Estimated accuracy on new items: {accuracy}; always naming the largest class would reach "
        f"{percent(found.majority_share, 1)}.",
        style="bold",
    )
    console.print(f"How estimated: {found.accuracy_how}.", "", sep="\n")
    kind, reason = verdict(result)
    console.print(f"{TITLES[kind]}. {reason}", "", sep="\n")
    rows = [(one.name, percent(one.share, 1), f"{one.n_items:,}") for one in found.classes]
    unnamed = found.kinds and found.n_unnamed == len(found.kinds)
    headings = ("kind" if unnamed else "class", "share", "items predicted")
    console.print(app.table(console, headings, rows))
    if choice.class_number is not None:
        console.print(f"{choice.class_number.text}.", "", sep="\n")
    if found.n_unnamed:
        console.print(
            f"{found.n_unnamed} of {len(found.kinds)} kinds have no name yet: look at their "
            "typical items in the report, then run noisypairs name.",
        )
    elif not found.names_known:
        console.print("Pairs cannot name classes; these are numbered by size. --labels names them.")
    console.print(
        "",
        f"Same pairs called different: {exact_share(found.noise.similar_flip)}; different pairs "
        f"called same: {exact_share(found.noise.dissimilar_flip)}. "
        f"{result.evidence.n_suspects:,} of {data.n_pairs:,} answers are probably wrong. "
        f"{hard_ones(result.evidence.n_hard)}".strip(),
        "",
        choice.why,
        "",
        sep="\n",
    )
    headings = ("method", "log-likelihood of a held-out answer", "behind")
    console.print(
        app.table(console, headings, [_row(one) for one in choice.candidates]), "", sep="\n"
    )
    refusals: dict[str, list[str]] = {}
    for one in choice.candidates:
        if one.refusal:
            refusals.setdefault(one.refusal, []).append(one.title)
    for why, titles in refusals.items():
        console.print(f"{' and '.join(titles)}: {why}.", "", sep="\n")
    for text in data.notes:
        console.print(f"* {terminal.one_line(text)}")
    files = ", ".join(f"{what} {path}" for what, path in written.items() if path)
    console.print("", f"Written: {files} ({run.seconds:.0f} s, seed {run.seed}).", sep="\n")


def _row(one: Candidate) -> tuple[str, str, str]:
    if one.log_likelihood is None:
        return one.title, "refuses", ""
    gap = "" if one.behind is None else f"{one.behind:.3f} ± {one.behind_error:.3f}"
    score = f"{one.log_likelihood:.3f} ± {one.standard_error:.3f}"
    return one.title, score, "chosen" if one.behind == one.behind_error == 0 else gap
