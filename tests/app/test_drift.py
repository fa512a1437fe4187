"""New items compared with those of training: what differs is said, what does not is not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from noisypairs.app import model_file
from noisypairs.app.drift import TrainingSummary, find_drift, summarise_training
from noisypairs.app.encoding import describe, item_encoder
from noisypairs.app.model_file import BadModelFile
from noisypairs.app.prediction import predict_file
from tests.app.fit.fit_problems import small_model, write_files
from tests.cli.commands import FIT, run


def table(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": rng.normal(10.0, 2.0, n),
            "colour": rng.choice(["red", "blue"], n),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 365, n), "D"),
            "weight": rng.exponential(size=n),
            "unit": "mm",
        }
    )


def compared(old: pd.DataFrame, new: pd.DataFrame) -> list[str]:
    plans = describe(old)
    encoder = item_encoder(old)
    X = encoder.fit_transform(old)
    stored = json.loads(json.dumps(summarise_training(old, plans, X), default=vars))
    trained = TrainingSummary.from_dict(stored)
    kinds = {plan.name: plan.kind for plan in plans if plan.name in trained.columns}
    return find_drift(new, kinds, encoder.transform(new), encoder, trained).notes


def test_items_drawn_alike_are_rarely_said_to_be_unlike() -> None:
    # Four checks at 0.1 % in 100 tables: more than 4 notes would come once in a thousand times.
    notes = [compared(table(80, seed), table(300, 1000 + seed)) for seed in range(100)]
    assert sum(map(len, notes)) <= 4


def test_every_kind_of_difference_is_named_by_column_with_its_share() -> None:
    old = table(200, 0)
    new = old.head(100).copy()  # the same items are like themselves
    assert compared(old, new) == []
    new.loc[:24, "colour"] = "green"
    new.loc[:9, "size"] += 100.0
    new.loc[:4, "weight"] = np.nan
    new["seen"] += pd.Timedelta(days=300)
    notes = compared(old, new)
    size, colour, seen, weight, far = notes
    assert "10% of the cells are outside the range of training" in size
    assert "25% of the cells are of a level not seen in training, such as 'green'" in colour
    assert "outside the range of training, 2024-01-03 to 2024-12-30" in seen
    assert "5% of the cells are missing, and none was in training" in weight
    assert "are far from the training items, where 1% are to be expected" in far


def test_one_wild_number_is_enough_and_one_a_little_outside_is_not() -> None:
    old = table(200, 0)
    (note,) = compared(old, table(1, 1).assign(size=1e6))
    assert note.startswith("column 'size': 100% of the cells are outside")
    assert compared(old, table(1, 1).assign(size=old["size"].max() + 0.5)) == []


def test_the_summary_holds_no_cell_of_the_items() -> None:
    old = table(200, 0)
    stored = summarise_training(old, describe(old), item_encoder(old).fit_transform(old))
    low, high = stored.columns["size"].low, stored.columns["size"].high
    assert low < old["size"].min() < old["size"].max() < high
    assert high - low < 1.03 * np.ptp(old["size"])
    assert "unit" not in stored.columns
    assert len(str(stored)) < 1000


def test_predict_says_so_on_stderr_and_as_json(tmp_path: Path) -> None:
    files = write_files(tmp_path, n_items=60, n_pairs=1200)
    model, out = tmp_path / "m.skops", tmp_path / "out.csv"
    assert run("fit", files.items, files.pairs, "-o", model, *FIT, "--quiet").exit_code == 0
    assert predict_file(model, files.items).notes == []
    items = pd.read_csv(files.items).assign(colour="green", width=1e4)
    items.to_csv(tmp_path / "new.csv", index=False)
    result = run("predict", model, tmp_path / "new.csv", "-o", out)
    said = " ".join(result.stderr.split())
    assert "Note: column 'colour': 100% of the cells are of a level not seen in training" in said
    assert "Note: column 'width': 100% of the cells are outside the range of training" in said
    assert "% of the items are far from the training items, where 1% are to be expected" in said
    told = json.loads(
        run("predict", model, tmp_path / "new.csv", "-o", out, "--force", "--json").stdout
    )
    assert [(one["column"], one["kind"], one["share"]) for one in told["drift"]["columns"]] == [
        ("width", "outside", 1.0),
        ("colour", "unseen", 1.0),
    ]
    assert told["drift"]["is_far"]
    assert 0.5 < told["drift"]["far_share"] <= 1.0
    assert (pd.read_csv(out).filter(like="P(") >= 1e-6).all(axis=None)


def test_a_damaged_summary_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = model_file.load(small_model().model)
    damaged = model_file.Model(loaded.pipeline, {**loaded.facts, "training": {"columns": 3}})
    monkeypatch.setattr(model_file, "load", lambda _: damaged)
    with pytest.raises(BadModelFile, match="description of the items is damaged"):
        predict_file(*small_model())
