"""Specs, grids, published numbers, records, methods and tables of the experiments."""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from noisypairs import LabelingNoise, PairingNoise, algebra
from noisypairs.app.experiments import (
    METHODS,
    Choice,
    Spec,
    learners,
    load_records,
    plan,
    run,
    tables,
)
from noisypairs.app.experiments.grids import EXPERIMENTS, datasets_of
from noisypairs.app.experiments.learners import Learners, best_prior
from noisypairs.app.experiments.paper import FIGURE2, ROWS
from noisypairs.app.experiments.problem import make_problem, noise_of
from noisypairs.app.experiments.records import FolderMismatch, Record, append, open_folder
from noisypairs.app.experiments.run import configuration, cost, grouped, records_of
from noisypairs.app.experiments.tables import Cell
from noisypairs.model_selection import HeldOutShare

CANCER = Spec("cancer", "pairing", (0.1, 0.2), "km", 2.0, 0, "kernel")
SETUP = {"decides": {"seed": 0}, "data": {"cancer": {"sha256": {"file": "abc"}}}}


def record(spec: Spec, accuracy: float, refused: str | None = None) -> Record:
    return Record(spec, accuracy, "matched", refused, 0.5, {"n_pairs": 7})


# -- the paper's numbers


def paper_text() -> str:
    folder = os.environ.get("NOISYPAIRS_DATA", "")
    path = Path(folder).parent / "paper.tex"
    if not folder or not path.is_file():
        pytest.skip("paper.tex does not lie beside the folder NOISYPAIRS_DATA")
    return path.read_text(encoding="utf-8")


def printed_rows(text: str) -> dict[tuple[str, tuple[float, float]], list[float]]:
    """Read the two tables cell by cell, independently of how `paper` is laid out."""
    found = {}
    for name, block in re.findall(r"\\textsc\{(\w+)\}\s*\\\\\s*\((.*?)\\hline", text, re.DOTALL):
        columns = []
        for column in re.findall(r"\\makecell\{(.*?)\}\s*(?:&|\\\\)\s*\n", block, re.DOTALL):
            column = re.sub(r"\\textbf\{([\d.]+)\}", r"\1", column)
            columns.append([entry.strip(" $\n") for entry in column.split(r"\\")])
        columns = columns[-9:] if len(columns) > 9 else columns
        pn, clean, rates, *rest = columns
        for i, rate in enumerate(rates):
            pair = tuple(float(word) for word in rate.strip("()").split(","))
            values = [pn[0], clean[0], *(c[i if len(c) > 1 else 0] for c in rest)]
            found[name, pair] = [float(value) for value in values]
    return found


def test_published_numbers_are_those_of_the_paper() -> None:
    printed = printed_rows(paper_text())
    order = ("pn", "sd-clean", "t-loss", "sd-loss", "weighted", "unweighted", "km", "km-cop")
    assert len(printed) == len(ROWS) == 18
    for row in ROWS:
        assert [row.published[m] for m in order] == printed[row.dataset, row.rates], row


def test_the_captions_of_figure_2_are_those_of_the_paper() -> None:
    captions = re.findall(r"(Weighted Classification|Loss Correction): \$([\d.]+)", paper_text())
    names = {"Weighted Classification": "weighted", "Loss Correction": "t-loss"}
    printed = [(names[name], float(value)) for name, value in captions]
    assert printed == [(method, value) for (_, method), value in FIGURE2.items()]


# -- specs and grids


def test_specs_are_hashable_and_survive_json() -> None:
    specs = plan("all", Choice(repeats=2, densities=(20.0, 2.0)))
    assert len(set(specs)) == len(specs)
    assert [Spec.from_dict(json.loads(json.dumps(s.as_dict()))) for s in specs] == specs


def test_a_table_has_every_column_and_shares_what_no_noise_can_change() -> None:
    specs = plan("table1", Choice(repeats=1, densities=(20.0, 2.0)))
    assert {spec.method for spec in specs} == set(METHODS)
    count = {m: sum(spec.method == m for spec in specs) for m in METHODS}
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


def test_groups_hold_one_problem_each_and_come_dearest_first() -> None:
    specs = plan("table1", Choice(repeats=2))
    groups = grouped(specs)
    assert sorted(spec for group in groups for spec in group) == sorted(specs)
    assert all(len({spec.problem() for spec in group}) == 1 for group in groups)
    costs = [cost(group) for group in groups]
    assert costs == sorted(costs, reverse=True)
    assert groups[0][0].dataset == "adult"


# -- problems


def test_the_split_is_stratified_standardised_and_cut() -> None:
    problem = make_problem(CANCER)
    assert (len(problem.y), len(problem.y_test)) == (426, 143)
    assert abs(problem.y.mean() - problem.y_test.mean()) < 0.01
    assert np.abs(problem.X).max() <= 10
    np.testing.assert_allclose(problem.X.mean(axis=0), 0, atol=0.05)  # cutting moves it a little
    assert problem.pairs.n_pairs == 852


