"""One worker: its own copy of the tree, in which faults are planted and tests are run.

The worker imports the libraries once and forks for each run, so that a run costs little more than
its tests.
"""

from __future__ import annotations

import compileall
import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import NamedTuple

import pytest

from tests.mutants.draw import Mutant
from tests.mutants.faults import ROOT, Fault, StaleFault

#: What the tests need of the tree.
COPIED = ("src", "tests", "docs")
#: Imported once per worker. None of them starts threads, which a fork would lose.
LIBRARIES = (
    "numpy",
    "pandas",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.cluster",
    "sklearn.compose",
    "sklearn.ensemble",
    "sklearn.kernel_approximation",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "torch",
)
#: Seconds of the processor, and of the clock, after which a run is stopped: an endless loop and an
#: endless wait are noticed, too.
LONGEST, LONGEST_WAIT = 300, 3600
#: Random examples are the same each time, and nothing is remembered from one run to the next.
OPTIONS = ("-q", "--no-header", "-p", "no:cacheprovider", "--hypothesis-seed=0")
#: Exit code of a run that did not reach its tests.
FAILED_TO_RUN = 70


class Outcome(NamedTuple):
    """What became of a fault: killed, survived, stale or broken (its tests could not be run).

    ``tests`` are those that noticed it; where it hung, all that were to run.
    """

    name: str
    state: str
    seconds: float
    said: str
    tests: Sequence[str] = ()


class Worker:
    """A copy of the tree and the libraries in memory; one per process."""

    def __init__(self, folder: str) -> None:
        self.copy = Path(tempfile.mkdtemp(dir=folder))
        for name in COPIED:
            ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
            shutil.copytree(ROOT / name, self.copy / name, ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", self.copy)
        # Compiled files are valid by content: a changed file is read anew, whatever its time.
        by_content = PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(self.copy / "src", quiet=1, invalidation_mode=by_content)
        for name in LIBRARIES:
            importlib.import_module(name)

    def judge(self, fault: Fault | Mutant) -> Outcome:
        """Plant a fault, run its tests, and take it out again."""
        start, path = time.monotonic(), fault.path(self.copy)
        source = path.read_text("utf-8")
        try:
            path.write_text(fault.planted(source), "utf-8")
            for tests in fault.rounds:
                code, said = self.run(("-x", *tests))
                if code != 0:
                    break
        except StaleFault as error:
            return Outcome(fault.name, "stale", 0.0, str(error))
        finally:
            path.write_text(source, "utf-8")
        noticed = (int(pytest.ExitCode.TESTS_FAILED), -signal.SIGPROF, -signal.SIGALRM)
        state = "killed" if code in noticed else "survived" if code == 0 else "broken"
        tests = failed_tests(said) or fault.tests
        return Outcome(fault.name, state, time.monotonic() - start, said, tests)

    def run(self, words: Sequence[str]) -> tuple[int, str]:
        """Run tests of the copy in a fork; return pytest's exit code, and what it said."""
        said = self.copy / "said.txt"
        child = os.fork()
        if child == 0:
            self._run_and_exit(words, said)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return code, said.read_text("utf-8", "replace")

    def _run_and_exit(self, words: Sequence[str], said: Path) -> None:
        code = FAILED_TO_RUN
        try:
            output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            signal.alarm(LONGEST_WAIT)
            self._move_into_the_copy()
            code = int(pytest.main([*OPTIONS, *words]))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _move_into_the_copy(self) -> None:
        """Let this process and those it starts import the package and the tests of the copy."""
        for name in list(sys.modules):
            if name.partition(".")[0] in ("noisypairs", "tests"):
                del sys.modules[name]
        os.chdir(self.copy)
        sys.path[:0] = [str(self.copy), str(self.copy / "src")]
        os.environ["PYTHONPATH"] = str(self.copy / "src")
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        package = importlib.import_module("noisypairs")
        if self.copy not in Path(str(package.__file__)).parents:
            raise ImportError(f"{package.__file__} is not the copy in {self.copy}")


_workers: list[Worker] = []


def prepare(folder: str) -> None:
    """Make the worker of this process, with its copy in a folder."""
    _workers.append(Worker(folder))


def judge(fault: Fault | Mutant) -> Outcome:
    """Judge a fault by the worker of this process."""
    return _workers[0].judge(fault)


def run_unchanged(tests: Sequence[str]) -> tuple[int, str]:
    """Run tests without any fault."""
    return _workers[0].run(tests)


def failed_tests(said: str) -> list[str]:
    """Return the tests that failed, from what pytest said.

    >>> failed_tests("F\\nFAILED tests/test_a.py::test_b[c d] - ValueError\\n1 failed")
    ['tests/test_a.py::test_b[c d]']
    """
    lines = (line for line in said.splitlines() if line.startswith("FAILED "))
    return [line.removeprefix("FAILED ").partition(" - ")[0] for line in lines]
