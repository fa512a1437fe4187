"""``noisypairs predict``: classes and probabilities of new items, from a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisypairs.cli import options
from noisypairs.cli.app import BAD_DATA, WRONG_USE, command, console_of, failing_with

if TYPE_CHECKING:
    import pandas as pd

    from noisypairs.app.model_file import Model


@command()
def predict(
    model: Annotated[Path, typer.Argument(help="Model file that `noisypairs fit` wrote.")],
    items: Annotated[Path, typer.Argument(help="New items, with the columns of the old ones.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write: .csv, .tsv, .parquet or .jsonl.")
    ],
    id: options.Id = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Name the second of two classes from this probability on; else 0.5."),
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print no notes.")] = False,
) -> None:
    """Classify new items: classes with probabilities.

    Example: noisypairs predict model.skops new.csv -o classes.csv
    """
    with failing_with(WRONG_USE):
        if threshold is not None and not 0.0 < threshold < 1.0:
            raise ValueError(f"threshold {threshold:g}: expected a number between 0 and 1")
        _writer(output)
        options.check_outputs({"the classes": output}, [items, model], force)
    with failing_with(BAD_DATA):
        from noisypairs.app import model_file
        from noisypairs.app.files import atomic_write
        from noisypairs.errors import collected_warnings

        with collected_warnings() as noted:
            loaded = model_file.load(model)
            features, ids, notes = _new_items(loaded, items, id)
            result = _predictions(loaded, features, ids, threshold)
        atomic_write(output, _writer(output)(result), force)
    _tell(result, [*noted, *notes], output, as_json, quiet)


def _new_items(
    model: Model, path: Path, id: str | None
) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Return the columns that the model uses, the ids, and notes on what is left of the file."""
    from noisypairs.app.encoding import unread
    from noisypairs.app.files import read_frame, read_items
    from noisypairs.errors import did_you_mean

    trained = model.facts["columns"].get("id")
    if id is None and trained in read_frame(path).columns:
        id = trained
    features, ids = read_items(path, id)
    extra = [name for name in features.columns if name not in model.columns]
    for name in model.columns:
        if name not in features.columns:
            hint = did_you_mean(name, extra or features.columns)
            raise ValueError(f"{path} has no column {name!r}, which the model uses: {hint}")
    unused = {one["name"] for one in model.facts["features"]}
    notes = [f"column {name!r} is not used" for name in extra if name not in unused]
    kinds = {one["name"]: one["kind"] for one in model.facts["features"]}
    used = features[model.columns]
    return used, ids, notes + unread(used, {name: kinds[name] for name in model.columns})


def _predictions(
    model: Model, features: pd.DataFrame, ids: list[str], threshold: float | None
) -> pd.DataFrame:
    """Return one row per item: id, class, and P(class) for every class."""
    import pandas as pd

    classes = [str(name) for name in model.pipeline.classes_]
    proba = model.pipeline.predict_proba(features)
    winner = proba.argmax(axis=1)
    if threshold is not None:
        if len(classes) != 2:
            raise ValueError(f"--threshold is for two classes, and the model has {len(classes)}")
        winner = (proba[:, 1] >= threshold).astype(int)
    shown = {"id": ids, "class": [classes[k] for k in winner.tolist()]}
    return pd.DataFrame(shown | {f"P({name})": proba[:, k] for k, name in enumerate(classes)})


def _writer(path: Path) -> Any:
    """Return the function from a table to the content of a file of this extension."""
    from noisypairs.errors import did_you_mean

    writers = {
        ".csv": lambda table: table.to_csv(index=False, lineterminator="\n"),
        ".tsv": lambda table: table.to_csv(index=False, sep="\t", lineterminator="\n"),
        ".jsonl": lambda table: table.to_json(orient="records", lines=True, force_ascii=False),
        ".parquet": lambda table: table.to_parquet(index=False),
    }
    kind = path.suffix.lower()
    if kind not in writers:
        raise ValueError(f"{path} has the extension {kind!r}: {did_you_mean(kind, writers)}")
    return writers[kind]


def _tell(result: pd.DataFrame, notes: list[str], output: Path, as_json: bool, quiet: bool) -> None:
    counts = {str(name): int(n) for name, n in result["class"].value_counts().items()}
    if as_json:
        import json

        facts = {"n_items": len(result), "classes": counts, "notes": notes, "written": str(output)}
        typer.echo(json.dumps(facts, ensure_ascii=False))
        return
    for note in notes if not quiet else []:
        typer.echo(f"Note: {note}", err=True)
    found = ", ".join(f"{name}: {n:,}" for name, n in counts.items())
    console_of(100).print(f"{len(result):,} items classified ({found}). Written: {output}")