def test_rates_change_answers_and_nothing_else() -> None:
    one, other = (make_problem(replace(CANCER, rates=r)) for r in ((0.1, 0.2), (0.3, 0.3)))
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.pairs.left, other.pairs.left)
    np.testing.assert_array_equal(one.pairs.right, other.pairs.right)
    truth = one.y[one.pairs.left] == one.y[one.pairs.right]
    assert np.mean(one.pairs.same != truth) < np.mean(other.pairs.same != truth)


def test_the_gaussians_use_every_item_once() -> None:
    spec = Spec("gaussians", "labeling", (0.4, 0.4), "weighted", 0.5, 3, "logistic", told=True)
    problem = make_problem(spec)
    ends = np.concatenate([problem.pairs.left, problem.pairs.right])
    np.testing.assert_array_equal(np.sort(ends), np.arange(20_000))
    assert len(problem.y_test) == 3_000


# -- methods


def test_the_prior_is_the_root_under_which_the_answers_are_likeliest() -> None:
    """With the true m(x) of labelled items the true root must win over its rival."""
    noise, prior = LabelingNoise(0.05, 0.4), 0.7
    S = noise.same_probability()
    problem = make_problem(replace(CANCER, density=2.0))
    rng = np.random.default_rng(0)
    y = (rng.random(4000) < prior).astype(int)
    left, right = rng.permutation(4000).reshape(2, -1)
    pairs = type(problem.pairs)(left, right, noise.corrupt(y, left, right, random_state=1))
    rate = algebra.same_rate(S, prior)
    m = algebra.same_given_class(S, prior)[y]
    assert best_prior(HeldOutShare(pairs, rate, m - rate, 1.0), noise) == pytest.approx(prior)


def test_tuning_is_shared_and_told_methods_are_told() -> None:
    spec = replace(CANCER, density=20.0, method="t-loss")
    learners = Learners(spec, make_problem(spec))
    assert learners.tuned is learners.tuned
    assert isinstance(learners.tuned.noise, PairingNoise)
    told = Learners(replace(spec, told=True), make_problem(spec)).tuned
    assert told.noise == PairingNoise(0.1, 0.2)
    assert told.prior == make_problem(spec).y.mean()
    assert told.alpha == pytest.approx(0.55)  # (1 − ρ_S + ρ_D)/2


def test_weight_under_labeling_noise_comes_from_the_tuned_rates() -> None:
    spec = Spec("cancer", "labeling", (0.1, 0.2), "weighted", 20.0, 0, "kernel")
    tuned = Learners(spec, make_problem(spec)).tuned
    assert tuned.alpha == algebra.alpha(tuned.noise.same_probability(), tuned.prior)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_makes_a_record(method: str) -> None:
    # Equal rates, told: the printed loss is convex then, which tuned rates do not grant.
    spec = replace(CANCER, method=method, density=20.0, rates=(0.2, 0.2), told=True)
    (found,) = records_of((spec,))
    assert found.refused is None
    assert 0.8 < found.accuracy <= 1.0
    assert found.names == "matched"
    assert Record.from_line(found.line()) == found


@pytest.mark.parametrize("method", ["pn", "t-loss-printed", "weighted"])
def test_the_network_learns_the_tumours(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="the network needs the torch extra")
    for name in ("FEWEST_STEPS", "MOST_STEPS"):
        monkeypatch.setattr(learners, name, 700)
    spec = Spec("cancer", "pairing", (0.1, 0.1), method, 20.0, 0, told=True)
    (found,) = records_of((spec,))
    assert found.refused is None
    assert found.accuracy > 0.85


def test_a_refusal_is_a_record_with_its_reason_and_the_larger_class() -> None:
    spec = Spec("cancer", "pairing", (0.45, 0.45), "t-loss", 0.5, 0, "kernel")
    (found,) = records_of((spec,))
    assert found.refused is not None
    assert "cannot be tuned" in found.refused
    assert found.accuracy == pytest.approx(90 / 143)


def test_sd_loss_takes_the_share_of_same_for_clean_or_refuses() -> None:
    spec = replace(CANCER, method="sd-loss", density=20.0)
    problem = make_problem(spec)
    (found,) = records_of((spec,))
    pi = found.details["prior"]
    assert pi**2 + (1 - pi) ** 2 == pytest.approx(problem.pairs.same.mean())
    (found,) = records_of((replace(spec, rates=(0.4, 0.1)),))
    assert found.refused is not None
    assert "half or more" in found.refused


# -- records


def test_a_torn_last_line_is_dropped_and_the_next_record_starts_anew(tmp_path: Path) -> None:
    first, second = record(CANCER, 0.9), record(replace(CANCER, seed=1), 0.8)
    open_folder(tmp_path, SETUP, resume=False)
    append(tmp_path / "records.jsonl", first)
    with (tmp_path / "records.jsonl").open("ab") as file:
        file.write(second.line()[:40])
    assert load_records(tmp_path) == {CANCER: first}
    open_folder(tmp_path, SETUP, resume=True)
    append(tmp_path / "records.jsonl", second)
    assert list(load_records(tmp_path).values()) == [first, second]


