"""``noisypairs ask``: a page that asks the next pair, learns, and says when it is enough."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noisypairs.cli import app, options, stopping, terminal

if TYPE_CHECKING:
    from noisypairs.app.ask.project import Settings
    from noisypairs.app.ask.serving import Addresses


@app.command()
def ask(
    *,
    items: Annotated[
        Path | None, typer.Argument(help="One row per item: CSV, TSV, Parquet, JSON lines.")
    ] = None,
    store: Annotated[
        Path | None, typer.Option(help="SQLite file of the answers; made if not there.")
    ] = None,
    images: options.Images = None,
    encode: options.Encode = "auto",
    columns: Annotated[
        str | None, typer.Option(help="Columns to show, such as name,city; all if not given.")
    ] = None,
    classes: options.Classes = None,
    target: Annotated[float, typer.Option(help="The accuracy at which it is enough.")] = 0.95,
    question: Annotated[
        str, typer.Option(help="What is asked of a pair.")
    ] = "Are these two the same?",
    scale: Annotated[
        str | None,
        typer.Option(
            help='Grades from different to same: how many, or "no<rather no|rather yes<yes".'
        ),
    ] = None,
    repeat: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of pairs asked of a second person.")
    ] = 0.1,
    blind: Annotated[
        bool, typer.Option("--blind", help="Let nobody see what the model thinks.")
    ] = False,
    host: Annotated[
        str | None, typer.Option(help="Address for other machines; they then need a token.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port; 8765, or a free one.")
    ] = None,
    behind_proxy: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where a proxy on this machine serves it; by token."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no browser.")] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Ask about handwritten digits; needs no files.")
    ] = False,
    export: Annotated[
        Path | None, typer.Option(help="Write the answers of the store as CSV, and end.")
    ] = None,
    id: options.Id = None,
    seed: options.Seed = 0,
    show: options.Showing,
) -> None:
    """Ask people about pairs on a page, and learn meanwhile.

    Serves on this machine until Ctrl-C. The answers are in the store, which fit, check, plan and
    annotators read like any file of pairs; the same command goes on with it.

    Example: noisypairs ask items.csv --store answers.db --images photos --target 0.95
    """
    if export is not None:
        _export(store, export, show)
        return
    with app.failing_with(app.WRONG_USE):
        if (items is None) != demo:
            raise ValueError("name the file of the items, or --demo for a try without files")
        if store is None and not demo:
            raise ValueError("name a file for the answers: --store answers.db")
        options.require_accuracy(target)
        if not question.strip():
            raise ValueError("--question: expected some words, such as 'Are these two the same?'")
        from noisypairs.app.ask.project import Settings
        from noisypairs.app.fit.request import class_numbers

        if encode != "auto":
            from noisypairs.app.encoding import encoders_of

            encoders_of(encode)
        settings = Settings(
            items=items or Path(),
            store=store or Path(),
            images=images,
            encode=encode,
            columns=None if columns is None else options.words(columns),
            id=id,
            question=question,
            n_classes=class_numbers(classes),
            target=target,
            repeated=repeat,
            blind=blind,
            seed=seed,
            scale=scale,
        )
        _ = settings.levels  # a scale that cannot be read is refused here
    with app.failing_with(app.BAD_DATA), tempfile.TemporaryDirectory() as folder:
        if demo:
            settings = _demo(settings, Path(folder), store)
        _serve(settings, host, port, behind_proxy, no_browser, show.as_json, kept=store is not None)


def _demo(settings: Settings, folder: Path, store: Path | None) -> Settings:
    """Return the settings of a project about digits, made in a folder."""
    from dataclasses import replace

    from noisypairs.app.ask.digits import write_digits

    return replace(
        settings,
        items=write_digits(folder),
        store=store or folder / "answers.db",
        images=str(folder),
        columns=(),
        question="Are these two the same digit?",
    )


def _serve(
    settings: Settings,
    host: str | None,
    port: int | None,
    behind_proxy: str | None,
    no_browser: bool,
    as_json: bool,
    kept: bool,
) -> None:
    from noisypairs.app.ask.serving import serve

    def announce(where: Addresses) -> None:
        if as_json:
            store = str(settings.store)
            terminal.say_json({"people": where.people, "owner": where.owner, "store": store})
        else:
            terminal.say(f"People answer at  {where.people}")
            terminal.say(f"The owner's link  {where.owner}")
            terminal.say("Ctrl-C ends it; every answer is kept as it is given.")
        if not no_browser:
            _open_browser(where.owner)

    try:
        serve(settings, announce, host, port, public=behind_proxy or "")
    except KeyboardInterrupt as stop:
        where = f"every answer is in {settings.store}. Go on with the same command"
        fate = where if kept else "the answers of the demo are gone: --store FILE would keep them"
        terminal.say(f"Stopped; {fate}", err=True)
        raise typer.Exit(stopping.told(stop)) from None


def _open_browser(address: str) -> None:
    """Open a browser where there is one, without waiting for it; none in the terminal itself."""
    import os
    import sys
    import threading
    import webbrowser

    if sys.platform == "linux" and not {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys():
        return
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _export(store: Path | None, target: Path, show: options.Showing) -> None:
    with app.failing_with(app.WRONG_USE):
        if store is None:
            raise ValueError("--export writes the answers of a store: name it with --store")
        show.reserve({"the answers": target}, [store])
    with app.failing_with(app.BAD_DATA):
        from noisypairs.app.files import delimited_text
        from noisypairs.app.files.store import COLUMNS, stored_answers

        rows = stored_answers(store)
        show.write(target, lambda: delimited_text(COLUMNS, rows))
    if show.as_json:
        terminal.say_json({"answers": len(rows), "file": str(target)})
    else:
        terminal.say(f"{len(rows):,} answers: {target}")
