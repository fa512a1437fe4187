"""The command line: what it prints, what it returns, and how it fails."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import noisypairs
from noisypairs import cli, theory
from noisypairs.cli import app

ISSUE = ["theory", "--noise", "pairing", "0.2", "0.1", "--prior", "0.35", "--n", "10000"]


def run(*words: str):
    return CliRunner().invoke(cli.application(), list(words))


def as_json(*words: str) -> dict:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_the_table_shows_every_quantity_of_the_issue() -> None:
    result = run(*ISSUE)
    assert result.exit_code == 0
    assert result.stdout.startswith("pairing 0.2 0.1; prior 0.35; 10,000 pairs")
    for label in (
        "S: P(same | classes)",
        "T: rows same, different",
        "inverse of T",
        "corrected loss: rows",
        "weight alpha",
        "gain A",
        "threshold of the noisy Bayes rule",
        "corrected loss convex",
        "(Lemma 1)",
        "(Theorem 1)",
        "the same without noise",
        "weighted",
        "priors with this P(same)",
    ):
        assert label in result.stdout
    assert "\x1b" not in result.stdout  # no colours where there is no terminal
    assert max(map(len, result.stdout.splitlines())) <= 110


def test_json_agrees_with_hand_computation_for_pairing_noise() -> None:
    facts = as_json(*ISSUE)
    a, b = 0.8 * 0.35 + 0.1 * 0.65, 0.1 * 0.35 + 0.8 * 0.65
    T = np.array([[a, b], [1 - a, 1 - b]])
    assert facts["noise"] == "pairing"
    assert facts["rates"] == [0.2, 0.1]
    np.testing.assert_allclose(facts["S"], [[0.8, 0.1], [0.1, 0.8]])
    np.testing.assert_allclose(facts["T"], T)
    np.testing.assert_allclose(facts["T_inverse"], np.linalg.inv(T))
    np.testing.assert_allclose(facts["coefficients"], np.linalg.inv(T).T)
    np.testing.assert_allclose(facts["printed"]["coefficients"], np.linalg.inv(T))
    assert facts["alpha"] == pytest.approx(0.45)
    assert facts["gain"] == pytest.approx((a - b) / 2)
    assert facts["threshold"] == pytest.approx((0.5 - b) / (a - b))
    assert facts["same_rate"] == pytest.approx(0.35 * a + 0.65 * b)
    assert facts["prior_roots"] == pytest.approx([0.35, 0.65])
    assert facts["missing"] == {}


def test_json_bounds_are_those_of_the_theory_module() -> None:
    words = ["--delta", "0.2", "--epsilon", "0.3", "--loss", "hinge", "--reach", "2"]
    facts = as_json("theory", "--noise", "labeling", "0.2", "0.1", "--prior", "0.3", *words)
    noise = noisypairs.LabelingNoise(0.2, 0.1)
    given = (10_000, 0.2, theory.ModelClass.linear(2.0, loss="hinge"))
    bounds = {
        "uniform_deviation": theory.uniform_deviation_bound,
        "excess_risk": theory.excess_risk_bound,
        "weighted_excess_risk": theory.weighted_bound,
    }
    for key, bound in bounds.items():
        assert facts[key] == bound(noise, 0.3, *given)
        assert facts["printed"][key] == bound(noise, 0.3, *given, formula="printed")
    assert facts["clean_excess_risk"] == theory.clean_bound(0.3, *given)
    assert facts["pairs_needed"] == theory.sample_size(noise, 0.3, 0.3, *given[1:])
    assert facts["printed"]["T"] != facts["T"]
    assert facts["printed"]["threshold"] != facts["threshold"]


def test_the_printed_form_may_not_be_convex_where_the_derived_one_is() -> None:
    facts = as_json("theory", "--noise", "pairing", "0.1", "0.4", "--prior", "0.35")
    assert (facts["convex"], facts["printed"]["convex"]) == (True, False)


def test_clean_needs_no_rates_and_is_the_default() -> None:
    named = as_json("theory", "--noise", "clean", "--prior", "0.2")
    assert named == as_json("theory", "--prior", "0.2")
    assert named["noise_inflation"] == pytest.approx(1 / 0.6)


def test_options_may_stand_anywhere() -> None:
    moved = ["theory", "--prior", "0.35", "--noise", "pairing", "0.2", "0.1"]
    assert as_json(*moved) == as_json(*ISSUE)


@pytest.mark.parametrize("noise", [["clean"], ["pairing", "0.2", "0.1"], ["labeling", ".1", ".1"]])
def test_prior_one_half_shows_what_exists_and_why_the_rest_does_not(noise: list[str]) -> None:
    words = ["theory", "--noise", *noise, "--prior", "0.5"]
    facts = as_json(*words)
    assert facts["gain"] == pytest.approx(0.0, abs=1e-12)
    assert facts["prior_roots"] == pytest.approx([0.5] * len(facts["prior_roots"]), abs=1e-6)
    assert facts["prior_roots"]
    assert math.isfinite(facts["alpha"])
    for key in ("T_inverse", "coefficients", "threshold", "convex", "excess_risk", "pairs_needed"):
        assert facts[key] is None
        assert "a − b = 0" in facts["missing"][key]
    table = run(*words)
    assert table.exit_code == 0
    assert "does not exist: a − b = 0" in table.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--noise", "pairing", "1.0", "0.0", "--prior", "0.3"], "similar_flip=1.0"),
        (["--noise", "pairing", "-0.1", "0.2", "--prior", "0.3"], "similar_flip=-0.1"),
        (["--noise", "pairing", "0.6", "0.4", "--prior", "0.3"], "at least 1"),
        (["--noise", "labeling", "0.1", "--prior", "0.3"], "takes 2 rates, got 1 (0.1)"),
        (["--noise", "clean", "0.1", "0.1", "--prior", "0.3"], "takes 0 rates, got 2"),
        (["--noise", "pairing", "a", "b", "--prior", "0.3"], "'a' is not a flip rate"),
        (["--noise", "paring", "0.1", "0.1", "--prior", "0.3"], "did you mean 'pairing'"),
        (["--prior", "0"], "prior=0.0 is not a prior"),
        (["--prior", "1"], "prior=1.0 is not a prior"),
        (["--prior", "nan"], "prior=nan is not a prior"),
        (["--prior", "0.3", "--n", "0"], "n=0"),
        (["--prior", "0.3", "--delta", "1.5"], "delta=1.5"),
        (["--prior", "0.3", "--loss", "hing"], "did you mean 'hinge'"),
        (["--prior", "0.3", "--dleta", "0.1"], "did you mean '--delta'"),
    ],
)
def test_wrong_use_is_one_line_on_stderr_and_exit_code_2(words: list[str], message: str) -> None:
    result = run("theory", *words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.splitlines()) == 1
    assert message in result.stderr


def test_missing_prior_and_unknown_command_are_wrong_use() -> None:
    no_prior, unknown = run("theory"), run("thery")
    assert (no_prior.exit_code, unknown.exit_code) == (2, 2)
    assert "--prior" in no_prior.stderr
    assert "thery" in unknown.stderr


def test_bad_data_exits_with_1_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as exit_, app.failing_with(app.BAD_DATA):
        raise ValueError("row 3:\n  no answer")
    assert exit_.value.exit_code == 1
    assert capsys.readouterr().err == "Error: row 3: no answer\n"


def test_help_lists_the_commands_in_the_order_of_use_and_cuts_no_line() -> None:
    lines = run("--help").stdout.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in lines if line.strip()] == [
        *("demo", "sample", "check", "fit", "name", "predict", "suspects", "inspect", "annotators"),
        *("plan", "formats", "ask", "judge", "reproduce", "report", "theory"),
    ]
    assert all(line.endswith(".") and not line.endswith("...") for line in lines if line.strip())


def test_the_two_reports_are_told_apart() -> None:
    told = " ".join(run("report", "--help").stdout.split())
    assert "noisypairs reproduce" in told
    assert "noisypairs fit … --report report.html" in told


def test_version() -> None:
    result = run("--version")
    assert (result.exit_code, result.stdout) == (0, f"noisypairs {noisypairs.__version__}\n")


def test_without_typer_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typer", None)  # None makes the import fail
    with pytest.raises(SystemExit) as exit_:
        cli.main()
    assert exit_.value.code == 2
    error = capsys.readouterr().err
    assert "noisypairs[app]" in error
    assert len(error.splitlines()) == 1


def test_the_module_imports_without_typer() -> None:
    code = (
        "import sys; sys.modules['typer'] = None\n"  # None makes the import fail
        "from noisypairs import cli; cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "noisypairs[app]" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from typer.testing import CliRunner; before = set(sys.modules)\n"
        "from noisypairs import cli\n"
        "assert CliRunner().invoke(cli.application(), ['--help']).exit_code == 0\n"
        "heavy = {'scipy', 'sklearn', 'pandas', 'torch', 'matplotlib', 'ibis'}\n"
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_installed_script_runs_the_issues_command() -> None:
    script = Path(sysconfig.get_path("scripts")) / "noisypairs"
    done = subprocess.run(
        [script, *ISSUE, "--json"], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert json.loads(done.stdout) == as_json(*ISSUE)
