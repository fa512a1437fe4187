"""``noisypairs annotators``: who answers well, who does not, and what leaving them out changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noisypairs.cli import app, options, progress, terminal

if TYPE_CHECKING:
    from noisypairs.annotators.crowd import Crowd

#: Rows of the table on the screen; files hold them all.
MOST_ROWS = 20
#: What the columns mean that do not say it themselves.
_LEGEND = (
    "bias: leaning towards same, skill: telling same from different pairs better; log-odds, 0 as "
    "the crowd.",
    "worth: 1 for perfect answers, 0 for a coin, below 0 for reversed ones. agree: with others on "
    "the same pairs (how many), kappa: the same corrected for chance.",
    "{0} changed: how many {0} change {1} if this annotator is left out; others right: share "
    "of right answers of everybody else. Brackets are 95% intervals.",
)


@app.command()
@options.with_reading
def annotators(
    pairs: options.Pairs,
    items: Annotated[Path | None, typer.Argument(help="One row per item: features help.")] = None,
    gold: Annotated[
        Path | None, typer.Option(help="Known classes (id, class) or answers (left, right, same).")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write a page (.html) or table (.csv).")
    ] = None,
    hash_ids: Annotated[bool, typer.Option("--hash-ids", help="Hide annotators' names.")] = False,
    salt: Annotated[
        str | None, typer.Option(help="Key of the hash; random for each run if not given.")
    ] = None,
    reading: options.Reading = options.GUESSED,
    classes: Annotated[
        str | None, typer.Option(help="How many: 3, or 2-6 to choose; else as gold has, or 2-6.")
    ] = None,
    raw: options.Raw = False,
    force: options.Force = False,
    seed: options.Seed = 0,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Judge who answers well: rates, verdicts, whom to drop.

    Names the spammers, those who always say the same, and those who say the opposite of what they
    see. Whoever gave too few answers is not judged.

    Example: noisypairs annotators pairs.csv items.csv -o annotators.html
    """
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app.fit.request import class_numbers

        numbers = None if classes is None else class_numbers(classes)
        reading.check()
        _check_use(output, hash_ids, salt)
        options.check_outputs({"the output": output}, [pairs, items, gold], force)
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app.annotators import PRIVACY, judge_annotators, with_hashed_names

        with progress.steps((1.0, 20.0, 1.0), quiet) as step:
            step("reading the files")
            data = reading.dataset(items, pairs)
            step("judging the annotators")
            found, more = judge_annotators(data, gold, numbers, seed)
            notes = [*data.notes, *more]
            if hash_ids:
                found = with_hashed_names(found, salt)
                notes = [PRIVACY]  # other notes may quote names
            step("writing")
            if output is not None:
                _write(output, found, notes, raw, force)
    if as_json:
        app.print_json(found.to_dict() | {"notes": notes})
    else:
        _print_crowd(found, notes if hash_ids else [], output)


def _check_use(output: Path | None, hash_ids: bool, salt: str | None) -> None:
    if output is not None and output.suffix.lower() not in (".html", ".csv"):
        raise ValueError(f"{output}: the output is a page (.html) or a table (.csv)")
    if output is not None and output.suffix.lower() == ".html":
        import noisypairs.app.report.pages  # noqa: F401  # a missing package is named at once
    if salt is not None and not hash_ids:
        raise ValueError("--salt is the key of --hash-ids: give both, or neither")
    if salt == "":
        raise ValueError("--salt is empty: anybody could then look up the names; give a secret")


def _write(output: Path, found: Crowd, notes: list[str], raw: bool, force: bool) -> None:
    from noisypairs.app.files import atomic_write, delimited_text

    if output.suffix.lower() == ".csv":
        records = found.to_records()
        rows = (list(record.values()) for record in records)
        content = delimited_text(list(records[0]), rows, raw=raw)
    else:
        from noisypairs.app.report.pages import annotators_report

        content = annotators_report(found, notes)
    atomic_write(output, content, force)


def _print_crowd(found: Crowd, notes: list[str], output: Path | None) -> None:
    from noisypairs.app.report.advice import by_suspicion, crowd_answer, least_missed, meanings

    console = terminal.console_of(170)
    console.print(terminal.one_line(crowd_answer(found)), "", sep="\n", soft_wrap=True)
    changed = found.table.changed
    order = by_suspicion(found.table)
    rows = [_cells(found, r) for r in order[:MOST_ROWS]]
    headings = ["annotator", "answers", "same called different", "different called same"]
    headings += [
        "bias",
        "skill",
        "worth",
        "verdict",
        "agree (n)",
        "kappa",
        f"{changed} changed",
        "others right",
    ]
    console.print(app.table(console, headings, rows))
    if len(order) > MOST_ROWS:
        console.print(f"… and {len(order) - MOST_ROWS} more: write them with -o FILE.csv")
    rows = [(v, f"{n:,}", f"{means}: {todo}") for v, n, means, todo in meanings(found.table)]
    console.print(
        "", app.table(console, ("verdict", "annotators", "what it means"), rows), sep="\n"
    )
    written = [] if output is None else [f"Written: {output}"]
    legend = [line.format(changed, "class" if changed == "items" else "truth") for line in _LEGEND]
    for line in (
        "",
        *filter(None, [least_missed(found)]),
        f"Judged by: {found.table.choice}.",
        *legend,
        *notes,
        *written,
    ):
        console.print(terminal.one_line(line), soft_wrap=True)


def _cells(found: Crowd, r: int) -> tuple[str, ...]:
    row, shared, rest = found.table.rows[r], found.agreement[r], found.rest_accuracy[r]
    rates = (row.similar_flip, row.dissimilar_flip, row.informativeness)
    texts = [f"{one.estimate:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in rates]
    texts[2:2] = [
        "–" if one is None else f"{one.estimate:+.2f} ±{one.high - one.estimate:.2f}"
        for one in (row.bias, row.skill)
    ]
    agree = f"{shared.share.estimate:.2f} ({shared.n})" if shared.share else "– (0)"
    kappa = f"{shared.kappa.estimate:.2f}" if shared.kappa else "–"
    changed = "–" if row.drop_effect is None else f"{row.drop_effect}"
    others = "–" if rest is None else f"{rest:.2f}"
    answers = f"{row.n_answers}" + (f", {row.unsure:.0%} unsure" if row.unsure else "")
    return (str(row.name), answers, *texts, row.verdict, agree, kappa, changed, others)
