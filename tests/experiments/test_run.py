"""Groups of specs, run in parallel."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from noisypairs.experiments import Choice, plan, run
from noisypairs.experiments.run import configuration, cost, grouped
from tests.experiments.made_up_records import CANCER


def test_groups_hold_one_problem_each_and_come_slowest_first() -> None:
    specs = plan("table1", Choice(repeats=2))
    groups = grouped(specs)
    assert sorted(spec for group in groups for spec in group) == sorted(specs)
    assert all(len({spec.problem() for spec in group}) == 1 for group in groups)
    costs = [cost(group) for group in groups]
    assert costs == sorted(costs, reverse=True)
    assert groups[0][0].dataset == "adult"


def test_one_and_two_jobs_give_the_same_records(tmp_path: Path) -> None:
    specs = plan("table1", Choice(("cancer",), ("km", "km-cop"), (2.0, 1.0), repeats=2))
    found = [run(specs, tmp_path / str(jobs), n_jobs=jobs) for jobs in (1, 2)]
    one, two = ({s: replace(r, seconds=0.0) for s, r in f.items()} for f in found)
    assert one == two
    assert list(one) == specs


def test_the_configuration_holds_the_digests_of_the_tables() -> None:
    found = configuration([CANCER], 4)
    assert found["decides"]["seed"] == 4
    (digest,) = found["data"]["cancer"]["sha256"].values()
    assert re.fullmatch(r"[0-9a-f]{64}", digest)
