"""``noisypairs theory``: what follows from noise and prior, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisypairs.cli import app, options, terminal

if TYPE_CHECKING:
    from noisypairs.noise import NoiseModel
    from noisypairs.theory import Fact


# Unknown options arrive among the rates: a negative number is no misspelt option.
@app.command(ignore_unknown_options=True)
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
    as_json: options.Json = False,
) -> None:
    """Show what follows from noise and prior, in numbers.

    Matrices, weights, convexity, bounds and prior roots, as derived and as printed in the paper.

    Example: noisypairs theory --noise pairing 0.2 0.1 --prior 0.35 --n 10000
    """
    with app.failing_with(app.WRONG_USE):
        from noisypairs.theory import ModelClass, facts_as_json, known_facts

        source = _noise_model(noise, rates or [])
        model = ModelClass.linear(norm=reach, loss=loss)
        facts = known_facts(source, prior, n, delta, epsilon, model)
    if as_json:
        given = {"noise": noise, "rates": [float(word) for word in rates or []], "prior": prior}
        given |= {"n": n, "delta": delta, "epsilon": epsilon, "loss": loss, "reach": reach}
        terminal.say_json(given | facts_as_json(facts))
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
    console = terminal.console_of(110)
    rows = []
    for fact in facts:
        same = fact.printed is not None and _text(fact.printed) == _text(fact.derived)
        rows.append((fact.label, _text(fact.derived), "=" if same else _text(fact.printed)))
    headings = ("quantity", "derived", "as printed in the paper")
    console.print(title, terminal.table(console, headings, rows, terminal.visible), sep="\n")
    for reason in dict.fromkeys(str(f.derived) for f in facts if isinstance(f.derived, Exception)):
        console.print(f"does not exist: {reason}")


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
