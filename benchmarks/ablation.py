"""What every number that decides buys: each at half and at twice its value.

    python benchmarks/ablation.py [--only NAME ...] [--others] [--quick] [--print] [--label 0.3.0]

For every constant of `noisypairs.joint.choices`, or with ``--others`` of the other modules on the
way of a fit, the package is copied to a temporary folder with one value changed, and the same
problems are fitted there: two classes that people confuse, 12 classes of an open number, the same
item in several rows, plain problems, random answers, and rows of the paper's tables at 2 and 20
pairs per item. Differences are paired, problem by problem.

The tables, for docs/choices.md, show the points of accuracy gained over the value as it is, ± s.e.;
how much further the stated accuracy is from the truth, in points; changes of the number of
classes, and of refusals; and the processor time as a multiple. "=" says that every number of every
fit is the same. Runs what ``records/ablation.jsonl`` lacks, about 20 seconds of one processor per
value. --quick fits the first problem of each kind, for the constants of --only or three others,
and records nothing.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import noisypairs
from protocol import machine, mean_error, read, run, select, versions

NAME = "ablation"
SOURCE = Path(noisypairs.__file__).parent
CHOICES = "joint/choices.py"
#: Limits of time and memory, which problems of this size do not reach.
LIMITS = ("CALIBRATION_ITEMS", "RACE_ITEMS", "SEARCH_PAIRS")
#: Other files on the way of a fit whose numbers are of methods, not of memory or rounding.
OTHERS = (
    "joint/starts.py",
    "joint/search.py",
    "estimators/inner/features.py",
    "estimators/inner/classifiers.py",
    "noise/model.py",
    "noise/people.py",
    "noise/clarity.py",
    "noise/similarity.py",
    "noise/pair_error.py",
    "graph/propagation.py",
)
HALF, TWICE = 0.5, 2.0
QUICK = ("CERTAIN", "RIDGE_PENALTY", "ONE_ERROR")
PAPER = (("cancer", (0.1, 0.2)), ("diabetes", (0.1, 0.2)), ("ionosphere", (0.3, 0.3)))
DENSITIES = (2, 20)


# --- constants ------------------------------------------------------------------------------------


def constants(path: str) -> Iterator[tuple[str, float]]:
    """Yield the names and values of the numbers that a source file assigns at its top level."""
    for node in ast.parse((SOURCE / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign):
            for name, value in named_values(node):
                number = ast.literal_eval(value) if is_number(value) else None
                if isinstance(number, int | float):
                    yield name, number


def named_values(node: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    """Yield each name of an assignment with its value: of a tuple one by one."""
    for target in node.targets:
        if isinstance(target, ast.Name):
            yield target.id, node.value
        elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            for one, value in zip(target.elts, node.value.elts, strict=True):
                if isinstance(one, ast.Name):
                    yield one.id, value


def is_number(value: ast.expr) -> bool:
    """Whether an expression is a number, perhaps with a sign."""
    plain = value.operand if isinstance(value, ast.UnaryOp) else value
    return isinstance(plain, ast.Constant) and type(plain.value) in (int, float)


def scaled(value: float, factor: float) -> float:
    """Return a value times a factor; a whole number stays whole, and at least one."""
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


def with_value(text: str, name: str, factor: float) -> str:
    """Return the text of a source file with one constant multiplied."""
    lines = text.splitlines(keepends=True)
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            for own, value in named_values(node):
                if own == name:
                    line, start, end = value.lineno - 1, value.col_offset, value.end_col_offset
                    new = repr(scaled(ast.literal_eval(value), factor))
                    lines[line] = lines[line][:start] + new + lines[line][end:]
                    return "".join(lines)
    raise ValueError(f"no constant {name} is assigned there")


# --- problems -------------------------------------------------------------------------------------


def problems() -> dict[str, list[Callable[[], Any]]]:
    """Return the kinds of problems, each a list of functions that draw one."""
    import trap_problems as traps
    from noisypairs.experiments.problem import make_problem
    from noisypairs.experiments.spec import Spec

    def twelve(seed: int) -> Any:
        rng = np.random.default_rng([seed, 12])
        means = traps.random_means(12, 6, 2.5, rng)
        X, y = traps.gaussian_items(means, 300, rng)
        noise = noisypairs.PairingNoise(0.2, 0.1)
        pairs = noisypairs.sample_pairs(y, 20 * len(y), noise, random_state=seed)
        return traps.Problem(
            X, pairs, y, {"n_classes": "auto"}, traps.gaussian_items(means, 2000, rng)
        )

    def coins(seed: int) -> Any:
        rng = np.random.default_rng([seed, 13])
        left, right = traps.random_questions(200, 1000, rng)
        pairs = noisypairs.Pairs(left, right, rng.random(1000) < 0.5, 200)
        return traps.Problem(rng.normal(size=(200, 4)), pairs, None)

    def row(dataset: str, rates: tuple[float, float], density: int) -> Any:
        spec = Spec(
            dataset=dataset, method="joint", family="pairing", rates=rates, density=density, seed=0
        )
        drawn = make_problem(spec)
        new = drawn.X_test, drawn.y_test
        return traps.Problem(drawn.X, drawn.pairs, drawn.y, {"n_classes": 2}, new)

    return {
        "confused": [partial(traps.confused_gaussians, seed) for seed in range(3)],
        "12 classes": [partial(twelve, seed) for seed in range(2)],
        "repeated": [partial(traps.copies, seed, 0.3) for seed in range(3)],
        "plain": [partial(traps.plain, seed) for seed in range(8)],
        "random": [partial(coins, seed) for seed in range(2)],
        "paper": [partial(row, *one, density) for density in DENSITIES for one in PAPER],
    }


def fitted(problem: Any) -> dict[str, Any]:
    """Fit one problem: what is found, and how right it is."""
    from noisypairs.metrics import accuracy_up_to_names

    model = noisypairs.JointPairClassifier(random_state=0, **problem.settings)
    start = time.process_time()
    try:
        model.fit(problem.X, problem.pairs)
    except noisypairs.NotIdentifiable:
        return {"refused": True, "seconds": time.process_time() - start}
    found: dict[str, Any] = {"refused": False, "seconds": time.process_time() - start}
    found |= {"n_classes": len(model.classes_), "likelihood": model.log_likelihood_}
    if problem.y is None:
        return found
    compared = accuracy_up_to_names(problem.y, model.item_proba_.argmax(axis=1))
    found["accuracy"] = compared
    if problem.new is not None:
        found["accuracy"] = accuracy_up_to_names(problem.new[1], model.predict(problem.new[0]))
    found["off"] = abs(float(model.item_proba_.max(axis=1).mean()) - compared)
    return found


def fit_all(first: bool) -> dict[str, list[dict[str, Any]]]:
    """Fit every problem, or the first one of each kind."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: dict[str, list[dict[str, Any]]] = {}
        for kind, draws in problems().items():
            found[kind] = [fitted(draw()) for draw in (draws[:1] if first else draws)]
        return found


