"""The command line. ``noisypairs --help`` must answer at once, so only typer is imported here.

A new command is one function under ``@command()``: its signature becomes the options, its
docstring the help, and whatever is slow to import is imported in its body. Exit codes: 0 fine,
1 bad data, 2 wrong use; both failures are one line on stderr (`failing_with`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

try:
    import typer
except ModuleNotFoundError:  # the core installs without it; `main` names the extra that brings it
    typer = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from noisypairs.demo import Story
    from noisypairs.noise import NoiseModel
    from noisypairs.theory.facts import Fact

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


def main() -> None:
    """Run the command line; without typer, say which extra brings it and exit with 2."""
    if typer is None:
        from noisypairs.errors import MissingExtra

        sys.stderr.write(f"{MissingExtra('typer', 'app', 'The command line')}\n")
        raise SystemExit(WRONG_USE)
    application()()


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


@command()
def demo(
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Decides every draw.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Learn tumours and a simulated crowd from noisy pairs, without any download, in seconds."""
    with failing_with(BAD_DATA):
        from noisypairs import demo as work

        with _progress(work.N_STEPS, quiet) as progress:
            result = work.run(seed, progress)
    if as_json:
        import json
        from dataclasses import asdict

        typer.echo(json.dumps(asdict(result), allow_nan=False, ensure_ascii=False))
    else:
        _tell(work.stories(result), f"{result.seconds:.0f} s in all, with seed {seed}.")


@contextmanager
def _progress(total: int, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Give what to call as each step begins: a bar with time left on a terminal, else lines."""
    from rich.progress import Progress

    console = _console(100, stderr=True, quiet=quiet)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=total + 1)  # no step is over when the first begins

        def begin(step: str) -> None:
            bar.update(task, advance=1, description=step)
            if not console.is_terminal:
                console.print(f"{step} …")

        yield begin


def _tell(stories: Sequence[Story], last: str) -> None:
    console = _console(100)
    for story in stories:
        console.print(story.title, style="bold")
        console.print(story.before, "", _table(console, story.headings, story.rows), "", sep="\n")
        for paragraph in ("\n".join(story.footnotes), story.after):
            console.print(paragraph, end="\n\n" if paragraph else "")
    console.print(last)


# Unknown options arrive among the rates, where a negative number is told from a misspelt option.
@command(ignore_unknown_options=True)
def theory(
    prior: Annotated[float, typer.Option(help="P(positive class), in (0, 1).")],
    rates: Annotated[
        list[str] | None, typer.Argument(help="The two flip rates, written after --noise NAME.")
    ] = None,
    noise: Annotated[
        str,
        typer.Option(
            metavar="NAME [RATES]",
            help="'pairing RHO_S RHO_D', 'labeling RHO_PLUS RHO_MINUS', or 'clean', without rates.",
        ),
    ] = "clean",
    n: Annotated[int, typer.Option("--n", help="Number of pairs.")] = 10_000,
    delta: Annotated[float, typer.Option(help="Chance that a bound fails.")] = 0.05,
    epsilon: Annotated[float, typer.Option(help="Excess risk to reach by enough pairs.")] = 0.1,
    loss: Annotated[str, typer.Option(help="logistic, squared or hinge.")] = "logistic",
    reach: Annotated[float, typer.Option(help="Linear models with |w||x| up to this.")] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what follows from noise and prior: matrices, weights, convexity, bounds, prior roots.

    Example: noisypairs theory --noise pairing 0.2 0.1 --prior 0.35 --n 10000
    """
    with failing_with(WRONG_USE):
        from noisypairs.theory import ModelClass
        from noisypairs.theory.facts import as_json as facts_as_json
        from noisypairs.theory.facts import known_facts

        source = _noise_model(noise, rates or [])
        model = ModelClass.linear(norm=reach, loss=loss)
        facts = known_facts(source, prior, n, delta, epsilon, model)
    if as_json:
        import json

        given = {"noise": noise, "rates": [float(word) for word in rates or []], "prior": prior}
        given |= {"n": n, "delta": delta, "epsilon": epsilon, "loss": loss, "reach": reach}
        typer.echo(json.dumps(given | facts_as_json(facts), allow_nan=False, ensure_ascii=False))
    else:
        named = " ".join([noise, *(rates or [])])
        _show(f"{named}; prior {prior:g}; {n:,} pairs; delta {delta:g}; {loss} loss", facts)


def _noise_model(name: str, words: Sequence[str]) -> NoiseModel:
    from noisypairs.errors import did_you_mean
    from noisypairs.noise import CleanPairs, LabelingNoise, PairingNoise

    known = ("clean", "labeling", "pairing")
    if name not in known:
        raise ValueError(f"unknown noise {name!r}: {did_you_mean(name, known)}")
    rates = [_rate(word) for word in words]
    wanted = 0 if name == "clean" else 2
    if len(rates) != wanted:
        raise ValueError(
            f"--noise {name} takes {wanted} rates, got {len(rates)} ({' '.join(words) or 'none'}): "
            "write --noise clean, --noise pairing 0.2 0.1 or --noise labeling 0.2 0.1"
        )
    if name == "clean":
        return CleanPairs()
    first, second = rates
    return PairingNoise(first, second) if name == "pairing" else LabelingNoise(first, second)


def _rate(word: str) -> float:
    from noisypairs.errors import did_you_mean

    try:
        return float(word)
    except ValueError:
        if word.startswith("-"):
            options = ["--noise", "--prior", "--n", "--delta", "--epsilon", "--loss", "--reach"]
            hint = did_you_mean(word, [*options, "--json"])
            raise ValueError(f"there is no option {word!r}: {hint}") from None
        raise ValueError(f"{word!r} is not a flip rate: expected a number in [0, 1)") from None


def _show(title: str, facts: Sequence[Fact]) -> None:
    console = _console(110)
    rows = []
    for fact in facts:
        same = fact.printed is not None and _text(fact.printed) == _text(fact.derived)
        rows.append((fact.label, _text(fact.derived), "=" if same else _text(fact.printed)))
    headings = ("quantity", "derived", "as printed in the paper")
    console.print(title, _table(console, headings, rows), sep="\n")
    for reason in dict.fromkeys(str(f.derived) for f in facts if isinstance(f.derived, Exception)):
        console.print(f"does not exist: {reason}")


def _console(plain_width: int, **settings: Any) -> Console:
    from rich.console import Console

    console = Console(highlight=False, markup=False, **settings)
    if not console.is_terminal:
        console.width = plain_width
    return console


def _table(console: Console, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(*headings, box=box.SIMPLE_HEAD if console.is_terminal else None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    return table


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case Exception():
            return "does not exist"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.6g}"
        case int():
            return f"{value:,}"
        case [[*_], *_]:
            return "\n".join("  ".join(f"{entry:9.6f}" for entry in row) for row in value)
        case tuple():
            return ", ".join(_text(entry) for entry in value) or "none"
        case _:
            return str(value)
