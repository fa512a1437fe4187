"""``noisypairs check``: what two files hold, what is wrong with them, and what can be learnt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noisypairs.cli import app, options, progress, terminal

if TYPE_CHECKING:
    from rich.console import Console

    from noisypairs.app.check import DataCheck
    from noisypairs.app.files import Dataset


#: How long the steps take in comparison: reading, counting, fitting, intervals, triangles.
_SHARES = (1.0, 0.2, 12.0, 2.0, 0.5)


@app.command()
@options.with_reading
def check(
    items: options.Items,
    pairs: options.PairsAfterItems = None,
    reading: options.Reading = options.GUESSED,
    labels: options.Labels = None,
    classes: options.Classes = None,
    no_fit: Annotated[bool, typer.Option("--no-fit", help="A quick look, nothing fitted.")] = False,
    report: Annotated[Path | None, typer.Option(help="HTML report to write.")] = None,
    seed: options.Seed = 0,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what two files hold, how noisy they are, what can work.

    ITEMS may be the same file as PAIRS where that holds the items too (dedupe, Label Studio,
    metric-learn), and may be left out: the answers alone then say what they can.

    Example: noisypairs check items.csv pairs.csv
    """
    only, pairs = (None, items) if pairs is None else (items, pairs)
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app.fit.request import class_numbers

        reading.check()
        numbers = class_numbers(classes)
        options.check_outputs({"the report": report}, [only, pairs, labels], force)
        if report is not None:
            import noisypairs.app.report.pages  # noqa: F401  # a missing package is named at once
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app import check

        with progress.steps(_SHARES, quiet) as step:
            step("reading the files")
            dataset = reading.dataset(only, pairs, labels)
            found = check.check(dataset, fit=not no_fit, n_classes=numbers, seed=seed, step=step)
        if report is not None:
            from noisypairs.app.files import atomic_write
            from noisypairs.app.report.pages import check_report

            atomic_write(report, check_report(found), force)
    if as_json:
        written = {} if report is None else {"written": {"report": str(report)}}
        app.print_json(found.to_dict() | written)
    else:
        _print_check(found)
        if report is not None:
            terminal.say(f"Written: {report}")


def _print_check(found: DataCheck) -> None:
    console = terminal.console_of(110)
    for title, lines in (
        ("Files", _files(found.dataset)),
        ("Columns and answers", _reading(found.dataset)),
        ("Notes", [f"- {note}" for note in found.dataset.notes]),
        ("Features", _features(found)),
        ("Answers", str(found.audit).splitlines()),
        ("Noise", _noise(found)),
        ("Triangles", _triangles(found)),
    ):
        _section(console, title, list(lines))
    console.print("Methods", style="bold")
    first = {v.reason: v.method for v in reversed(found.methods)}
    rows = [
        (v.method, v.outlook, v.reason if first[v.reason] == v.method else f"as {first[v.reason]}")
        for v in found.methods
    ]
    console.print(app.table(console, ("method", "outlook", "why"), rows), "", sep="\n")
    problems = [f"{k}. {text}" for k, text in enumerate(found.problems, 1)]
    _section(console, "What is wrong", problems or ["nothing found by counting"])


def _section(console: Console, title: str, lines: Sequence[str]) -> None:
    if lines:
        console.print(title, style="bold")
        for line in lines:
            console.print(f"  {terminal.one_line(line)}", soft_wrap=True)
        console.print()


def _files(data: Dataset) -> Iterator[str]:
    for source in data.sources:
        size = f"{source['rows']:,} rows, {source['bytes']:,} bytes"
        yield f"{source['path']}: {size}, sha256 {source['sha256'][:12]}…"
    if data.format != "table":
        yield f"the pairs are read in the format {data.format} (--format says otherwise)"


def _reading(data: Dataset) -> Iterator[str]:
    from dataclasses import asdict

    named = [f"{role} = {name!r}" for role, name in asdict(data.columns).items() if name]
    yield f"columns: {', '.join(named)} (--left, --right, --same, --annotator, --id say otherwise)"
    senses = sorted(data.mapping.items(), key=lambda entry: entry[1], reverse=True)  # same first
    yield "answers: " + ", ".join(f"{word!r} → {sense}" for word, sense in senses)
    if data.pairs.labels:
        yield f"known classes: {len(data.pairs.labels):,} items"
    if data.pairs.groups is not None:
        yield f"groups: {data.pairs.n_items:,} items in {data.pairs.n_groups:,} groups"


def _features(found: DataCheck) -> Iterator[str]:
    """Give a line per kind of column, with names where there are few of them."""
    kinds: dict[str, list[str]] = {}
    for one in found.features:
        _, by, encoder = one.note.rpartition("; by ")  # as content has it
        kinds.setdefault(one.kind, []).append(f"{one.name} (by {encoder})" if by else one.name)
    for kind, names in kinds.items():
        shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
        yield f"{kind:<10} {len(names):>4}: {shown}"
    if found.dataset.features is None:
        yield "none: the items are known by their ids alone"
    if found.repeated is not None and found.repeated.n_identical:
        n_items = found.dataset.pairs.n_items
        yield f"{found.repeated.n_identical:,} of {n_items:,} items have the features of another"


def _noise(found: DataCheck) -> Iterator[str]:
    from noisypairs.assess.words import bracketed

    noise = found.noise
    if noise is None:
        yield f"cannot be identified from these pairs: {found.no_noise}"
        return
    yield f"same pairs called different (similar_flip)     {bracketed(noise.similar_flip)}"
    yield f"different pairs called same (dissimilar_flip)  {bracketed(noise.dissimilar_flip)}"
    if noise.prior is not None:
        yield f"share of class 1 (prior)                       {bracketed(noise.prior)}"
    elif noise.no_prior is not None:
        yield f"share of class 1 (prior)                       unknown: {noise.no_prior}"
    if noise.signal is not None:
        worth = "nothing" if noise.inflation is None else f"1/{noise.inflation:,.0f}"
        yield (
            f"signal |a − b|                                 {noise.signal:.3f}: to a point-wise "
            f"method an answer is worth {worth} of a labelled item"
        )
    yield f"found by: {noise.how}; {noise.similar_flip.level:.0%} intervals in brackets"


def _triangles(found: DataCheck) -> Iterator[str]:
    from noisypairs.assess.words import percent

    seen = found.triangles
    if seen is None:
        closed = found.audit.triangles.closed
        open_question = "to say how many should break, noise and classes must be known better"
        yield open_question if closed else "no three items were all compared with each other"
        return
    yield (
        f"{percent(seen.seen, 1)} of {seen.closed:,} closed triangles are broken (a = b, b = c, "
        f"a ≠ c); expected under this noise: {percent(seen.expected, 1)} ± "
        f"{percent(seen.spread, 1)}"
    )
