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
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from noisypairs import cli
from noisypairs.app.files import BadFile, Dataset, read_dataset
from tests.fuzz.mutators import Mutator, broken_table, mutilated, odd_value, recoded

N_FILES = int(os.environ.get("NOISYPAIRS_FUZZ", "500"))

ITEMS = "id,size,colour,note\n" + "".join(
    f'{k:03d},{k / 7:.3f},{"red" if k % 3 else "blue"},"item, number {k}"\n' for k in range(12)
)
PAIRS = "left,right,same,worker,count\n" + "".join(
    f"{k % 12:03d},{(5 * k + 1) % 12:03d},{'yes' if k % 2 else 'no'},w{k % 5},{1 + k % 2}\n"
    for k in range(20)
)


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
FUZZ = settings(
    max_examples=N_FILES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
RANDOM = st.randoms(use_true_random=False)


def damaged(rng: random.Random, *mutators: Mutator) -> tuple[bytes, bytes]:
    """Items and pairs, one of them or both changed."""
    good = (ITEMS.encode(), PAIRS.encode())
    which = rng.choice(((0,), (1,), (0, 1)))
    items, pairs = (
        rng.choice(mutators)(one, rng) if k in which else one for k, one in enumerate(good)
    )
    return items, pairs


@FUZZ
@given(rng=RANDOM)
def test_any_bytes_give_an_error_or_a_dataset(tmp_path, rng) -> None:
    names = rng.choice([*[NAMES_CSV] * 4, ("items.tsv", "pairs.jsonl")])
    items, pairs = damaged(rng, mutilated, mutilated, mutilated, recoded)
    if (data := attempt(*written(tmp_path, items, pairs, names))) is not None:
        valid(data)


def test_a_mark_and_nothing_behind_it_are_refused(tmp_path) -> None:
    files = written(tmp_path, b"\xef\xbb\xbf", b"", NAMES_CSV)  # once a traceback
    assert attempt(*files) is None


@FUZZ
@given(rng=RANDOM)
def test_any_table_gives_an_error_or_a_dataset(tmp_path, rng) -> None:
    files = written(tmp_path, *damaged(rng, broken_table), NAMES_CSV)
    if (data := attempt(*files)) is not None:
        valid(data)


@settings(FUZZ, max_examples=N_FILES // 4)
@given(rng=RANDOM, end=st.sampled_from([".json", ".jsonl"]))
def test_any_json_gives_an_error_or_a_dataset(tmp_path, rng, end) -> None:
    path = tmp_path / f"pairs{end}"
    path.write_text(json.dumps(odd_value(rng)))
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
    spoilt = mutilated(PAIRS.encode(), random.Random(seed))
    items, pairs = written(tmp_path, ITEMS.encode(), spoilt, NAMES_CSV)
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
