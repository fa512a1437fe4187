"""Pages of the reference that the code itself writes: names and commands."""

from __future__ import annotations

import importlib
import inspect
import types
from collections.abc import Iterator, KeysView, Mapping
from pathlib import Path
from typing import Any

import noisypairs

#: Where the pages go, below the source of the site; nothing else is kept there.
FOLDER = "generated"
#: Headings of the names that `noisypairs` offers, by the room in which a name lives.
HEADINGS = {
    "classifier": "Learners",
    "assess": "What is stated about a fit",
    "estimators": "Learners",
    "pairs": "Answers",
    "tables": "Answers",
    "sampling": "Answers",
    "joint": "Learners",
    "noise": "Noise",
    "errors": "Warnings and errors",
    "app": "Planning and experiments",
    "experiments": "Planning and experiments",
}
#: Public modules besides those of ``noisypairs.__all__``.
FURTHER = ("tables", "reduction", "torch", "app.files", "app.plan")


def names() -> dict[str, list[str]]:
    """Return the public names of the package that are no modules, by heading."""
    found: dict[str, list[str]] = {heading: [] for heading in HEADINGS.values()}
    for name in noisypairs.__all__:
        thing = getattr(noisypairs, name)
        if not isinstance(thing, types.ModuleType):
            found[HEADINGS[thing.__module__.split(".")[1]]].append(name)
    return found


def modules() -> list[str]:
    """Return the public modules: those that the package offers, then the further ones."""
    offered = [
        name
        for name in noisypairs.__all__
        if isinstance(getattr(noisypairs, name), types.ModuleType)
    ]
    return [*offered, *FURTHER]


