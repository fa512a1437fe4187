"""sample: every file in a new folder, none over another."""

from __future__ import annotations

import json

from noisypairs.app.sample import FILES
from tests.cli.commands import content, fails, run


def test_the_sample_is_written_and_never_over_other_files(tmp_path):
    folder = tmp_path / "shop"
    result = run("sample", folder)
    assert result.exit_code == 0, result.stderr
    assert all(name in result.stdout for name in FILES)
    assert set(FILES) < {path.name for path in folder.iterdir()}
    first = content(folder)
    fails(2, "holds files already: name another folder, or use --force", folder, "sample", folder)
    told = json.loads(run("sample", folder, "--force", "--seed", "0", "--json").stdout)
    assert content(folder) == first
    assert len(told["files"]) == len(first)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    fails(2, "is a file: name a folder", tmp_path, "sample", tmp_path / "file")
    fails(2, "does not exist: make it first", tmp_path, "sample", tmp_path / "none" / "shop")
