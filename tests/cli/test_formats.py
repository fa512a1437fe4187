"""``noisypairs formats``, and the options that say how a file is read."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from noisypairs.app.files import FORMATS
from tests.cli.commands import fails, run

SHAPES = Path(__file__).parents[1] / "data" / "formats"


def test_formats_are_listed_and_shown():
    listed = run("formats")
    assert listed.exit_code == 0
    first = [line.split()[0] for line in listed.stdout.splitlines() if line.strip()]
    assert set(FORMATS) <= set(first)
    assert "can't tell" in listed.stdout
    shown = run("formats", "prodigy").stdout
    assert '"answer": "accept"' in shown
    assert "Checked against: documentation only." in shown
    found = json.loads(run("formats", "--json").stdout)
    assert [one["name"] for one in found["formats"]] == list(FORMATS)
    assert all(one["example"]["text"] for one in found["formats"] if one["name"] != "ask")
    assert "same" in found["words"]["same"]


def test_an_unknown_format_gets_a_hint(tmp_path):
    fails(2, "did you mean 'prodigy'", tmp_path, "formats", "prodgy")


def test_own_words_and_the_option_of_a_column(tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("u,v,said,more\na,b,aye,1\nb,c,nay,2\na,c,nay,2\n")
    words = ["check", SHAPES / "items.csv", pairs, "--no-fit", "--quiet", "--json"]
    fails(1, "Name it: --same", tmp_path, *words)
    fails(1, '--answers "aye=…,nay=…"', tmp_path, *words, "--same", "said")
    fails(2, "cannot mean 'good'", tmp_path, *words, "--answers", "aye=good")
    done = run(*words, "--answers", "aye=same,nay=different")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["mapping"] == {"aye": "same", "nay": "different"}


def test_items_that_are_ids_only_are_said_to_be_so(tmp_path):
    items, pairs = tmp_path / "items.csv", tmp_path / "pairs.csv"
    names = [f"p{k}" for k in range(30)]
    items.write_text("sku,file\n" + "".join(f"{n},https://x.org/{n}.jpg\n" for n in names))
    ends = pairwise(names)
    pairs.write_text("left,right,same\n" + "".join(f"{a},{b},{len(b) % 2}\n" for a, b in ends))
    found = json.loads(run("check", items, pairs, "--no-fit", "--json").stdout)
    assert found["problems"][0].startswith("the items have no column to learn from: file (address")
