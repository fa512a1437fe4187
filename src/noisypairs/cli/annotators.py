"""``noisypairs annotators``: who answers well, who does not, and what leaving them out changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisypairs.cli import options
from noisypairs.cli.app import (
    BAD_DATA,
    WRONG_USE,
    command,
    console_of,
    failing_with,
    progress,
    table,
)

if TYPE_CHECKING:
    from noisypairs.annotators.crowd import Crowd
    from noisypairs.app.files import Dataset
    from noisypairs.pairs import Pairs

#: What is said wherever names are hidden.
PRIVACY = (
    "Names of annotators are hashed. Pairs plus one known label reveal every label on a connected "
    "graph: hashing hides who answered, not what the items are."
)
#: Rows of the table on the screen; files hold them all.
MOST_ROWS = 20
#: Answers of a table too large to load that people are compared on.
ENOUGH_PAIRS = 500_000
#: What the columns mean that do not say it themselves.
_LEGEND = (
    "worth: 1 for perfect answers, 0 for a coin, below 0 for reversed ones. agree: with others on "
    "the same pairs (how many), kappa: the same corrected for chance.",
    "items changed: how many items change class if this annotator is left out; others right: share "
    "of right answers of everybody else. Brackets are 95% intervals.",
)


@command()
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
    left: options.Left = None,
    right: options.Right = None,
    same: options.Same = None,
    annotator: options.Annotator = None,
    id: options.Id = None,
    format: options.Format = None,
    classes: Annotated[
        int | None, typer.Option(min=2, max=50, help="How many classes; 2, or as gold has.")
    ] = None,
    force: options.Force = False,
    seed: options.Seed = 0,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Judge who answers well: rates, verdicts, whom to drop.

    Names the spammers, those who always say the same, and those who mean the opposite; whoever
    gave too few answers is not judged.

    Example: noisypairs annotators pairs.csv items.csv -o annotators.html
    """
    with failing_with(WRONG_USE):
        options.check_format(format)
        _check_use(output, hash_ids, salt)
        options.check_outputs({"the output": output}, [pairs, items, gold], force)
    with failing_with(BAD_DATA):
        from noisypairs.app.files import Columns, read_dataset

        with progress(3, quiet, (1.0, 20.0, 1.0)) as step:
            step("reading the files")
            columns = Columns(left, right, same, annotator, id)
            data = read_dataset(items, pairs, columns, format=format, stream=True)
            notes = list(data.notes)
            step("judging the annotators")
            found, more = _judge(data, gold, classes, seed)
            notes += more
            if hash_ids:
                found = _hashed(found, salt)
                notes = [PRIVACY]  # other notes may quote names
            step("writing")
            if output is not None:
                _write(output, found, notes, force)
    if as_json:
        import json

        shown = found.to_dict() | {"notes": notes}
        typer.echo(json.dumps(shown, allow_nan=False, ensure_ascii=False, default=str))
    else:
        _tell(found, notes if hash_ids else [], output)


def _check_use(output: Path | None, hash_ids: bool, salt: str | None) -> None:
    if output is not None and output.suffix.lower() not in (".html", ".csv"):
        raise ValueError(f"{output}: the output is a page (.html) or a table (.csv)")
    if output is not None and output.suffix.lower() == ".html":
        import noisypairs.app.report.annotators  # noqa: F401  # a missing package is told at once
    if salt is not None and not hash_ids:
        raise ValueError("--salt is the key of --hash-ids: give both, or neither")
    if salt == "":
        raise ValueError("--salt is empty: anybody could then look up the names; give a secret")


def _judge(
    data: Dataset, gold: Path | None, classes: int | None, seed: int
) -> tuple[Crowd, list[str]]:
    """Judge everybody; of a table too large to load all answers count, but a sample is compared."""
    from noisypairs import reduction
    from noisypairs.annotators import crowd
    from noisypairs.app.encoding import item_encoder
    from noisypairs.errors import collected_warnings

    if data.pairs.annotator_names is None:
        raise ValueError(
            "the pairs do not say who answered: name the column with --annotator, or add one"
        )
    X: Any = None
    if data.features is not None:
        X = item_encoder(data.features, seed).fit_transform(data.features)
    some = reduction.sampled_answers(data.pairs, ENOUGH_PAIRS)
    with collected_warnings() as notes:
        known = {} if gold is None else _gold(data, some, gold)
    labels = known.get("labels")
    n_classes = classes or max(2, len(set((labels or {}).values())))
    settings: dict[str, Any] = {"n_classes": n_classes, "random_state": seed}
    found = crowd.judge_crowd(some, X, data.features, **settings, **known)
    if some.n_pairs < data.pairs.n_pairs:
        found = _with_all_answers(found, data.pairs, X, gold=labels, **settings)
        notes.append(
            f"rates and verdicts count all {data.pairs.n_pairs:,} answers; agreement, known "
            f"answers, features and the crowd without suspects a sample of {some.n_pairs:,}"
        )
    return found, notes


