"""What every command shares: registration, exit codes, consoles, progress and tables.

Exit codes: 0 fine, 1 bad data, 2 wrong use; both failures are one line on stderr (`failing_with`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

BAD_DATA, WRONG_USE = 1, 2

Command = Callable[..., None]
_COMMANDS: list[tuple[Command, dict[str, Any]]] = []


def command(**context_settings: Any) -> Callable[[Command], Command]:
    """Register a function as the command of its name, with click's context settings if any."""

    def register(function: Command) -> Command:
        _COMMANDS.append((function, context_settings))
        return function

    return register


@contextmanager
def failing_with(code: int) -> Iterator[None]:
    """Turn a ValueError or TypeError of the block into one line on stderr and an exit code."""
    try:
        yield
    except (ValueError, TypeError) as error:
        typer.echo(f"Error: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(code) from error


def application() -> typer.Typer:
    """Return the application with every registered command."""
    app = typer.Typer(
        name="noisypairs",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # importing rich would double the time that --help takes
    )
    app.callback()(_root)
    for function, settings in _COMMANDS:
        app.command(context_settings=settings)(function)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        from noisypairs import __version__

        typer.echo(f"noisypairs {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Learn a classifier for single items from noisy answers to "are these two the same class?"."""


@contextmanager
def progress(total: int, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Give what to call as each step begins: a bar with time left on a terminal, else lines."""
    from rich.progress import Progress

    console = console_of(100, stderr=True, quiet=quiet)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total + 1)  # no step is over when the first begins

        def begin(step: str) -> None:
            bar.update(task, advance=1, description=step)
            if not console.is_terminal:
                console.print(f"{step} …")

        yield begin


def console_of(plain_width: int, **settings: Any) -> Console:
    """Return a console that prints text as it is: as wide as the terminal, else as asked."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, **settings)
    if not console.is_terminal:
        console.width = plain_width
    return console


def table(console: Console, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table for this console: ruled on a terminal, plain columns in a pipe or file."""
    from rich import box
    from rich.table import Table

    table = Table(*headings, box=box.SIMPLE_HEAD if console.is_terminal else None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    return table
