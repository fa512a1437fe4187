"""Traps: data on which a model can be confidently wrong, and what the package says about itself.

    NOISYPAIRS_DATA=… python benchmarks/traps.py [--label NAME] [--rows NAME ...] [--draws 3]
    python benchmarks/traps.py --plain 200 [--label NAME]
    python benchmarks/traps.py --print [--texts | --short]

Every problem of `trap_problems` is fitted with `JointPairClassifier(random_state=0)` and with the
command ``noisypairs fit --json``. "Stated" is the accuracy on new items that the command prints,
with its 90 % interval. "Truth" is the accuracy of its model on new items, up to class names; where
a problem has no new items, on the items that were compared. A verdict in `TRUSTED` calls a model
good. A draw is *trapped* if its model is called good and the truth lies below the interval, or no
classes exist. Rows about other statements say in their function when they are trapped.

``--plain`` fits problems on which nothing is wrong, and counts those called less than consistent
(a verdict not in `CONSISTENT`) although the truth lies inside the interval: at most 5 % should be.

Records go to ``records/traps.jsonl``, labelled with the version of the package; what is there is
not run again, so that the versions stand side by side. Without NOISYPAIRS_DATA the rows with real
answers are skipped. Seconds are those of the processor, which other work on the machine changes
little; of "another machine" those of the clock.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import noisypairs
from noisypairs import JointPairClassifier
from noisypairs.annotators import KINDS, annotator_table
from noisypairs.cli import application
from noisypairs.estimation import wilson
from noisypairs.metrics import accuracy_up_to_names
from protocol import read, run
from trap_problems import N_OTHER_QUESTION, TRAPS, Problem, Trap, is_missing, plain

#: Verdicts that call a model good, and those that see no reason for doubt.
TRUSTED = ("good", "confirmed", "measured")
CONSISTENT = (*TRUSTED, "consistent")
#: What is said where nothing is said, and where the data are refused.
SILENT, REFUSED = "not a word", "refused"
#: Words that name swapped answers for what they are.
NAMES_SWAPPED = re.compile("invert|revers|swap|opposite|exchang", re.IGNORECASE)
#: How far below labels alone a model may be, and the coverage of 95 % intervals that will do.
TOLERANCE, ENOUGH_COVERAGE = 0.02, 0.8

Record = dict[str, Any]


# --- Python --------------------------------------------------------------------------------------


class Caught(dict[str, Any]):
    """What a block of Python said: seconds, warnings by class, and the error that ended it."""

    @property
    def verdict(self) -> str:
        """Refused, warned of something other than names, or silent."""
        if self["error"]:
            return REFUSED
        heard = [name for name in self["warnings"] if name != "ClassNamesWarning"]
        return ", ".join(heard) or SILENT


@contextlib.contextmanager
def caught() -> Iterator[Caught]:
    """Collect seconds, warnings and the error of a block; errors about the data do not pass."""
    said = Caught(error=None)
    start = time.process_time()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            yield said
        except (ValueError, TypeError) as error:
            said["error"] = {"type": type(error).__name__, "text": str(error)}
    said["seconds"] = round(time.process_time() - start, 2)
    said["warnings"] = sorted({one.category.__name__ for one in heard})
    said["texts"] = list(dict.fromkeys(str(one.message) for one in heard))


def ends(interval: Any) -> list[float] | None:
    """Return estimate and ends of an interval, or of what JSON has of it."""
    if interval is None:
        return None
    one = interval if isinstance(interval, Mapping) else vars(interval)
    return [float(one[key]) for key in ("estimate", "low", "high")]


def true_accuracy(y: Any, found: Any) -> float | None:
    """Return the share of right items up to class names; None where there are no classes."""
    return None if y is None else accuracy_up_to_names(y, found)


def fit_python(problem: Problem, settings: Mapping[str, Any], states: bool = True) -> Caught:
    """Fit the joint learner; ``states`` asks it for the interval of its accuracy, too."""
    with caught() as said:
        model = JointPairClassifier(random_state=0, **settings).fit(problem.X, problem.pairs)
        said["n_classes"] = len(model.classes_)
        said["compared"] = true_accuracy(problem.y, model.item_proba_.argmax(axis=1))
        if hasattr(model, "oof_proba_"):
            said["out of fold"] = true_accuracy(problem.y, model.oof_proba_.argmax(axis=1))
        if problem.new is not None:
            said["new"] = true_accuracy(problem.new[1], model.predict(problem.new[0]))
        if states:
            said["stated"] = ends(model.intervals(problem.X, problem.pairs)["accuracy"])
    return said


# --- the command ---------------------------------------------------------------------------------


def write_items(X: Any, path: Path) -> list[str]:
    """Write items as a table and return their ids."""
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    ids = [f"item{k:05d}" for k in range(len(dense))]
    table = pd.DataFrame(dense, columns=[f"x{k}" for k in range(dense.shape[1])])
    table.insert(0, "id", ids)
    table.to_csv(path, index=False)
    return ids


def write_files(problem: Problem, folder: Path) -> list[str]:
    """Write items, answers and labels; return the words of the command that reads them."""
    pairs = problem.pairs
    ids = np.array(write_items(problem.X, folder / "items.csv"))
    table = pd.DataFrame({"left": ids[pairs.left], "right": ids[pairs.right]})
    table["same"] = np.where(pairs.same, "same", "different")
    if pairs.annotator is not None and pairs.annotator_names is not None:
        table["annotator"] = np.asarray(pairs.annotator_names)[pairs.annotator]
    table.to_csv(folder / "pairs.csv", index=False)
    words = [str(folder / "items.csv"), str(folder / "pairs.csv")]
    if pairs.labels:
        labels = {"id": ids[list(pairs.labels)], "class": list(pairs.labels.values())}
        pd.DataFrame(labels).to_csv(folder / "labels.csv", index=False)
        words += ["--labels", str(folder / "labels.csv")]
    if isinstance(problem.settings.get("n_classes"), int):
        words += ["--classes", str(problem.settings["n_classes"])]
    return words


def invoke(words: Sequence[str]) -> Any:
    """Run one command in this process; exceptions that it does not turn into a message pass."""
    done = CliRunner().invoke(application(), words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def fit_command(problem: Problem) -> Record:
    """Run ``noisypairs fit``, classify new items with its model, and return what it said."""
    with tempfile.TemporaryDirectory() as name:
        folder, model = Path(name), str(Path(name) / "model.skops")
        words = ["fit", *write_files(problem, folder), "-o", model, "--json", "--quiet"]
        start = time.process_time()
        done = invoke(words)
        said = said_by_command(done.exit_code, done.stdout, done.stderr)
        said["seconds"] = round(time.process_time() - start, 2)
        if not done.exit_code:
            X, y = problem.new or (problem.X, problem.y)
            said["truth"] = true_accuracy(y, classes_by_command(X, model, folder))
    return said


def classes_by_command(X: Any, model: str, folder: Path) -> Any:
    """Run ``noisypairs predict`` on items."""
    items, out = folder / "new.csv", folder / "classes.csv"
    write_items(X, items)
    words = ["predict", model, str(items), "-o", str(out), "--quiet"]
    done = invoke(words)
    if done.exit_code:
        raise RuntimeError(f"noisypairs predict failed: {done.stderr}")
    return pd.read_csv(out)["class"].astype(str).to_numpy()


def said_by_command(exit_code: int, printed: str, complained: str) -> Record:
    """Return verdict, stated accuracy, number of classes and warnings of ``noisypairs fit``."""
    if exit_code:
        text = " ".join(complained.split())
        return {"verdict": REFUSED, "reason": text, "stated": None, "n_classes": None}
    facts = json.loads(printed)
    verdict = facts["verdict"]
    if not isinstance(verdict, Mapping):
        verdict = {"kind": verdict}
    return {
        "verdict": verdict["kind"],
        "reason": verdict.get("reason", ""),
        "stated": ends(facts.get("accuracy")),
        "n_classes": len(facts["classes"]),
        "warnings": facts.get("warnings", []),
    }


def run_apart(*words: str, **environment: str) -> Record:
    """Run one command in a process of its own and return the JSON that it prints."""
    call = [sys.executable, "-c", "from noisypairs.cli import main; main()", *words]
    done = subprocess.run(
        call, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    found: Record = json.loads(done.stdout)
    return found


# --- how the rows are tried ----------------------------------------------------------------------


def fits(problem: Problem) -> Record:
    """Fit by Python and by the command; compare what the command states with the truth."""
    python, command = fit_python(problem, problem.settings), fit_command(problem)
    beside: dict[str, float | None] = {}
    if problem.reference is not None:
        name = ", ".join(f"{k}={v}" for k, v in problem.reference.items() if k != "n_classes")
        again = fit_python(problem, problem.reference, states=False)
        beside[f"compared, {name or 'number given'}"] = again.get("compared")
        beside["compared"] = python.get("compared")
    if problem.groups is not None and hasattr(problem.pairs, "with_groups"):
        beside |= with_groups(problem)
    return {
        "stated": command["stated"],
        "truth": command.get("truth"),
        "verdict": command["verdict"],
        "python verdict": python.verdict,
        "n_classes": command["n_classes"],
        "beside": beside,
        "python": python,
        "command": command,
    }


def plain_fit(problem: Problem) -> Record:
    """Fit by the command alone."""
    command = fit_command(problem)
    said = {key: command.get(key) for key in ("stated", "truth", "verdict", "n_classes")}
    return said | {"python verdict": "", "beside": {}, "command": command}


def with_groups(problem: Problem) -> dict[str, float | None]:
    """Return what is stated and true where the groups are given."""
    pairs = problem.pairs.with_groups(problem.groups)  # type: ignore[attr-defined]
    grouped = Problem(problem.X, pairs, problem.y, problem.settings, problem.new)
    found = fit_python(grouped, problem.settings)
    stated = found.get("stated") or [None]
    return {"stated, groups given": stated[0], "truth, groups given": found.get("new")}


def swapped(problem: Problem) -> Record:
    """As `fits`; trapped while nothing that is said names the swapped answers."""
    record = fits(problem)
    python, command = record["python"], record["command"]
    error = (python["error"] or {}).get("text", "")
    said = [error, *python["texts"], command["reason"], *command.get("warnings", [])]
    named = [bool(NAMES_SWAPPED.search(text)) for text in said]
    return record | {"trapped": not any(named)}


def neighbours(problem: Problem) -> Record:
    """As `fits`; trapped also where Python says nothing about a model whose truth is below."""
    record = fits(problem)
    python = record["python"]
    below = python.get("stated") is not None and python["new"] < python["stated"][1]
    silent = record["python verdict"] == SILENT
    return record | {"trapped": is_trapped(record) or (below and silent)}


def labels(problem: Problem) -> Record:
    """As `fits`, beside a classifier of the labels; trapped where refused, or clearly worse."""
    known = problem.pairs.labels
    alone = LogisticRegression().fit(problem.X[list(known)], list(known.values()))
    of_labels = accuracy_up_to_names(problem.new[1], alone.predict(problem.new[0]))  # type: ignore[index]
    record = fits(problem)
    truth = record["truth"]
    worse = record["verdict"] == REFUSED or truth < of_labels - TOLERANCE
    new_python = record["python"].get("new")
    record["beside"] |= {"labels alone": of_labels, "new, Python": new_python}
    return record | {"trapped": worse or new_python is None or new_python < of_labels - TOLERANCE}


def questions(problem: Problem) -> Record:
    """As `fits`, with the share of those who answer the question that are called bad."""
    record = fits(problem)
    with caught() as said:
        table = annotator_table(problem.pairs, problem.X, n_classes=3, random_state=0)
        right = list(table)[N_OTHER_QUESTION:]
        bad = [row.verdict for row in right if row.verdict in KINDS[1:]]
        said["verdicts"] = dict(Counter(row.verdict for row in table))
        said["called bad"] = len(bad) / len(right)
    record["beside"]["right people called bad"] = said.get("called bad")
    return record | {"annotators": said}


def asking(problem: Problem) -> Record:
    """State how many of the compared items are right, and whether that is enough answers."""
    with caught() as said:
        model = JointPairClassifier(random_state=0, **problem.settings)
        model.fit(problem.X, problem.pairs)
        found = enough_function()(model, problem.X, problem.pairs, 0.95)
        said["stated"], said["enough"] = ends(found.accuracy), bool(found.enough)
        said["compared"] = true_accuracy(problem.y, model.item_proba_.argmax(axis=1))
    command = fit_command(problem)
    enough = said.get("enough", False)
    stated, truth = said.get("stated"), said.get("compared")
    below = stated is not None and truth < stated[1]
    return {
        "stated": stated,
        "truth": truth,
        "verdict": "enough" if enough else "not enough",
        "python verdict": said.verdict,
        "n_classes": 2,
        "trapped": bool(enough and below),
        "beside": {
            "stated by fit": (command["stated"] or [None])[0],
            "new": command.get("truth"),
        },
        "python": said,
        "command": command,
    }


def enough_function() -> Callable[..., Any]:
    """Return ``enough``, wherever the package keeps it."""
    from noisypairs import estimators

    for home in (noisypairs, estimators):
        if hasattr(home, "enough"):
            return home.enough  # type: ignore[no-any-return]
    raise ValueError("no function says whether the answers are enough")


def judges(problem: Problem) -> Record:
    """Compare the 95 % intervals of every judge's rates with the rates that the truth gives."""
    pairs, truly = problem.pairs, np.asarray(problem.y)
    with caught() as said:
        table = annotator_table(pairs, n_drop=0, random_state=0)
        for flip, of in (("similar_flip", truly), ("dissimilar_flip", ~truly)):
            wrong = pairs.same[of] != truly[of]
            rates = np.bincount(pairs.annotator[of], wrong) / np.bincount(pairs.annotator[of])
            inside = [
                getattr(row, flip).low <= r <= getattr(row, flip).high
                for row, r in zip(table, rates, strict=True)
            ]
            said[flip] = {
                "covered": float(np.mean(inside)),
                "true": float(rates.mean()),
                "stated": [
                    float(np.mean([getattr(getattr(row, flip), end) for row in table]))
                    for end in ("estimate", "low", "high")
                ],
            }
        if table.together is not None and table.together.is_open:
            said["is open"] = True
    found = said.get("dissimilar_flip") or {"covered": None, "true": None, "stated": None}
    covered = found["covered"]
    trapped = said.verdict == SILENT and covered < ENOUGH_COVERAGE
    return {
        "stated": found["stated"],
        "truth": found["true"],
        "verdict": "open" if said.get("is open") else said.verdict,
        "python verdict": said.verdict,
        "n_classes": None,
        "trapped": trapped,
        "beside": {
            "different called same: covered": covered,
            "same called different: covered": said.get("similar_flip", {}).get("covered"),
        },
        "python": said,
    }