def _with_all_answers(found: Crowd, pairs: Any, X: Any, **settings: Any) -> Crowd:
    """Replace the table of a sample by that of all answers."""
    from dataclasses import replace

    from noisypairs.annotators import annotator_table
    from noisypairs.annotators.crowd import Agreement, GoldRates

    table = annotator_table(pairs, X, **settings)
    place = {row.name: r for r, row in enumerate(found.table)}
    at = [place.get(row.name) for row in table]
    alone, unseen, gold = Agreement(0, None, None), GoldRates(0, 0, None, None), found.gold
    given = [row.n_answers for row in table]
    right = [row.n_answers * row.accuracy for row in table]
    rest = [
        (sum(right) - r) / (sum(given) - n) if n < sum(given) else None
        for r, n in zip(right, given, strict=True)
    ]
    return replace(
        found,
        table=table,
        agreement=[alone if r is None else found.agreement[r] for r in at],
        gold=None if gold is None else [unseen if r is None else gold[r] for r in at],
        rest_accuracy=rest,
    )


def _gold(data: Dataset, pairs: Pairs, path: Path) -> dict[str, Any]:
    """Read known answers where the file has two columns of items, else known classes."""
    from noisypairs.annotators.crowd import truth_from_answers
    from noisypairs.app.files import read_frame, read_labels, read_pairs
    from noisypairs.app.files.importers.base import has_ends

    if has_ends([str(name) for name in read_frame(path).columns]):
        gold = read_pairs(path)
        return {"truth": truth_from_answers(pairs, data.ids, gold.pairs, gold.ids)}
    return {"labels": read_labels(path, data.ids, data.columns.id)}


def _hashed(found: Crowd, salt: str | None) -> Crowd:
    """Replace the names by a keyed hash: without the key nobody can try names out."""
    import hashlib
    import hmac
    import secrets
    from dataclasses import replace

    key = secrets.token_bytes(32) if salt is None else salt.encode()

    def code(name: object) -> str:
        return hmac.new(key, str(name).encode(), hashlib.sha256).hexdigest()[:12]

    rows = tuple(replace(row, name=code(row.name)) for row in found.table.rows)
    return replace(found, table=replace(found.table, rows=rows))


def _write(output: Path, found: Crowd, notes: list[str], force: bool) -> None:
    from noisypairs.app.files import atomic_write

    if output.suffix.lower() == ".csv":
        import pandas as pd

        content = pd.DataFrame(found.to_records()).to_csv(index=False)
    else:
        from noisypairs.app.report.annotators import annotators_report

        content = annotators_report(found, notes)
    atomic_write(output, content, force)


def _tell(found: Crowd, notes: list[str], output: Path | None) -> None:
    from noisypairs.app.report.advice import by_suspicion, crowd_answer, meanings

    console = console_of(170)
    console.print(crowd_answer(found), "", sep="\n", soft_wrap=True)
    order = by_suspicion(found.table)
    rows = [_cells(found, r) for r in order[:MOST_ROWS]]
    headings = ["annotator", "answers", "same called different", "different called same"]
    headings += ["worth", "verdict", "agree (n)", "kappa", "items changed", "others right"]
    console.print(table(console, headings, rows))
    if len(order) > MOST_ROWS:
        console.print(f"… and {len(order) - MOST_ROWS} more: write them with -o FILE.csv")
    told = [(v, f"{n:,}", f"{means}: {todo}") for v, n, means, todo in meanings(found.table)]
    console.print("", table(console, ("verdict", "annotators", "what it means"), told), sep="\n")
    written = [] if output is None else [f"Written: {output}"]
    for line in ("", *_LEGEND, *notes, *written):
        console.print(line, soft_wrap=True)


def _cells(found: Crowd, r: int) -> tuple[str, ...]:
    row, shared, rest = found.table.rows[r], found.agreement[r], found.rest_accuracy[r]
    rates = (row.similar_flip, row.dissimilar_flip, row.informativeness)
    texts = [f"{one.estimate:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in rates]
    agree = f"{shared.share.estimate:.2f} ({shared.n})" if shared.share else "– (0)"
    kappa = f"{shared.kappa.estimate:.2f}" if shared.kappa else "–"
    changed = "–" if row.drop_effect is None else f"{row.drop_effect}"
    others = "–" if rest is None else f"{rest:.2f}"
    return (str(row.name), f"{row.n_answers}", *texts, row.verdict, agree, kappa, changed, others)