def test_of_two_records_of_a_spec_the_first_counts(tmp_path: Path) -> None:
    for accuracy in (0.9, 0.1):
        append(tmp_path / "records.jsonl", record(CANCER, accuracy))
    assert load_records(tmp_path)[CANCER].accuracy == 0.9


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    append(tmp_path / "records.jsonl", record(CANCER, 0.9))
    with (tmp_path / "records.jsonl").open("a") as file:
        file.write("{}\n")
    with pytest.raises(FolderMismatch, match=r"records.jsonl, line 2 is not a record"):
        load_records(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decides": {"seed": 1}}, "seed is 0 there and 1 now"),
        ({"data": {"cancer": {"sha256": {"file": "xyz"}}}}, "'cancer' has another checksum"),
    ],
)
def test_a_folder_of_another_configuration_is_refused_untouched(
    tmp_path: Path, change: dict, message: str
) -> None:
    open_folder(tmp_path, SETUP, resume=False)
    before = (tmp_path / "run.json").read_bytes()
    with pytest.raises(FolderMismatch, match=message):
        open_folder(tmp_path, SETUP | change, resume=True)
    assert (tmp_path / "run.json").read_bytes() == before


def test_records_without_resume_are_refused(tmp_path: Path) -> None:
    open_folder(tmp_path, SETUP, resume=False)
    open_folder(tmp_path, SETUP, resume=False)  # nothing in it yet
    append(tmp_path / "records.jsonl", record(CANCER, 0.9))
    with pytest.raises(FolderMismatch, match="add --resume"):
        open_folder(tmp_path, SETUP, resume=False)


def test_a_folder_takes_further_tables(tmp_path: Path) -> None:
    open_folder(tmp_path, SETUP, resume=False)
    open_folder(tmp_path, SETUP | {"data": {"magic": {"sha256": {}}}}, resume=True)
    assert set(json.loads((tmp_path / "run.json").read_text())["data"]) == {"cancer", "magic"}


def test_records_that_nobody_accounts_for_are_refused(tmp_path: Path) -> None:
    append(tmp_path / "records.jsonl", record(CANCER, 0.9))
    with pytest.raises(FolderMismatch, match=r"no run.json"):
        open_folder(tmp_path, SETUP, resume=True)


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


def test_noise_of_clean_specs_is_none() -> None:
    S = noise_of(Spec("cancer", "clean", (0.0, 0.0), "km", 2.0, 0)).same_probability()
    np.testing.assert_array_equal(S, np.eye(2))


# -- tables


def test_mean_and_standard_error_are_numpys() -> None:
    values = [0.7, 0.8, 0.95]
    found = tables.summary([record(replace(CANCER, seed=i), v) for i, v in enumerate(values)], 80.0)
    assert found is not None
    assert found.mean == pytest.approx(100 * np.mean(values))
    assert found.error == pytest.approx(100 * np.std(values, ddof=1) / np.sqrt(3))
    assert found.difference == pytest.approx(100 * np.mean(values) - 80)


def test_bold_is_within_a_point_of_the_best_competing_cell() -> None:
    means = {"pn": 99.0, "t-loss": 90.0, "weighted": 89.0, "km": 88.9, "joint": None}
    cells = {m: None if v is None else Cell(v, 0.1, 3, 0, None) for m, v in means.items()}
    found = tables.stressed(cells)
    assert {m for m, c in found.items() if c and c.bold} == {"t-loss", "weighted"}


def test_a_paper_table_shows_ours_published_and_difference() -> None:
    specs = plan("table1", Choice(("cancer",), repeats=2))
    records = {s: record(s, 0.95 if s.seed else 0.93, "no" if s.method == "t-loss" else None)
               for s in specs}  # fmt: skip
    (first, second, third) = tables.paper_table(records, 1, 20.0)
    assert [line.row.rates for line in (first, second, third)] == [
        (0.2, 0.2),
        (0.1, 0.2),
        (0.3, 0.3),
    ]
    assert tables.paper_table(records, 2, 20.0) == []
    texts = dict(zip(tables.HEADINGS, tables.text_rows([first])[0], strict=True))
    assert texts["repeats"] == "2"
    assert texts["T-Loss"] == "**94.0 ± 1.0 [2 refused]** (97.2, -3.2)"
    assert texts["Joint"] == "**94.0 ± 1.0**"
    assert texts["best P-N"] == "94.0 ± 1.0 (97.2, -3.2)"


def test_pairs_needed_is_where_a_method_stays_near() -> None:
    def points(*means: float) -> list[tuple[float, Cell]]:
        return [(d, Cell(m, 0.0, 1, 0, None)) for d, m in zip((1, 2, 5), means, strict=True)]

    assert tables._first_near(points(95, 80, 95), 96.0) == "5"
    assert tables._first_near(points(80, 95, 95), 96.0) == "2"
    assert tables._first_near(points(95, 95, 80), 96.0) == "> 5"
    assert tables._first_near([], 96.0) == "–"


def test_csv_has_a_line_per_record() -> None:
    text = tables.as_csv({CANCER: record(CANCER, 0.9, 'why, "this"')})
    lines = text.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("cancer,pairing,0.1,0.2,km,2.0,0,kernel,0,False,0.9,matched,")
    assert math.isclose(float(lines[0].count(",")), 14)
