"""``noisypairs judge``: programs and language models answer pairs, within a budget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisypairs.cli import app, options, progress, terminal

if TYPE_CHECKING:
    from noisypairs.app.judge import Judge, Judged

#: Prompts that ``--dry-run`` shows, and characters of a name in the store.
SHOWN, LONGEST_NAME = 2, 50


@app.command()
def judge(
    *,
    items: options.Items,
    store: Annotated[
        Path | None, typer.Option(help="SQLite file of the answers; made if not there.")
    ] = None,
    endpoint: Annotated[
        str | None, typer.Option(metavar="URL", help="OpenAI-compatible chat endpoint.")
    ] = None,
    model: Annotated[list[str] | None, typer.Option(help="Model to ask; may be repeated.")] = None,
    command: Annotated[
        list[str] | None,
        typer.Option(help="Program to ask: one JSON line in, one line out; may be repeated."),
    ] = None,
    key_env: Annotated[
        str | None, typer.Option(help="Name of the environment variable that holds the key.")
    ] = None,
    question: Annotated[
        str, typer.Option(help='What is asked; "yes" must mean the same.')
    ] = "Are these two the same?",
    template: Annotated[
        list[Path] | None,
        typer.Option(help="File of a prompt with {left}, {right}, {question}; may be repeated."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(help="Columns to send, such as name,city; all if not given.")
    ] = None,
    images: options.Images = None,
    pairs: Annotated[
        Path | None, typer.Option(help="Only these pairs, each by itself: two columns of ids.")
    ] = None,
    gold: Annotated[
        Path | None, typer.Option(help="Answers of people to random pairs: left, right, same.")
    ] = None,
    people: Annotated[
        Path | None, typer.Option(help="CSV file to write, of the pairs that people should answer.")
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(help='What answers mean: "The two refer to the same*=same", or a file.'),
    ] = None,
    budget: Annotated[int, typer.Option(min=1, help="Answers to get, in all runs.")] = 500,
    max_cost: Annotated[
        float | None, typer.Option(min=0.0, help="What all runs may cost; needs --prices.")
    ] = None,
    prices: Annotated[
        str | None, typer.Option(metavar="IN,OUT", help="Prices of a million tokens.")
    ] = None,
    parallel: Annotated[int, typer.Option(min=1, max=256, help="Requests at a time.")] = 4,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one answer.")] = 60.0,
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens of one answer.")] = 64,
    body: Annotated[
        str, typer.Option(metavar="JSON", help="More for every request; null leaves out.")
    ] = "{}",
    repeat: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of pairs asked twice.")
    ] = 0.1,
    classes: options.Classes = None,
    target: Annotated[float, typer.Option(help="The accuracy at which it is enough.")] = 0.95,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show prompts and expected cost; ask nothing.")
    ] = False,
    keep_raw: Annotated[
        Path | None, typer.Option(help="File for every reply as it came, as JSON lines.")
    ] = None,
    id: options.Id = None,
    seed: options.Seed = 0,
    show: options.Writing,
) -> None:
    """Let programs or language models answer pairs.

    The same command goes on where it was stopped; --budget and --max-cost count all runs. People
    answer the rest in `noisypairs ask` with the same store, or in the file of --people.

    Example: noisypairs judge items.csv --store answers.db --endpoint http://localhost:8000/v1
    --model llama --budget 500
    """
    with app.failing_with(app.WRONG_USE):
        if store is None and not dry_run:
            raise ValueError("name a file for the answers: --store answers.db")
        options.require_accuracy(target)
        from noisypairs.app.files import read_meanings
        from noisypairs.app.fit.request import class_numbers
        from noisypairs.app.judge import Limits

        show.reserve({"the pairs for people": people}, [items, pairs, gold, store])
        judges = _judges(
            endpoint, model, command, question, template, key_env, max_tokens, body, timeout
        )
        limits = Limits(budget, max_cost, _prices(prices), parallel)
        shown = None if columns is None else list(options.words(columns))
        given: dict[str, Any] = {"columns": shown, "images": images, "id": id, "pairs": pairs}
        numbers = class_numbers(classes)
        words = None if answers is None else read_meanings(answers)
    with app.failing_with(app.BAD_DATA):
        if dry_run:
            _print_plan(items, judges, limits, given, show.as_json)
            return
        from noisypairs.app.judge import judge as ask_judges
        from noisypairs.graph.progress import At

        with progress.shown(show.quiet) as stage:
            found = ask_judges(
                items,
                judges,
                store,
                **vars(limits),
                **given,
                gold=gold,
                n_classes=numbers,
                target=target,
                repeat=repeat,
                words=words,
                keep_raw=keep_raw,
                seed=seed,
                tell=lambda n: stage.move(
                    At(f"asking, {n:,} of {budget:,} answers"), n / budget, 1.0 - n / budget
                ),
            )
        if people is not None:
            from noisypairs.app.files import table_writer

            show.write(people, lambda: table_writer(people, show.raw)(found.people))
    if show.as_json:
        terminal.say_json(found.to_dict() | {"store": str(store)})
    else:
        _print_found(found, items, store, people)


def _judges(
    endpoint: str | None,
    models: list[str] | None,
    commands: list[str] | None,
    question: str,
    templates: list[Path] | None,
    key_env: str | None,
    max_tokens: int,
    body: str,
    timeout: float,
) -> dict[str, Judge]:
    """Return every model and program with every prompt, by a name that begins with its family."""
    from noisypairs.app.judge import Command, Endpoint, Prompt
    from noisypairs.app.judge.prompt import TEMPLATE

    if (endpoint is None) != (not models):
        raise ValueError("--endpoint URL and --model NAME belong together: give both, or neither")
    if endpoint is None and not commands:
        raise ValueError("name who answers: --endpoint URL --model NAME, or --command ./judge.sh")
    if not question.strip():
        raise ValueError("--question: expected some words, such as 'Are these two the same?'")
    try:
        more = json.loads(body)
    except ValueError:
        more = None
    if not isinstance(more, dict):
        raise ValueError('--body: expected a JSON object, such as {"temperature": null}')
    texts = {path.stem: path.read_text(encoding="utf-8") for path in templates or []}
    found: dict[str, Judge] = {}
    for prompt_name, text in (texts or {"question": TEMPLATE}).items():
        prompt = Prompt(question, text)
        for one in models or []:
            judge: Judge = Endpoint(str(endpoint), one, prompt, key_env, max_tokens, more, timeout)
            _put(found, one, prompt_name, judge)
        for one in commands or []:
            _put(found, Path(one.split()[0]).name, prompt_name, Command(one, prompt, timeout))
    return found


def _put(found: dict[str, Judge], family: str, prompt: str, judge: Judge) -> None:
    end = f"/{prompt[:20]}"
    name = family.replace("/", "-")[-(LONGEST_NAME - len(end)) :] + end
    if name in found:
        raise ValueError(f"two judges would be called {name!r}: rename one of the files")
    found[name] = judge


def _prices(given: str | None) -> tuple[float, float] | None:
    if given is None:
        return None
    try:
        into, out = map(float, given.split(","))
    except ValueError:
        raise ValueError(
            f"--prices {given}: expected two numbers, for a million tokens in and out: 0.15,0.6"
        ) from None
    return into, out


def _print_plan(
    items: Path, judges: dict[str, Judge], limits: Any, given: dict[str, Any], as_json: bool
) -> None:
    from noisypairs.app.judge.asking import expected

    found = expected(items, judges, limits, SHOWN, **given)
    if as_json:
        terminal.say_json(found)
        return
    for name, text in found["prompts"]:
        terminal.say(f"--- {name}\n{text}\n")
    terminal.say(f"About {found['tokens']:,.0f} tokens for {limits.budget:,} answers.")
    if limits.prices is not None:
        terminal.say(f"Expected cost: about {found['cost']:.2f}, at most {found['most']:.2f}.")
    terminal.say("Nothing was asked.")


def _print_found(found: Judged, items: Path, store: Path | None, people: Path | None) -> None:
    for line in found.lines():
        terminal.say(terminal.one_line(line))
    if len(found.people):
        where = (
            f" They are also in {people}: answer them there, and give it as --gold."
            if people
            else ""
        )
        terminal.say(f"Open them for people: noisypairs ask {items} --store {store}.{where}")
    terminal.say(f"Next: noisypairs fit {items} {store}")
