"""predict in pipes: items from standard input, classes to standard output, a reader that stops."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.app.fit.fit_problems import small_model
from tests.cli.commands import fails, run


def test_standard_output_has_the_table_alone(tmp_path):
    (model, items), out = small_model(), tmp_path / "out.csv"
    assert run("predict", model, items, "-o", out).exit_code == 0
    piped = run("predict", model, items, "-o", "-")
    assert piped.stdout == out.read_text()
    assert "items classified" in piped.stderr
    assert run("predict", model, items, "-o", "-", "--quiet").stderr == ""
    said = "-o - and --json would both write to standard output"
    fails(2, said, tmp_path, "predict", model, items, "-o", "-", "--json")


def test_items_come_through_a_pipe_and_a_reader_that_has_enough_is_no_failure():
    model, items = small_model()
    command = Path(sysconfig.get_path("scripts")) / "noisypairs"
    if not command.exists():
        pytest.skip("the package is not installed with its command")
    many = 'import sys; rows = open(sys.argv[1]).read().split("\\n", 1); '
    many += 'print(rows[0]); [print(f"{k}{row}") for k in range(3000) for row in rows[1].split()]'
    line = f"python -c '{many}' {items} | {command} predict {model} - -o - --quiet | head -n 2"
    scripts = sysconfig.get_path("scripts")
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": f"{scripts}:/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 2
