"""Broken files, thousands of them: always a clear error or a valid result, never a traceback.

``NOISYPAIRS_FUZZ`` sets how many files each test tries.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from noisypairs import cli
from noisypairs.app.files import BadFile, Dataset, read_dataset

N_FILES = int(os.environ.get("NOISYPAIRS_FUZZ", "500"))

ITEMS = "id,size,colour,note\n" + "".join(
    f'{k:03d},{k / 7:.3f},{"red" if k % 3 else "blue"},"item, number {k}"\n' for k in range(12)
)
PAIRS = "left,right,same,worker,count\n" + "".join(
    f"{k % 12:03d},{(5 * k + 1) % 12:03d},{'yes' if k % 2 else 'no'},w{k % 5},{1 + k % 2}\n"
    for k in range(20)
)

WORDS = ["", " ", "007", "7", "7.0", "1e999", "-1e308", "nan", "inf", "None", "unsure", "maybe"]
CODES = ["1", "0", "-1", "2", "0.5", "yes", "NO", "same", "left", "must-link", "1_0", "=1+1"]
ODD = ["é", "中", "१२", "\x00", '"', '""', "'", "a,b", "a;b", "\t", "\n", "\r", "\ufeff"]
CELLS = st.sampled_from([*WORDS, *CODES, *ODD, "x" * 300, "9" * 400])
MARKS = [b'"', b",", b"\n", b"\r", b"\r\n", b";", b"\t", b" ", b"-", b"{", b"[[[", b"1e400", b""]
MAGIC = [b"\x00", b"\xff", b"\x81", b"\xe9", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"PAR1"]
BYTES = st.sampled_from([*MARKS, *MAGIC, b"PK\x03\x04"])
KEYS = ["match", "distinct", "data", "annotations", "result", "value", "choices", "type", "id"]
KEYS += ["left", "right", "same", "__class__", "__value__", "completed_by"]


@st.composite
def mutilated(draw: st.DrawFn, good: str) -> bytes:
    """A good file with bytes inserted, removed, doubled, swapped or cut off."""
    data = good.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16", "cp1252"])))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        to = min(at + draw(st.integers(0, 12)), len(data))
        what = draw(st.sampled_from(["insert", "replace", "remove", "double", "cut", "repeat"]))
        piece = draw(BYTES)
        data = {
            "insert": data[:at] + piece + data[at:],
            "replace": data[:at] + piece + data[to:],
            "remove": data[:at] + data[to:],
            "double": data[:to] + data[at:to] + data[to:],
            "cut": data[:at],
            "repeat": data + data[at:],
        }[what]
    return data


@st.composite
def broken_table(draw: st.DrawFn, good: str) -> bytes:
    """A good table with cells, rows and columns broken, then written with or without quotes."""
    rows = [line.split(",") for line in good.replace(", number", " number").splitlines()]
    for _ in range(draw(st.integers(1, 5))):
        row = draw(st.integers(0, len(rows) - 1))
        column = draw(st.integers(0, max(len(rows[row]) - 1, 0)))
        match draw(st.sampled_from(["cell", "cell", "whole", "drop", "extra", "twice", "header"])):
            case "cell" if rows[row]:
                rows[row][column] = draw(CELLS)
            case "whole":
                word = draw(CELLS)
                rows[1:] = [[*r[:column], word, *r[column + 1 :]] for r in rows[1:]]
            case "drop":
                rows[row] = rows[row][:-1]
            case "extra":
                rows[row] = [*rows[row], draw(CELLS)]
            case "twice":
                rows.append(list(rows[row]))
            case _:
                name = draw(st.sampled_from(["id", "left", "x", "", "same", "answer", "y"]))
                rows[0] = [name, *rows[0][1:]]
    mark = draw(st.sampled_from([",", ",", ";", "\t"]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join(mark.join(row) for row in rows).encode("utf-8", "surrogatepass")


def valid(data: Dataset) -> None:
    """Whatever was read obeys the contract that the commands rely on."""
    pairs = data.pairs
    assert data.features is not None
    assert len(data.ids) == len(set(data.ids)) == len(data.features) == pairs.n_items
    assert pairs.n_pairs > 0
    assert int(max(pairs.left.max(), pairs.right.max())) < pairs.n_items
    numbers = data.features.select_dtypes("number").to_numpy(dtype=float)
    assert not np.isinf(numbers).any()
    assert set(data.mapping)
    assert all(isinstance(note, str) for note in data.notes)
    assert pairs.weight is None or bool((pairs.weight > 0).all())


def attempt(*paths: Path | None) -> Dataset | None:
    """Read two files; a refusal must be ours, and name the file."""
    try:
        return read_dataset(*paths)
    except BadFile as error:
        said = str(error)
    named = any(path.name in said for path in paths if path is not None)
    assert named, said
    assert len(said) > 30, said
    return None


def written(folder: Path, items: bytes, pairs: bytes, names: tuple[str, str]) -> tuple[Path, Path]:
    first, second = folder / names[0], folder / names[1]
    first.write_bytes(items)
    second.write_bytes(pairs)
    return first, second


NAMES_CSV = ("items.csv", "pairs.csv")
NAMES = st.sampled_from([*[NAMES_CSV] * 4, ("items.tsv", "pairs.jsonl")])
FUZZ = settings(
    max_examples=N_FILES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@FUZZ
@example(
    items=b"\xef\xbb\xbf", pairs=b"", which=1, names=("items.csv", "pairs.csv")
)  # once a traceback
@given(items=mutilated(ITEMS), pairs=mutilated(PAIRS), which=st.integers(0, 2), names=NAMES)
def test_any_bytes_give_an_error_or_a_dataset(tmp_path, items, pairs, which, names) -> None:
    items, pairs = (items, PAIRS.encode()) if which == 1 else (items, pairs)
    files = written(tmp_path, ITEMS.encode() if which == 0 else items, pairs, names)
    if (data := attempt(*files)) is not None:
        valid(data)


@FUZZ
@given(items=broken_table(ITEMS), pairs=broken_table(PAIRS), which=st.integers(0, 2))
def test_any_table_gives_an_error_or_a_dataset(tmp_path, items, pairs, which) -> None:
    items, pairs = (items, PAIRS.encode()) if which == 1 else (items, pairs)
    files = written(tmp_path, ITEMS.encode() if which == 0 else items, pairs, NAMES_CSV)
    if (data := attempt(*files)) is not None:
        valid(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["same", "a", "", "left"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=12,
)


@settings(FUZZ, max_examples=N_FILES // 4)
@given(content=JSON, end=st.sampled_from([".json", ".jsonl"]))
def test_any_json_gives_an_error_or_a_dataset(tmp_path, content, end) -> None:
    path = tmp_path / f"pairs{end}"
    path.write_text(json.dumps(content))
    if (data := attempt(None, path)) is not None:
        assert data.pairs.n_pairs > 0


def test_good_files_pass_so_that_the_fuzz_starts_from_something(tmp_path) -> None:
    (tmp_path / "items.csv").write_text(ITEMS)
    (tmp_path / "pairs.csv").write_text(PAIRS)
    data = read_dataset(tmp_path / "items.csv", tmp_path / "pairs.csv")
    valid(data)
    assert data.pairs.n_pairs == 20
    assert data.features is not None
    assert list(data.features) == ["size", "colour", "note"]


@pytest.mark.parametrize("seed", range(25))
def test_the_command_ends_with_an_exit_code_and_one_line(tmp_path, seed) -> None:
    rng = random.Random(seed)
    data = bytearray(PAIRS.encode())
    for _ in range(rng.randint(1, 30)):
        data[rng.randrange(len(data))] = rng.choice(b'\x00\xff",\n\r;019aye ')
    items, pairs = tmp_path / "items.csv", tmp_path / "pairs.csv"
    items.write_text(ITEMS)
    pairs.write_bytes(bytes(data))
    result = CliRunner().invoke(
        cli.application(), ["check", str(items), str(pairs), "--no-fit", "--quiet", "--json"]
    )
    assert result.exit_code in (0, 1)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    if result.exit_code:
        assert result.stderr.startswith("Error: ")
        assert result.stderr.count("\n") == 1
        assert not result.stdout
    else:
        assert result.stdout.startswith("{")