def members(module: types.ModuleType) -> list[str]:
    """Return what a module offers: its ``__all__``, else what it defines itself."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, thing in vars(module).items()
        if name[0] != "_" and getattr(thing, "__module__", None) == module.__name__
    ]


def write_pages(source: str | Path) -> list[Path]:
    """Write all pages anew where they changed; return their paths."""
    folder = Path(source) / FOLDER
    written = pages()
    for old in folder.rglob("*.*") if folder.exists() else ():
        if old.relative_to(folder).as_posix() not in written:
            old.unlink()
    for name, text in written.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return [folder / name for name in written]


def pages() -> dict[str, str]:
    """Return the text of every page by its file name."""
    return dict(_pages())


def _pages() -> Iterator[tuple[str, str]]:
    yield "names.rst", _names_page()
    for found in names().values():
        for name in found:
            yield f"{name}.rst", _name_page(name)
    for name in modules():
        yield f"{name}.rst", _module_page(name)
    yield from _command_pages()


# ---------------------------------------------------------------- names


def first_line(thing: Any) -> str:
    """Return the claim of a docstring, its first sentence or line."""
    return (inspect.getdoc(thing) or "").partition("\n")[0].replace("|", "\\|")


def _heading(text: str, sign: str = "=") -> str:
    return f"{text}\n{sign * len(text)}\n"


def _rows(entries: list[tuple[str, str]]) -> str:
    rows = [f"   * - {first}\n     - {second}" for first, second in entries]
    return "\n".join([".. list-table::", "   :widths: 35 65", "", *rows, ""])


def _names_page() -> str:
    parts = [_heading("Python"), "Every public name, by what it is for.\n"]
    for heading, found in names().items():
        entries = [(f":doc:`{name}`", first_line(getattr(noisypairs, name))) for name in found]
        parts += [_heading(heading, "-"), _rows(entries)]
    entries = [(f":doc:`{name}`", first_line(_module(name))) for name in modules()]
    parts += [_heading("Modules", "-"), _rows(entries)]
    every = [*(name for found in names().values() for name in found), *modules()]
    parts.append("\n".join([".. toctree::", "   :hidden:", "", *(f"   {one}" for one in every)]))
    return "\n".join(parts) + "\n"


def _module(name: str) -> types.ModuleType:
    return importlib.import_module(f"noisypairs.{name}")


def _name_page(name: str) -> str:
    thing = getattr(noisypairs, name)
    kind = "autoclass" if inspect.isclass(thing) else "autofunction"
    lines = [_heading(name), ".. currentmodule:: noisypairs\n", f".. {kind}:: {name}"]
    if kind == "autoclass" and not issubclass(thing, Exception):
        lines += ["   :members:", "   :inherited-members: BaseEstimator, ClassifierMixin"]
    return "\n".join(lines) + "\n"


def _module_page(name: str) -> str:
    module = _module(name)
    full = f"noisypairs.{name}"
    lines = [_heading(full), f".. automodule:: {full}", "   :no-members:\n"]
    lines.append(f".. currentmodule:: {full}\n")
    for member in members(module):
        thing = getattr(module, member)
        shown = getattr(noisypairs, member, None) is thing
        if shown:
            lines.append(f"* :doc:`{member}`: {first_line(thing)}\n")
        elif inspect.isclass(thing):
            inherited = "" if issubclass(thing, Exception) else "   :members:\n"
            lines.append(f".. autoclass:: {member}\n{inherited}")
        elif inspect.isfunction(thing):
            lines.append(f".. autofunction:: {member}\n")
        else:
            lines.append(f".. data:: {member}\n\n   {_shown(thing)}\n")
    return "\n".join(lines) + "\n"


def _shown(value: Any) -> str:
    """Return a constant as text: what is in it, or what it is."""
    if isinstance(value, Mapping | KeysView):
        return "Has: " + ", ".join(f"``{key}``" for key in value)
    return f"``{value!r}``"


# ---------------------------------------------------------------- commands


def commands() -> dict[str, Any]:
    """Return the commands of the command line, by name, in its order."""
    import typer.main

    from noisypairs import cli

    return dict(typer.main.get_command(cli.application()).commands)  # type: ignore[attr-defined]


def _command_pages() -> Iterator[tuple[str, str]]:
    found = commands()
    lines = [
        "# Command line",
        "",
        "The extra `app` brings the command `noisypairs`. Every page below is what the command",
        "says of itself, as `noisypairs COMMAND --help` prints it.",
        "",
        "| command | what it does |",
        "|---|---|",
        *(f"| [`{name}`](command-{name}.md) | {_first(one)} |" for name, one in found.items()),
        "",
        "Exit codes: 0 for success, 1 for bad data, 2 for wrong use, 70 for a defect of ours (with",
        "a log to report it by), 130 after Ctrl-C and 143 after SIGTERM.",
        "",
        "```{toctree}",
        ":hidden:",
        *(f"command-{name}" for name in found),
        "```",
    ]
    yield "commands.md", "\n".join(lines) + "\n"
    for name, one in found.items():
        yield f"command-{name}.md", _command_page(name, one)


def _first(command: Any) -> str:
    return str((command.help or "").strip().partition("\n")[0])


def _command_page(name: str, command: Any) -> str:
    shown = [one for one in command.params if not getattr(one, "hidden", False)]
    arguments = [_value(one) for one in shown if one.param_type_name == "argument"]
    lines = [f"# noisypairs {name}", ""]
    for paragraph in inspect.cleandoc(command.help or "").replace("\b\n", "").split("\n\n"):
        text = " ".join(paragraph.split())
        example = text.removeprefix("Example: ")
        lines += ["```sh", example, "```", ""] if example != text else [_plain(text), ""]
    lines += ["```text", " ".join(["noisypairs", name, "[OPTIONS]", *arguments]), "```", ""]
    lines += ["| argument or option | meaning |", "|---|---|", *map(_parameter_row, shown)]
    return "\n".join(lines) + "\n"


def _value(parameter: Any) -> str:
    """Return how the value of an argument or option is written."""
    value = str(parameter.metavar or parameter.name.upper())
    return (
        f"[{value}]"
        if parameter.param_type_name == "argument" and not parameter.required
        else value
    )


def _parameter_row(parameter: Any) -> str:
    meaning = _plain(parameter.help or "")
    if parameter.param_type_name == "argument":
        return f"| `{_value(parameter)}` | {meaning} |"
    names = ", ".join(f"`{one}`" for one in (*parameter.opts, *parameter.secondary_opts))
    value = "" if parameter.is_flag else f" `{_value(parameter)}`".replace("|", "\\|")
    default = parameter.default
    if isinstance(default, int | float | str) and not isinstance(default, bool):
        meaning += f" Default: `{default}`."
    return f"| {names}{value} | {meaning} |"


def _plain(text: str) -> str:
    """Return text in which no sign is taken for Markdown or for a column of a table."""
    for sign in ("|", "*", "<", "[", "_"):
        text = text.replace(sign, f"\\{sign}")
    return text
