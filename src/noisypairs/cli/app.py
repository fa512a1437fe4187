"""What every command shares: registration and exit codes.

Exit codes: 0 fine, 1 bad data, 2 wrong use, 70 a defect of ours, 130 stopped by Ctrl-C, 143 by
SIGTERM; every failure is one line on stderr (`failing_with`, `defect.reported_defects`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import is_dataclass
from functools import wraps
from typing import Annotated, Any, NoReturn, get_type_hints

import typer
from typer.core import TyperGroup

from noisypairs.cli import stopping
from noisypairs.cli.terminal import one_line, say
from noisypairs.errors import MissingExtra

BAD_DATA, WRONG_USE = 1, 2

Command = Callable[..., None]
_COMMANDS: list[tuple[Command, dict[str, Any]]] = []
_HELD = ExitStack()


def command(**context_settings: Any) -> Callable[[Command], Command]:
    """Register a function as the command of its name, with click's context settings if any."""

    def register(function: Command) -> Command:
        _COMMANDS.append((function, context_settings))
        return function

    return register


def _parameters(options: Any) -> Iterator[inspect.Parameter]:
    """Yield every option of a function; of a parameter that is a dataclass, every field of it."""
    hints = get_type_hints(options, include_extras=True)
    for name, one in inspect.signature(options).parameters.items():
        if is_dataclass(hints[name]):
            yield from _parameters(hints[name])
        else:
            yield one.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)


def _values(options: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a function, or of a dataclass, from the options on the line."""
    found, hints = dict[str, Any](), get_type_hints(options)
    for name in inspect.signature(options).parameters:
        hint, nested = hints[name], is_dataclass(hints[name])
        found[name] = hint(**_values(hint, given)) if nested else given[name]
    return found


def hold(resource: AbstractContextManager[object]) -> None:
    """Enter a resource that is left when the command ends, however it ends."""
    _HELD.enter_context(resource)


@contextmanager
def failing_with(code: int) -> Iterator[None]:
    """Turn what goes wrong in the block into one line on stderr and an exit code.

    ``code`` is for what the user gave: `ValueError`, `TypeError`, and files that cannot be read or
    written (`OSError`). A missing package is wrong use, too little memory bad data, whatever the
    code. Other exceptions are defects of ours and pass.
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        _fail(str(error), code, error)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _fail(f"{place}{error.strerror or error}", code, error)
    except MissingExtra as error:
        _fail(str(error), WRONG_USE, error)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "noisypairs"):
            raise
        _fail(str(MissingExtra(package, "app", "This command")), WRONG_USE, error)
    except MemoryError as error:
        _fail("not enough memory for these files: try fewer items or columns", BAD_DATA, error)
    except KeyboardInterrupt as error:
        _fail(stopping.message(), stopping.told(error), error)


def _fail(message: str, code: int, error: BaseException) -> NoReturn:
    say(f"Error: {' '.join(message.split())}", err=True)
    raise typer.Exit(code) from error


#: What is raised where the words of a command are wrong, in whatever package typer keeps it.
_UsageError: type[Exception] = typer.BadParameter.__mro__[2]


@contextmanager
def _visible_usage_errors() -> Iterator[None]:
    try:
        yield
    except _UsageError as error:
        error.message = one_line(error.message)  # type: ignore[attr-defined]  # a click exception
        raise


class _Commands(TyperGroup):
    """The commands; a wrong word on the line is quoted without what would steer a terminal."""

    def make_context(self, *args: Any, **settings: Any) -> Any:
        with _visible_usage_errors():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: Any) -> Any:
        with _visible_usage_errors():
            return super().invoke(ctx)


def application(modules: Sequence[str]) -> typer.Typer:
    """Return the application with the commands of these modules, in their order."""
    app = typer.Typer(
        name="noisypairs",
        cls=_Commands,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # importing rich would double the time that --help takes
    )
    app.callback()(_root)
    for module in modules:
        for function, settings in _COMMANDS:
            if function.__module__ == module:
                app.command(context_settings=settings)(_whole(function))
    return app


def _whole(function: Command) -> Command:
    """Return the command with all its options one by one, as typer wants them.

    It ends well when it is stopped, wherever it is, and releases what it was given to `hold`.
    """

    @wraps(function)
    def command(**given: Any) -> None:
        stopping.expect_outputs({})
        try:
            with _HELD:
                function(**_values(function, given))
        except KeyboardInterrupt as error:
            _fail(stopping.message(), stopping.told(error), error)

    parameters = list(_parameters(function))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # for typer
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _print_version(wanted: bool) -> None:
    if wanted:
        from noisypairs import __version__

        say(f"noisypairs {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Learn a classifier for single items from noisy answers to "are these two the same class?".

    With files of your own: check, fit, predict; annotators and plan for those who collect answers.
    """