def python_only(problem: Problem) -> Record:
    """Fit by Python; trapped where a fit that says nothing has lost the classes."""
    python = fit_python(problem, problem.settings)
    compared = python.get("compared")
    return {
        "stated": python.get("stated"),
        "truth": compared,
        "verdict": python.verdict,
        "python verdict": python.verdict,
        "n_classes": python.get("n_classes"),
        "trapped": python.verdict == SILENT and compared is not None and compared < 0.9,
        "beside": {},
        "python": python,
    }


def machine(problem: Problem) -> Record:
    """Fit the sample with one and with two threads; trapped where the numbers differ."""
    seed = str(problem.settings["seed"])
    found = {}
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_apart("sample", str(folder / "shop"), "--seed", seed, "--json")
        files = [str(folder / "shop" / file) for file in ("items.csv", "pairs.csv")]
        for threads in ("1", "2"):
            words = ["fit", *files, "-o", str(folder / threads), "--json", "--quiet"]
            facts = run_apart(*words, OMP_NUM_THREADS=threads, OPENBLAS_NUM_THREADS=threads)
            found[threads] = said_by_command(0, json.dumps(facts), "")
    one, two = found["1"]["stated"], found["2"]["stated"]
    return {
        "stated": one,
        "truth": None,
        "verdict": found["1"]["verdict"],
        "python verdict": "",
        "n_classes": found["1"]["n_classes"],
        "trapped": not np.allclose(one, two, rtol=0, atol=1e-6),
        "beside": {"stated, two threads": two[0]},
        "total seconds": round(time.perf_counter() - start, 2),
        "command": found,
    }


