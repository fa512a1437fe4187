"""``noisypairs reproduce`` and ``noisypairs report``: the paper's tables and figures, and ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from noisypairs.cli import app, options, progress, stopping, terminal

if TYPE_CHECKING:
    from noisypairs.experiments import Run, Spec
    from noisypairs.graph.progress import Stage


@app.command()
def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(
            help="table1, table2, figure1, figure2, figure3, efficiency, flat-priors or all."
        ),
    ],
    datasets: Annotated[str, typer.Option(help="Only these data sets: NAME,NAME.")] = "",
    repeats: Annotated[int, typer.Option(help="Splits of each table.")] = 3,
    pairs_per_item: Annotated[
        str, typer.Option(help="Pairs per training item in the tables: N,N.")
    ] = "20",
    methods: Annotated[str, typer.Option(help="Only these methods: NAME,NAME.")] = "",
    jobs: Annotated[int, typer.Option(help="Processes; -1 for one per core.")] = -1,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Seed of the first split.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder of the records.")] = Path("reproduction"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a folder.")] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run the experiments behind a table or figure of the paper.

    A record of every cell is kept in a folder. After a stop, run the same command with --resume:
    finished cells are kept, damaged records set aside. noisypairs report shows the folder. figure1
    is drawn at once.

    Example: noisypairs reproduce table1 --datasets cancer,diabetes --repeats 1 --out mine
    """
    with app.failing_with(app.WRONG_USE):
        from noisypairs.experiments import Choice, plan, run

        if jobs == 0:
            raise ValueError("--jobs 0: expected a number of processes, or -1 for one per core")
        choice = Choice(
            options.words(datasets), options.words(methods), _numbers(pairs_per_item), repeats, seed
        )
        specs = plan(experiment, choice)
        if not specs and experiment != "figure1":
            raise ValueError("no cell of this experiment has these data sets and methods")
        _require_network(specs)
    if experiment == "figure1":
        _draw_figure1(out, as_json)
        return
    from noisypairs.experiments.records import FolderMismatch

    with app.failing_with(app.BAD_DATA), progress.shown(quiet) as whole:
        try:
            settings: Any = {"seed": seed, "n_jobs": jobs, "resume": resume}
            records = run(specs, out, **settings, progress=_mover(whole), note=_note)
        except FolderMismatch as error:
            terminal.say(f"Error: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(app.WRONG_USE) from error
        except (KeyboardInterrupt, BrokenProcessPool) as error:
            _say_what_is_kept(out, specs, error)
    refused = sum(record.refused is not None for record in records.values())
    if as_json:
        terminal.say_json({"out": str(out), "records": len(records), "refused": refused})
    else:
        terminal.say(f"{len(records)} cells, {refused} refused, in {out}: noisypairs report {out}")


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="Folder of noisypairs reproduce.")],
    out: Annotated[
        Path | None, typer.Option(help="Where to write; by default FOLDER/report.")
    ] = None,
    docs: Annotated[
        Path | None, typer.Option(help="Also renew the tables of reproduction*.md in this folder.")
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Show what noisypairs reproduce measured: tables, figures.

    Makes one HTML file, Markdown and LaTeX tables, a CSV and SVG figures of a folder's records.
    The report on files of your own is another: noisypairs fit … --report report.html.

    Example: noisypairs report mine --out mine/report
    """
    with app.failing_with(app.WRONG_USE):
        from noisypairs.experiments.report import build, update_docs, write_report

        found = build(folder)
        paths = write_report(found, folder / "report" if out is None else out, force=force)
        if docs is not None:
            paths += update_docs(found, docs)
    if as_json:
        terminal.say_json({"records": len(found.runs), "files": list(map(str, paths))})
    else:
        terminal.say(f"{len(found.runs)} records: {paths[0]}, and {len(paths) - 1} files beside")


def _draw_figure1(out: Path, as_json: bool) -> None:
    """Write the picture of the two noise models, which needs no run."""
    with app.failing_with(app.WRONG_USE):
        from noisypairs.app.files import atomic_write
        from noisypairs.experiments.figures import figure1
        from noisypairs.experiments.report import standing_alone

        if out.exists() and not out.is_dir():
            raise ValueError(f"--out {out} is a file: give the name of a folder")
        out.mkdir(parents=True, exist_ok=True)
        path = atomic_write(out / "figure1.svg", standing_alone(figure1()), force=True)
    if as_json:
        terminal.say_json({"out": str(out), "records": 0, "refused": 0})
    else:
        terminal.say(f"Drawn, nothing to run: {path}")


def _say_what_is_kept(out: Path, specs: Sequence[Spec], error: BaseException) -> NoReturn:
    """End a run that was stopped, or lost a worker: finished cells are kept."""
    from noisypairs.experiments.records import finished

    done = finished(out)
    kept = f"{sum(spec in done for spec in specs)} of {len(specs)} cells are kept in {out}"
    how = f"Go on with the same command and --out {out} --resume"
    if isinstance(error, KeyboardInterrupt):
        terminal.say(f"Stopped; {kept}. {how}", err=True)
        raise typer.Exit(stopping.told(error)) from None
    why = "a worker was killed, perhaps for too little memory: try fewer --jobs"
    terminal.say(f"Error: {why}; {kept}. {how}", err=True)
    raise typer.Exit(app.BAD_DATA) from error


def _note(text: str) -> None:
    terminal.say(f"Note: {text}", err=True)


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(word) for word in options.words(text))
    except ValueError:
        raise ValueError(f"--pairs-per-item {text!r}: expected numbers, such as 20,2") from None


def _require_network(specs: Sequence[Spec]) -> None:
    """Say at once, not in a worker, that the network's package is missing."""
    learned = {"pn", "sd-clean", "t-loss", "t-loss-printed", "sd-loss", "weighted", "unweighted"}
    if any(spec.model == "network" and spec.method in learned for spec in specs):
        import noisypairs.torch  # noqa: F401


def _mover(whole: Stage) -> Callable[[Run], None]:
    """Return what to call after each group of cells."""
    from noisypairs.graph.progress import At

    def move(state: Run) -> None:
        cells = f"{state.before + state.done} of {state.total} cells. {state.latest}"
        whole.move(At(cells.rstrip(". ")), state.share, 0.0)

    return move
