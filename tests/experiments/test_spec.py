"""Which specs make up each table and figure."""

from __future__ import annotations

import json
import re

import pytest

from noisypairs.experiments import COLUMNS, Choice, Spec, plan
from noisypairs.experiments.paper import ROWS
from noisypairs.experiments.spec import EXPERIMENTS, datasets_of


def test_specs_are_hashable_and_survive_json() -> None:
    specs = plan("all", Choice(repeats=2, densities=(20.0, 2.0)))
    assert len(set(specs)) == len(specs)
    assert [Spec.from_dict(json.loads(json.dumps(s.as_dict()))) for s in specs] == specs


def test_a_table_has_every_column_and_shares_what_no_noise_can_change() -> None:
    specs = plan("table1", Choice(repeats=1, densities=(20.0, 2.0)))
    assert {spec.method for spec in specs} == set(COLUMNS)
    count = {m: sum(spec.method == m for spec in specs) for m in COLUMNS}
    assert count["pn"] == 3  # data sets
    assert count["km"] == count["sd-clean"] == 3 * 2  # data sets × densities
    assert count["t-loss"] == count["joint"] == 3 * 3 * 2  # data sets × rates × densities


def test_repeats_are_consecutive_seeds_from_the_one_given() -> None:
    specs = plan("table2", Choice(repeats=3, seed=5, methods=("joint",)))
    assert {spec.seed for spec in specs} == {5, 6, 7}


def test_every_experiment_names_its_data_sets() -> None:
    assert datasets_of("table1") == ("diabetes", "adult", "cancer")
    assert datasets_of("figure3") == ("banana",)
    assert set(datasets_of("efficiency")) == {row.dataset for row in ROWS} | {"banana"}
    assert {spec.dataset for spec in plan("all")} == {
        name for experiment in EXPERIMENTS for name in datasets_of(experiment)
    }


@pytest.mark.parametrize(
    ("experiment", "choice", "message"),
    [
        ("tabel1", Choice(), "did you mean 'table1'"),
        ("table1", Choice(datasets=("canser",)), "did you mean 'cancer'"),
        ("table1", Choice(datasets=("magic",)), "unknown data set of table1 'magic'"),
        ("table1", Choice(methods=("tloss",)), "did you mean 't-loss'"),
        ("table1", Choice(densities=(20.0, -1.0)), "expected numbers above 0"),
        ("table1", Choice(repeats=0), "expected 1 or more"),
    ],
)
def test_what_is_not_known_is_refused_with_advice(
    experiment: str, choice: Choice, message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        plan(experiment, choice)
