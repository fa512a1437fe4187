"""``noisypairs inspect``: what a model file is, without running anything from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from noisypairs.cli import options
from noisypairs.cli.app import BAD_DATA, command, failing_with


@command()
def inspect(
    model: Annotated[Path, typer.Argument(help="Model file that `noisypairs fit` wrote.")],
    as_json: options.Json = False,
) -> None:
    """Show a model's card: what it is, from what, how good.

    Nothing in the file is run and no object in it is built.

    Example: noisypairs inspect model.skops
    """
    with failing_with(BAD_DATA):
        from noisypairs.app import model_file
        from noisypairs.app.model_card import card

        facts = model_file.inspect(model)
    if as_json:
        import json

        typer.echo(json.dumps(facts, allow_nan=False, ensure_ascii=False))
    else:
        typer.echo(card(facts), nl=False)