MEASURES = {
    function.__name__: function
    for function in (
        fits,
        swapped,
        neighbours,
        labels,
        questions,
        asking,
        judges,
        python_only,
        machine,
    )
}


# --- records -------------------------------------------------------------------------------------


def commit() -> str | None:
    """Return the last commit that changed the package, marked where files differ from it."""
    folder = Path(noisypairs.__file__).parent

    def git(*words: str) -> str:
        call = ["git", "-C", str(folder), *words]
        return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", ".")
        return git("log", "-1", "--format=%h", "--", ".") + ("+changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def task(row: str, problem: str, seed: int, version: str) -> Record:  # noqa: ARG001 -- a label
    """Try one draw."""
    start = time.process_time()
    if row == "plain":
        record = plain_fit(plain(seed))
    else:
        trap = next(one for one in TRAPS[row] if problem in one.problems)
        record = MEASURES[trap.measure](trap.problems[problem](seed))
    total = round(time.process_time() - start, 2)
    package = {"package": noisypairs.__version__, "commit": commit()}
    return {"total seconds": total, **package, **record}


def cells(rows: Sequence[str], version: str, n_draws: int | None) -> list[Record]:
    """Return the draws of these rows; say which are skipped, and why."""
    found = []
    for row in rows:
        for trap in TRAPS[row]:
            if is_missing(trap.data):
                print(
                    f"skipped: {trap.title}: {', '.join(trap.problems)}: "
                    f"NOISYPAIRS_DATA has no folder {trap.data}",
                    file=sys.stderr,
                )
                continue
            for problem in trap.problems:
                for seed in range(n_draws or trap.n_seeds):
                    cell = {"row": row, "problem": problem, "seed": seed, "version": version}
                    found.append(cell)
    return found


# --- the tables ----------------------------------------------------------------------------------


def is_called_good(record: Record) -> bool:
    """Whether the verdict, or nothing being said, lets a reader rely on the result."""
    return record["verdict"] in (*TRUSTED, SILENT, "enough")


def is_trapped(record: Record) -> bool:
    """Whether a model is called good although the truth is below its interval, or there is none."""
    if "trapped" in record:
        return bool(record["trapped"])
    if record["verdict"] not in TRUSTED:
        return False
    return record["truth"] is None or record["truth"] < record["stated"][1]


def holds(record: Record) -> bool:
    """Whether the truth lies inside the stated interval."""
    if record["stated"] is None or record["truth"] is None:
        return False
    _, low, high = record["stated"]
    return bool(low <= record["truth"] <= high)


def share(value: float | None) -> str:
    """Return a share with three decimals and without its zero; a dash for none.

    >>> share(0.75), share(1.0), share(None)
    ('.750', '1.000', '–')
    """
    return "–" if value is None else f"{value:.3f}".removeprefix("0")


def average(values: Sequence[float | None]) -> float | None:
    known = [one for one in values if one is not None]
    return float(np.mean(known)) if known else None


def counted(values: Sequence[Any]) -> str:
    """Return values with their numbers, the most frequent first; one alone without a number."""
    found = Counter(map(str, values)).most_common()
    return found[0][0] if len(found) == 1 else ", ".join(f"{name} {n}×" for name, n in found)


def stated(records: Sequence[Record]) -> str:
    """Return mean estimate and mean ends."""
    known = [one["stated"] for one in records if one["stated"] is not None]
    if not known:
        return "–"
    estimate, low, high = np.mean(known, axis=0)
    return f"{share(estimate)} ({share(low)}–{share(high)})"


def beside(records: Sequence[Record]) -> str:
    names = dict.fromkeys(name for one in records for name in one["beside"])
    means = {name: average([one["beside"].get(name) for one in records]) for name in names}
    return "; ".join(f"{name} {share(value)}" for name, value in means.items())


HEADINGS = (
    "trap",
    "problem",
    "version",
    "classes",
    "stated",
    "truth",
    "verdict",
    "Python's fit",
    "called good",
    "trapped",
    "beside",
)


def line(trap: Trap, problem: str, version: str, records: Sequence[Record]) -> tuple[str, ...]:
    """Return one line of the table: means over the draws of a problem."""
    n = len(records)
    return (
        trap.title,
        problem,
        version,
        counted([one["n_classes"] or "–" for one in records]),
        stated(records),
        share(average([one["truth"] for one in records])),
        counted([one["verdict"] for one in records]),
        counted([one["python verdict"] or "–" for one in records]),
        f"{sum(map(is_called_good, records))} of {n}",
        f"{sum(map(is_trapped, records))} of {n}",
        beside(records),
    )


def words_of(record: Record) -> str:
    """Return what was said about a draw: by the command, or else by Python."""
    python, command = record.get("python", {}), record.get("command", {})
    error = (python.get("error") or {}).get("text")
    return command.get("reason") or error or " ".join(python.get("texts", [])) or "nothing"


def versions_of(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(one["cell"]["version"] for one in records))


def table(records: Sequence[Record], texts: bool) -> str:
    """Return one line per problem and version, then the number trapped of every version."""
    versions = versions_of(records)
    rows = [HEADINGS, ("---",) * len(HEADINGS)]
    said = []
    for row, traps in TRAPS.items():
        for trap, problem, version in (
            (t, p, v) for t in traps for p in t.problems for v in versions
        ):
            cell = {"row": row, "problem": problem, "version": version}
            mine = [one for one in records if cell.items() <= one["cell"].items()]
            if mine:
                rows.append(line(trap, problem, version, mine))
                said.append(f"* {trap.title}, {problem}, {version}: {words_of(mine[0])}")
    lines = [f"| {' | '.join(cells)} |" for cells in rows] + [""]
    for version in versions:
        mine = [r for r in records if r["cell"]["version"] == version and r["cell"]["row"] in TRAPS]
        if mine:
            seconds = np.median([one["total seconds"] for one in mine])
            lines.append(
                f"{version}: {sum(map(is_called_good, mine))} of {len(mine)} draws called good, "
                f"{sum(map(is_trapped, mine))} trapped; median {seconds:.0f} s"
            )
    return "\n".join(lines + (["", *said] if texts else []))


def short_table(records: Sequence[Record]) -> str:
    """Return what docs/how-good.md shows of the newest version: one line per problem."""
    version = versions_of(records)[-1]
    lines = ["| trap | problem | stated | truth | verdict |", "|---|---|---|---|---|"]
    for row, traps in TRAPS.items():
        for trap, problem in ((t, p) for t in traps for p in t.problems):
            cell = {"row": row, "problem": problem, "version": version}
            if mine := [one for one in records if cell.items() <= one["cell"].items()]:
                told = line(trap, problem, version, mine)
                lines.append(f"| {' | '.join([*told[:2], *told[4:7]])} |")
    return "\n".join(lines)


def plain_table(records: Sequence[Record]) -> str:
    """Return how often plain problems are doubted although the truth is inside the interval."""
    lines = ["| plain problems | fits | refused | inside | doubted, of those inside | median s |"]
    lines.append("|---|---|---|---|---|---|")
    reasons: Counter[str] = Counter()
    for version in versions_of(records):
        mine = [one for one in records if one["cell"]["version"] == version]
        inside = [one for one in mine if holds(one)]
        doubted = [one for one in inside if one["verdict"] not in CONSISTENT]
        limits = wilson(len(doubted), max(1, len(inside)), 0.9)
        lines.append(
            f"| {version} | {len(mine)} | {sum(one['verdict'] == REFUSED for one in mine)} | "
            f"{len(inside)} | {len(doubted)}: {limits.estimate:.1%} "
            f"({limits.low:.1%}–{limits.high:.1%}) | "
            f"{np.median([one['total seconds'] for one in mine]):.0f} |"
        )
        reasons.update(f"{version}: {one['command']['reason'][:110]}" for one in doubted)
    return "\n".join([*lines, "", *(f"* {n}× {text}…" for text, n in reasons.most_common())])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--rows",
        nargs="+",
        choices=list(TRAPS),
        metavar="NAME",
        default=list(TRAPS),
        help=f"some of: {', '.join(TRAPS)}",
    )
    parser.add_argument("--draws", type=int, help="seeds of every problem; else as in the table")
    parser.add_argument("--label", default=noisypairs.__version__, help="name of this version")
    parser.add_argument("--plain", type=int, metavar="N", help="fit N plain problems instead")
    parser.add_argument("--print", action="store_true", dest="only_print", help="run nothing")
    parser.add_argument("--short", action="store_true", help="print five columns")
    parser.add_argument("--texts", action="store_true", help="print also what the command said")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    if not given.only_print and given.plain is None:
        run(task, cells(given.rows, given.label, given.draws), "traps")
    elif not given.only_print:
        cell = {"row": "plain", "problem": "plain", "version": given.label}
        run(task, [cell | {"seed": seed} for seed in range(given.plain)], "traps")
    records = [one for one in read("traps") if one["cell"]["row"] in (*given.rows, "plain")]
    plain_ones = [one for one in records if one["cell"]["row"] == "plain"]
    if given.short:
        print(short_table([one for one in records if one not in plain_ones]))
    elif given.plain is None:
        print(table([one for one in records if one not in plain_ones], given.texts))
    if plain_ones and (given.plain is not None or given.only_print):
        print(f"\n{plain_table(plain_ones)}")


if __name__ == "__main__":
    main()
