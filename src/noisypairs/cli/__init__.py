"""The command line, one file per command. ``noisypairs --help`` must answer at once.

A new command is one function under ``@command()`` in a file of its own, named in `COMMANDS`: its
signature becomes the options, its docstring the help, and whatever is slower to import than typer
is imported in its body.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

#: The files of the commands, in the order in which ``--help`` lists them.
COMMANDS = (
    "demo",
    "sample",
    "check",
    "fit",
    "name",
    "predict",
    "suspects",
    "inspect",
    "annotators",
    "plan",
    "formats",
    "ask",
    "judge",
    "reproduce",
    "theory",
)

#: How many threads OpenMP and the libraries of linear algebra use.
THREAD_SETTINGS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def application() -> typer.Typer:
    """Return the application with every command."""
    from noisypairs.cli import app

    modules = [f"noisypairs.cli.{name}" for name in COMMANDS]
    for module in modules:
        import_module(module)
    return app.application(modules)


def main() -> None:
    """Run the command line; without typer, say which extra brings it and exit with 2.

    Sums over several threads round differently, so that everything runs in one: files give the same
    result on any machine. Learners see to that by themselves, but not the encoding of the files.
    """
    os.environ |= dict.fromkeys(THREAD_SETTINGS, "1")  # read when the libraries are loaded
    from noisypairs.cli.defect import reported_defects
    from noisypairs.cli.stopping import stoppable

    with stoppable(), reported_defects():
        try:
            import typer  # noqa: F401 -- only whether it is there
        except ModuleNotFoundError:  # the core installs without it
            from noisypairs.errors import MissingExtra

            sys.stderr.write(f"{MissingExtra('typer', 'app', 'The command line')}\n")
            raise SystemExit(2) from None
        from noisypairs.cli.terminal import show_warnings_visibly

        show_warnings_visibly()
        application()()
