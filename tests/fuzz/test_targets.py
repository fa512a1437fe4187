"""The hunt for bad endings: some quick cases, all places taken, and every bad ending noticed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from noisypairs import cli
from noisypairs.app import model_file
from noisypairs.app.files import FORMATS, read_dataset
from tests.fuzz.calls import LINES, WITHOUT_FILES, Case, kept_case, make_case, roles_of
from tests.fuzz.hunt import Hunt
from tests.fuzz.misbehaviour import misbehave
from tests.fuzz.mutators import BY_ENDING
from tests.fuzz.samples import KINDS, N_ITEMS, RECORD_FILES, Sample, good_samples
from tests.fuzz.trial import DONE, REFUSED, attempt, judge
from tests.fuzz.worker import Worker

SAMPLES = good_samples()
QUICK = {"check": range(15), "annotators": range(2), "predict": range(5), "inspect": range(8)}


@pytest.mark.parametrize(("command", "seeds"), QUICK.items())
def test_quick_cases_end_well(command, seeds, tmp_path):
    for seed in seeds:
        case = make_case(command, seed, SAMPLES)
        words = [*case.words, *["--no-fit"] * (command == "check" and "--no-fit" not in case.words)]
        folder = tmp_path / str(seed)
        folder.mkdir()
        found = attempt(case.write(folder), words)
        assert found.state in (DONE, REFUSED), (case.name, found)


def test_every_command_that_reads_files_has_its_lines():
    application = cli.application()
    names = {one.callback.__name__ for one in application.registered_commands}
    assert set(LINES) == names - WITHOUT_FILES
    assert names >= WITHOUT_FILES


def test_every_format_has_a_sample_and_every_role_a_file():
    tables = {"csv", "tsv", "gzip", "parquet", "json-lines"}
    assert tables | set(FORMATS) - {"table"} <= set(KINDS)
    roles = {role for sample in SAMPLES.values() for role in sample.roles} | {"run"}
    assert {role for lines in LINES.values() for line in lines for role in roles_of(line)} == roles
    endings = {Path(name).suffix for sample in SAMPLES.values() for name in sample.files}
    assert endings | {Path(name).suffix for name in RECORD_FILES} == set(BY_ENDING)


def test_good_files_are_read_so_that_the_damage_starts_from_something(tmp_path):
    for kind, sample in SAMPLES.items():
        (tmp_path / kind).mkdir()
        folder = Case("", 0, kind, (), sample.files).write(tmp_path / kind)
        if "model" in sample.roles:
            assert model_file.inspect(folder / sample.roles["model"])["n_items"] > 0
        else:
            data = read_dataset(folder / sample.roles["items"], folder / sample.roles["pairs"])
            assert (data.pairs.n_items, data.pairs.n_pairs > 180) == (N_ITEMS, True), kind


@pytest.mark.parametrize("ending", BY_ENDING)
def test_the_same_seed_gives_the_same_damage(ending):
    json_lines = SAMPLES["json-lines"].files["pairs.jsonl"]
    records = Sample(
        {"run/run.json": b'{"a": [1]}', "run/records.jsonl": json_lines}, {"run": "run"}
    )
    everything = {**SAMPLES, "records": records}
    kinds = [kind for kind in everything if any(n.endswith(ending) for n in everything[kind].files)]
    samples = {kinds[0]: everything[kinds[0]]}
    command = next(
        name
        for name, lines in LINES.items()
        if any(roles_of(line) <= set(samples[kinds[0]].roles) for line in lines)
    )
    cases = [make_case(command, seed, samples) for seed in range(20)]
    assert cases == [make_case(command, seed, samples) for seed in range(20)]
    assert all(case.files != samples[kinds[0]].files for case in cases[:3])
    assert len({str(case.files) for case in cases}) > 15


def result(code=0, out="", err="", exception=None):
    return SimpleNamespace(exit_code=code, stdout=out, stderr=err, exception=exception)


@pytest.mark.parametrize(
    ("ended", "promised", "new", "state"),
    [
        (result(), [], [], DONE),
        (result(1, err="Error: no\n"), ["out.csv"], [], REFUSED),
        (result(1, err="a warning\nError: no\n"), [], [], REFUSED),
        (result(1, exception=KeyError("x")), [], [], "traceback"),
        (result(err="Traceback (most recent call last)"), [], [], "traceback"),
        (result(err="Error: no\n"), [], [], "exit 0"),
        (result(), ["/nowhere/out.csv"], [], "exit 0"),
        (result(1, err="Error: one\nError: two\n"), [], [], "unclear"),
        (result(1), [], [], "unclear"),
        (result(3, err="Error: no\n"), [], [], "unclear"),
        (result(1, out="half", err="Error: no\n"), [], [], "unclear"),
        (result(1, err="Error: not enough memory for this\n"), [], [], "memory"),
        (result(1, err="Error: no\n"), ["out.csv"], [".out.csv.tmp"], "left over"),
    ],
)
def test_every_bad_ending_is_noticed(ended, promised, new, state):
    assert judge(ended, promised, as_json=False, new=new).state == state


@pytest.mark.parametrize(
    ("out", "state"), [("{}", DONE), ("{", "exit 0"), ('{"a": NaN}', "exit 0")]
)
def test_json_that_is_none_is_no_success(out, state):
    assert judge(result(out=out), [], as_json=True, new=[]).state == state


def test_hangs_and_crashes_are_findings_and_the_next_call_goes_on(tmp_path):
    worker = Worker(tmp_path / "log", misbehave)
    try:
        assert worker.run(tmp_path, ["good"], 30.0).state == DONE
        assert worker.run(tmp_path, ["memory"], 30.0).state == "memory"
        hung = worker.run(tmp_path, ["hang"], 0.3)
        assert (hung.state, "misbehave" in hung.said) == ("hang", True)
        assert worker.run(tmp_path, ["crash"], 30.0).state == "crash"
        assert worker.run(tmp_path, ["good"], 30.0).state == DONE
    finally:
        worker.end()


def test_a_finding_is_kept_with_its_files_and_can_be_repeated(tmp_path):
    case = make_case("check", 3, SAMPLES)
    case.keep(tmp_path / "kept", {"state": "hang"})
    assert kept_case(tmp_path / "kept") == case


def test_a_short_hunt_counts_its_calls_and_writes_a_record(tmp_path):
    hunt = Hunt(SAMPLES, ["inspect"], seed=0, out=tmp_path / "out", scratch=tmp_path)
    hunt.run(minutes=0.0, jobs=1)
    assert "inspect" in hunt.table()
    assert (hunt.write_record() / "record.json").read_text().startswith("{")
