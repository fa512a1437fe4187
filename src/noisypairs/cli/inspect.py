"""``noisypairs inspect``: what a model file is, without running anything from it."""

from __future__ import annotations

from noisypairs.cli import app, options, terminal


@app.command()
def inspect(model: options.Model, as_json: options.Json = False) -> None:
    """Show a model's card: what it is, from what, how good.

    Nothing in the file is run and no object in it is built. A card that was edited after the model
    was written is said to be edited.

    Example: noisypairs inspect model.skops
    """
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app import model_file
        from noisypairs.app.model_card import card

        facts, edited = model_file.look(model)
    if as_json:
        terminal.say_json(facts | {"edited": edited})
        return
    terminal.say(card(facts), nl=False)
    if edited is not False:
        said = model_file.EDITED if edited else model_file.UNSEALED
        terminal.say(f"Note: {said.format(model)}", err=True)
