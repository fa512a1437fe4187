"""Run specs and keep their records: in parallel, one thread each, resuming a stopped run.

The unit of parallel work is the group of specs of one problem, which share data and tuning; every
method appends its own record as it finishes. Nothing here names a joblib backend, so
``joblib.parallel_config`` chooses where the groups run. A result depends on its spec alone.
"""

from __future__ import annotations

import platform
import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from noisypairs import __version__, datasets
from noisypairs.errors import NotIdentifiable, NotIdentifiableWarning
from noisypairs.experiments.learners import Learners, Method, register, registered
from noisypairs.experiments.problem import OwnTable, Problem, make_problem
from noisypairs.experiments.records import (
    RECORDS,
    Record,
    append,
    load_records,
    only_run,
    open_folder,
)
from noisypairs.experiments.spec import Spec
from noisypairs.metrics import accuracy_up_to_names

#: Raised whenever a change makes results of the same spec come out differently.
PROTOCOL = 1
PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "joblib")
Group = tuple[Spec, ...]
#: How a problem's size turns into time, roughly: thousands of training items of the large tables.
_ITEMS = {"adult": 37.0, "magic": 14.0, "gaussians": 15.0, "banana": 4.0, "spambase": 3.5}


@dataclass(frozen=True)
class Run:
    """How far a run is: specs asked for, done before it began, done now, and the share of work."""

    total: int
    before: int
    done: int
    share: float
    latest: str


def run(
    specs: Sequence[Spec],
    folder: Path,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
    resume: bool = True,
    table: OwnTable | None = None,
    progress: Callable[[Run], None] = lambda _: None,
    note: Callable[[str], None] = lambda _: None,
) -> dict[Spec, Record]:
    """Run the specs that the folder has no record of yet; return the records of all of them.

    ``table`` makes the problems of specs that are about no table of `datasets`, see `compare`.
    ``progress`` is called at the start and after every group, ``note`` with what else there is to
    say: damaged records that were set aside. Raises `FolderMismatch` if the folder holds another
    configuration, records while ``resume`` is False, or another run that goes on.
    """
    decides = configuration(specs, seed, table)
    with only_run(folder):
        if set_aside := open_folder(folder, decides, resume):
            note(set_aside)
        return _run(specs, folder, n_jobs, progress, table or make_problem)


def _run(
    specs: Sequence[Spec],
    folder: Path,
    n_jobs: int | None,
    progress: Callable[[Run], None],
    make: Callable[[Spec], Problem],
) -> dict[Spec, Record]:
    known = load_records(folder)
    groups = grouped(spec for spec in specs if spec not in known)
    before = sum(spec in known for spec in specs)
    progress(Run(len(specs), before, 0, 0.0, ""))
    whole, over, done = sum(map(cost, groups)), 0.0, 0
    run_one = partial(
        run_group, path=(folder / RECORDS).absolute(), make=make, methods=registered()
    )
    tasks = (delayed(run_one)(group) for group in groups)
    with _results(tasks, n_jobs) as results:
        for group in results:
            over, done = over + cost(group), done + len(group)
            progress(Run(len(specs), before, done, over / whole, _name(group)))
    records = load_records(folder)
    return {spec: records[spec] for spec in specs}


@contextmanager
def _results(tasks: Iterable[Any], n_jobs: int | None) -> Iterator[Iterator[Group]]:
    """Run the tasks and give their results; no worker outlives the block.

    Ctrl-C in a terminal goes to all processes. Workers inherit that it is blocked, and are ended by
    the one that it stops; their own reaction would be a traceback each.
    """
    with _ctrl_c_blocked():
        results = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks)
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that tasks are cancelled is meant
            results.close()


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """Hold Ctrl-C back until the block ends; for processes started in it, for ever."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_group(
    group: Group,
    path: Path,
    make: Callable[[Spec], Problem],
    methods: Mapping[str, tuple[str, Method]],
) -> Group:
    """Run the specs of one problem on one thread, appending each record; return the group.

    ``methods`` are those that were registered, maybe in another process.
    """
    for name, (heading, method) in methods.items():
        register(name, heading, method)
    with threadpool_limits(1):
        for record in records_of(group, make):
            append(path, record)
    return group


def records_of(group: Group, make: Callable[[Spec], Problem] = make_problem) -> Iterator[Record]:
    """Yield the record of each spec of one problem as it is done."""
    learners = Learners(group[0], make(group[0]))
    for spec in group:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", NotIdentifiableWarning)
            record = _record(spec, learners)
        said = sorted({str(warning.message) for warning in caught})
        yield Record(**{**vars(record), "details": {**record.details, "warnings": said}})


def _record(spec: Spec, learners: Learners) -> Record:
    problem, start, refused = learners.problem, time.perf_counter(), None
    n_pairs = 0 if spec.density == 0 else problem.pairs.n_pairs
    details: dict[str, Any] = {"n_train": len(problem.y), "n_test": len(problem.y_test)}
    details |= {"n_pairs": n_pairs}
    try:
        predict, found = learners.fit(spec.method)
        accuracy = accuracy_up_to_names(problem.y_test, predict(problem.X_test))
        details |= found
    except NotIdentifiable as error:
        accuracy, refused = problem.larger_class, str(error)
    seconds = round(time.perf_counter() - start, 3)
    return Record(spec, accuracy, "matched", refused, seconds, details)


def grouped(specs: Iterable[Spec]) -> list[Group]:
    """Return the specs by problem, the slowest first, so that no long group comes last."""
    groups: dict[tuple[Any, ...], list[Spec]] = {}
    for spec in specs:
        groups.setdefault(spec.problem(), []).append(spec)
    return sorted(map(tuple, groups.values()), key=cost, reverse=True)


def cost(group: Group) -> float:
    """Return about how long a group takes, in no unit; the time left is estimated from it."""
    first = group[0]
    items = _ITEMS.get(first.dataset, 1.0)
    network = 3.0 if first.model == "network" else 0.2
    tuned = {"t-loss", "t-loss-printed", "weighted"} & {spec.method for spec in group}
    joint = any(spec.method == "joint" for spec in group)
    return (len(group) + 5 * bool(tuned)) * network * min(items, 4.0) + 2.0 * joint * items


def configuration(
    specs: Sequence[Spec], seed: int, table: OwnTable | None = None
) -> dict[str, Any]:
    """Return what decides the results, and on what they were computed; reads every table."""
    data = {} if table is None else {table.name: table.digests()}
    for name in dict.fromkeys(spec.dataset for spec in specs):
        if name != "gaussians" and name not in data:
            bunch = datasets.load(name, return_X_y=False)
            data[name] = {"source": bunch.source, "sha256": bunch.sha256}
    return {
        "decides": {"noisypairs": __version__, "protocol": PROTOCOL, "seed": seed},
        "data": data,
        "environment": {"python": platform.python_version(), **_versions()},
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _name(group: Group) -> str:
    first = group[0]
    rates = "" if first.family == "clean" else f" {first.rates}"
    return f"{first.dataset}, {first.family}{rates}, {first.density:g} per item, seed {first.seed}"
