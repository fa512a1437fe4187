"""``noisypairs annotators``: who answers well, who does not, and what leaving them out changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    from noisypairs.crowd import Crowd
    from noisypairs.files import Dataset

#: What is said wherever names are hidden.
PRIVACY = (
    "Names of annotators are hashed. Pairs plus one known label reveal every label on a connected "
    "graph: hashing hides who answered, not what the items are."
)
#: Rows of the table on the screen; files hold them all.
MOST_ROWS = 20


@command()
def annotators(
    pairs: Annotated[Path, typer.Argument(help="One answer per row, with who gave it.")],
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
    left: Annotated[str | None, typer.Option(help="Column of the first item.")] = None,
    right: Annotated[str | None, typer.Option(help="Column of the second item.")] = None,
    same: Annotated[str | None, typer.Option(help="Column of the answers.")] = None,
    annotator: Annotated[str | None, typer.Option(help="Column of who answered.")] = None,
    id: Annotated[str | None, typer.Option("--id", help="Column of the items' ids.")] = None,
    classes: Annotated[
        int | None, typer.Option(min=2, max=50, help="How many classes; 2, or as gold has.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output file.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Decides every draw.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Judge everybody who answered: rates with intervals, verdicts, agreement, and who to drop."""
    with failing_with(WRONG_USE):
        _check_use(output, force, hash_ids, salt)
    with failing_with(BAD_DATA):
        from noisypairs.files import Columns, read_dataset

        with progress(3, quiet) as step:
            step("reading the files")
            data = read_dataset(items, pairs, Columns(left, right, same, annotator, id))
            notes = list(data.notes)
            step("judging the annotators")
            found = _judge(data, gold, classes, seed)
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
        _tell(found, notes if hash_ids else [])


def _check_use(output: Path | None, force: bool, hash_ids: bool, salt: str | None) -> None:
    from noisypairs.files import check_writable

    if output is not None:
        if output.suffix.lower() not in (".html", ".csv"):
            raise ValueError(f"{output}: the output is a page (.html) or a table (.csv)")
        check_writable(output, force)
    if salt is not None and not hash_ids:
        raise ValueError("--salt is the key of --hash-ids: give both, or neither")
    if salt == "":
        raise ValueError("--salt is empty: anybody could then look up the names; give a secret")


def _judge(data: Dataset, gold: Path | None, classes: int | None, seed: int) -> Crowd:
    from noisypairs import crowd
    from noisypairs.encoding import item_encoder

    if data.pairs.annotator is None:
        raise ValueError(
            "the pairs do not say who answered: name the column with --annotator, or add one"
        )
    X: Any = None
    if data.features is not None:
        X = item_encoder(data.features, seed).fit_transform(data.features)
    known = {} if gold is None else _gold(data, gold)
    labels = known.get("labels")
    n_classes = classes or max(2, len(set((labels or {}).values())))
    return crowd.judge_crowd(
        data.pairs, X, data.features, n_classes=n_classes, random_state=seed, **known
    )


def _gold(data: Dataset, path: Path) -> dict[str, Any]:
    """Read known answers where the file has two columns of items, else known classes."""
    from noisypairs.crowd import truth_from_answers
    from noisypairs.files import read_frame, read_labels, read_pairs
    from noisypairs.files.imported import has_ends

    if has_ends([str(name) for name in read_frame(path).columns]):
        gold = read_pairs(path)
        return {"truth": truth_from_answers(data.pairs, data.ids, gold.pairs, gold.ids)}
    return {"labels": read_labels(path, data.ids)}


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
    from noisypairs.files import atomic_write

    if output.suffix.lower() == ".csv":
        import pandas as pd

        content = pd.DataFrame(found.to_records()).to_csv(index=False)
    else:
        from noisypairs.report.annotators import annotators_report

        content = annotators_report(found, notes)
    atomic_write(output, content, force)


def _tell(found: Crowd, notes: list[str]) -> None:
    from noisypairs.report.annotators import crowd_answer

    console = console_of(170)
    console.print(crowd_answer(found), "", sep="\n", soft_wrap=True)
    order = sorted(range(len(found.table)), key=lambda r: _rank(found, r))
    rows = [_cells(found, r) for r in order[:MOST_ROWS]]
    headings = ["annotator", "answers", "same called different", "different called same"]
    headings += ["J", "verdict", "agree (n)", "kappa", "items changed", "others right"]
    console.print(table(console, headings, rows))
    if len(order) > MOST_ROWS:
        console.print(f"… and {len(order) - MOST_ROWS} more: write them with -o FILE.csv")
    for line in ("", *notes):
        console.print(line, soft_wrap=True)


def _rank(found: Crowd, r: int) -> tuple[bool, float]:
    row = found.table.rows[r]
    return row.name not in found.table.suspects, row.informativeness.estimate


def _cells(found: Crowd, r: int) -> tuple[str, ...]:
    row, shared, rest = found.table.rows[r], found.agreement[r], found.rest_accuracy[r]
    rates = (row.similar_flip, row.dissimilar_flip, row.informativeness)
    texts = [f"{one.estimate:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in rates]
    agree = f"{shared.share.estimate:.2f} ({shared.n})" if shared.share else "– (0)"
    kappa = f"{shared.kappa.estimate:.2f}" if shared.kappa else "–"
    changed = "–" if row.drop_effect is None else f"{row.drop_effect}"
    others = "–" if rest is None else f"{rest:.2f}"
    return (str(row.name), f"{row.n_answers}", *texts, row.verdict, agree, kappa, changed, others)