def task(path: str, constant: str, factor: float, version: str, first: bool = False) -> Any:  # noqa: ARG001 -- a label
    """Fit the problems in a copy of the package with one value changed."""
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "noisypairs"
        shutil.copytree(SOURCE, copied, ignore=shutil.ignore_patterns("__pycache__"))
        if constant:
            file = copied / path
            file.write_text(with_value(file.read_text(encoding="utf-8"), constant, factor))
        words = [sys.executable, __file__, "--child", *(["--quick"] if first else [])]
        around = os.environ | {"PYTHONPATH": folder, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(words, env=around, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {"fits": found}


def cells(paths: Sequence[str], only: Sequence[str], version: str) -> list[dict[str, Any]]:
    """Return the fits as they are, then every constant at half and at twice its value."""
    found = [{"path": "", "constant": "", "factor": 1.0, "version": version}]
    for path in paths:
        for name, _ in constants(path):
            if name in only or not (only or name in LIMITS):
                found += [
                    {"path": path, "constant": name, "factor": factor, "version": version}
                    for factor in (HALF, TWICE)
                ]
    return found


# --- the table ------------------------------------------------------------------------------------


def compared(base: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return the cells of one value: accuracy by kind, then what changed over all problems."""
    if "error" in other:
        return [other["error"], *[""] * 9]
    kinds = [kind for kind in base["fits"] if kind != "random"]
    both = {
        kind: list(zip(base["fits"][kind], other["fits"][kind], strict=True))
        for kind in base["fits"]
    }
    every = [two for kind in both for two in both[kind]]
    cells = []
    for kind in kinds:
        fits = [(one, two) for one, two in both[kind] if not one["refused"] | two["refused"]]
        gains = [100 * (two["accuracy"] - one["accuracy"]) for one, two in fits]
        cells.append(signed(*mean_error(gains)) if gains else "")
    further = [
        100 * (two["off"] - one["off"]) for one, two in every if "off" in one and "off" in two
    ]
    numbers = sum(one.get("n_classes") != two.get("n_classes") for one, two in every)
    refused = sum(two["refused"] - one["refused"] for one, two in every)
    seconds = sum(two["seconds"] for _, two in every) / sum(one["seconds"] for one, _ in every)
    cells += [signed(*mean_error(further)), str(numbers), f"{refused:+d}" if refused else "0"]
    same = all(without_time(one) == without_time(two) for one, two in every)
    return [*(["="] + [""] * (len(cells) - 1) if same else cells), f"{seconds:.2f}"]


def without_time(fit: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fit.items() if name != "seconds"}


def signed(mean: float, error: float) -> str:
    """Return a difference with its standard error, 0 where there is none."""
    if mean == 0 and not error > 0:
        return "0"
    return f"{mean:+.1f} ± {error:.1f}" if np.isfinite(error) else f"{mean:+.1f}"


def table(records: list[dict[str, Any]], paths: Sequence[str], version: str) -> None:
    """Print the table of one version."""
    mine = select(records, version=version)
    (base,) = select(mine, constant="")
    if "error" in base:
        raise SystemExit(f"the fits as they are failed: {base['error']}")
    kinds = [kind for kind in base["fits"] if kind != "random"]
    shown = ", ".join(
        f"{kind} {100 * np.mean([fit['accuracy'] for fit in base['fits'][kind]]):.1f}"
        for kind in kinds
        if all("accuracy" in fit for fit in base["fits"][kind])
    )
    off = [fit["off"] for fits in base["fits"].values() for fit in fits if "off" in fit]
    seconds = sum(fit["seconds"] for fits in base["fits"].values() for fit in fits)
    print(
        f"As it is: items right, %: {shown}; stated accuracy off by {100 * np.mean(off):.1f} ",
        end="",
    )
    print(f"points; {seconds:.1f} s; version {version}\n")
    titles = ["number", "value", *kinds, "stated is off", "other numbers of classes"]
    titles += ["refused", "time"]
    print("| " + " | ".join(titles) + " |\n" + "|---" * len(titles) + "|")
    for path in paths:
        for name, value in constants(path):
            for factor in (HALF, TWICE):
                for record in select(mine, path=path, constant=name, factor=factor):
                    new = scaled(value, factor)
                    text = f"{value:g} → {new:g}"
                    print("| " + " | ".join([f"`{name}`", text, *compared(base, record)]) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--label", default=noisypairs.__version__, help="name of this version")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these constants")
    parser.add_argument("--others", action="store_true", help="those of other modules")
    parser.add_argument("--quick", action="store_true", help="a problem of each kind, no records")
    parser.add_argument("--print", action="store_true", dest="only_print", help="run nothing")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(fit_all(given.quick)))
        return
    paths = OTHERS if given.others else (CHOICES,)
    if given.quick:
        wanted = cells(paths, given.only or QUICK, given.label)
        records = [{"cell": cell, **task(**cell, first=True)} for cell in wanted]
    elif given.only_print:
        records = read(NAME)
    else:
        records = run(task, cells(paths, given.only, given.label), NAME)
    print(machine())
    for version in versions(records) if given.only_print else [given.label]:
        table(records, paths, version)


if __name__ == "__main__":
    main()
