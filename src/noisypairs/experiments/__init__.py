"""The paper's tables and figures, and the ones it should have had: specs, runs, records, report.

`compare` compares methods on a table of one's own. `plan` lists the `Spec` of every cell, `run`
turns specs into lines of a record file, `report` turns records into tables and figures. See
``noisypairs reproduce --help``.
"""

from __future__ import annotations

from noisypairs.experiments.comparison import Comparison, compare
from noisypairs.experiments.learners import Learners, register
from noisypairs.experiments.records import load_records
from noisypairs.experiments.run import Run, run
from noisypairs.experiments.spec import COLUMNS, EXPERIMENTS, Choice, Spec, plan

__all__ = [
    "COLUMNS",
    "EXPERIMENTS",
    "Choice",
    "Comparison",
    "Learners",
    "Run",
    "Spec",
    "compare",
    "load_records",
    "plan",
    "register",
    "run",
]
