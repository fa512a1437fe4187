"""What content is worth: encoders on the same answers, and how many answers they save.

    NOISYPAIRS_DATA=… python benchmarks/content.py         # what is recorded is not run again
    python benchmarks/content.py --print                   # the tables of docs/content.md

Texts are ten intents of ``text/banking30.csv``, drawn anew each time. Pictures are drawn (four
shapes, any colour, size, place and background), and digits of scikit-learn as PNG files; sounds are
synthesised (a plucked string, a bell, an engine, wind). Four pairs per item, 20 % of the answers
wrong, the number of classes given; accuracy on the quarter of the items that was held out, up to
names, with its standard error over draws, and that of logistic regression on the true classes.

Asking is as ``noisypairs ask`` does it, 10 % of the answers wrong: how many answers it takes until
95 % of the items at hand are in the right class, with the features and without any.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image, ImageDraw
from scipy.io import wavfile
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from noisypairs import JointPairClassifier, PairingNoise, Pairs, sample_pairs
from noisypairs.app.encoding import item_encoder
from noisypairs.app.files.media import with_media
from noisypairs.assess import first_pairs
from noisypairs.encoders import ENCODERS
from noisypairs.errors import NotIdentifiable
from noisypairs.metrics import accuracy_up_to_names
from protocol import attempt, mean_error, read, run, select

DRAWS, PAIRS_PER_ITEM, NOISE = 5, 4, PairingNoise(0.2, 0.2)
#: Asking: share of wrong answers, answers of a batch, and the accuracy that is enough.
WRONG, BATCH, TARGET, MOST_PER_ITEM = 0.1, 100, 0.95, 20

Drawn = tuple[pd.DataFrame, np.ndarray]


def texts(folder: Path, rng: np.random.Generator) -> Drawn:
    del folder
    table = pd.read_csv(Path(os.environ["NOISYPAIRS_DATA"], "text", "banking30.csv"))
    ten = rng.choice(sorted(table["category"].unique()), 10, replace=False)
    some = table[table["category"].isin(ten)].reset_index(drop=True)
    return some[["text"]], np.unique(some["category"], return_inverse=True)[1]


def shapes(folder: Path, rng: np.random.Generator, n_items: int = 400) -> Drawn:
    y = rng.integers(4, size=n_items)
    for k, kind in enumerate(y):
        drawn_shape(int(kind), rng).save(folder / f"{k}.png")
    return located(folder, [f"{k}.png" for k in range(n_items)]), y


def drawn_shape(kind: int, rng: np.random.Generator) -> Image.Image:
    """Return a disc, a square, a triangle or a cross, with noise, 64 by 64 pixels."""
    ground, colour = rng.integers(0, 256, (2, 3))
    while np.abs(ground - colour).sum() < 150:
        colour = rng.integers(0, 256, 3)
    picture = Image.new("RGB", (64, 64), tuple(map(int, ground)))
    pen, size = ImageDraw.Draw(picture), rng.uniform(12, 24)
    x, y = rng.uniform(size + 1, 63 - size, 2)
    fill = tuple(map(int, colour))
    if kind == 0:
        pen.ellipse((x - size, y - size, x + size, y + size), fill=fill)
    elif kind == 1:
        pen.rectangle((x - size, y - size, x + size, y + size), fill=fill)
    elif kind == 2:
        pen.polygon([(x, y - size), (x - size, y + size), (x + size, y + size)], fill=fill)
    else:
        pen.rectangle((x - size, y - size / 3, x + size, y + size / 3), fill=fill)
        pen.rectangle((x - size / 3, y - size, x + size / 3, y + size), fill=fill)
    noisy = np.asarray(picture) + rng.normal(0, 12, (64, 64, 3))
    return Image.fromarray(noisy.clip(0, 255).astype(np.uint8))


def digits(folder: Path, rng: np.random.Generator, n_items: int = 800) -> Drawn:
    pixels, y = load_digits(return_X_y=True)
    rows = rng.choice(len(y), n_items, replace=False)
    for row in rows:
        level = (pixels[row].reshape(8, 8) * 15.9).astype(np.uint8)
        Image.fromarray(level).save(folder / f"{row}.png")
    return located(folder, [f"{row}.png" for row in rows]), y[rows]


def sounds(folder: Path, rng: np.random.Generator, n_items: int = 300) -> Drawn:
    y = rng.integers(4, size=n_items)
    for k, kind in enumerate(y):
        samples = synthesised(int(kind), rng)
        wavfile.write(folder / f"{k}.wav", 16_000, (samples * 20_000).astype(np.int16))
    return located(folder, [f"{k}.wav" for k in range(n_items)]), y


def synthesised(kind: int, rng: np.random.Generator, rate: int = 16_000) -> np.ndarray:
    """Return a second of a string, a bell, an engine or wind, of any pitch, in some noise."""
    t = np.arange(rate) / rate
    pitch = 110.0 * 2 ** rng.uniform(0, 2)
    if kind == 0:  # harmonics that fade, the higher the sooner
        parts = [np.exp(-(2 + k) * t) * np.sin(2 * np.pi * k * pitch * t) / k for k in range(1, 12)]
    elif kind == 1:  # partials that are no harmonics, and fade slowly
        ratios = (1.0, 2.76, 5.40, 8.93)
        parts = [np.exp(-1.5 * t) * np.sin(2 * np.pi * r * 2 * pitch * t) / r for r in ratios]
    elif kind == 2:  # strokes
        strokes = (t * rng.uniform(8, 20)) % 1.0
        parts = [np.exp(-8 * strokes) * rng.normal(size=rate), np.sin(2 * np.pi * pitch / 2 * t)]
    else:  # noise that swells, low pitches above all
        swell = 1 + 0.5 * np.sin(2 * np.pi * rng.uniform(0.5, 2) * t)
        parts = [swell * np.convolve(rng.normal(size=rate), np.ones(20) / 4, mode="same")]
    whole = np.sum(parts, axis=0)
    noisy = whole / np.abs(whole).max() + rng.uniform(0.01, 0.1) * rng.normal(size=rate)
    return rng.uniform(0.2, 0.8) * noisy / np.abs(noisy).max()


def located(folder: Path, names: list[str]) -> pd.DataFrame:
    """Return a table of files, as the commands read it."""
    found, _ = with_media(pd.DataFrame({"file": names}), names, folder / "items.csv", "file")
    assert found is not None
    return found


TASKS: dict[str, tuple[str, Callable[..., Drawn]]] = {
    "texts": ("text", texts),
    "shapes": ("picture", shapes),
    "digits": ("picture", digits),
    "sounds": ("sound", sounds),
}


def judged(task: str, encoder: str, draw: int) -> dict[str, Any]:
    """Return how good classes of new items are, and what encoding them takes."""
    rng = np.random.default_rng(draw)
    with tempfile.TemporaryDirectory() as folder:
        table, y = TASKS[task][1](Path(folder), rng)
        train, test = train_test_split(
            np.arange(len(y)), test_size=0.25, stratify=y, random_state=draw
        )
        columns = item_encoder(table.iloc[train], 0, encoder)
        columns.fit(table.iloc[train[:50]])  # weights and modules are loaded
        begun = time.process_time()
        X = columns.fit_transform(table.iloc[train])
        new = columns.transform(table.iloc[test])
        seconds = time.process_time() - begun
    pairs = sample_pairs(y[train], PAIRS_PER_ITEM * len(train), NOISE, random_state=draw)
    tried = attempt(X, pairs, n_classes=len(np.unique(y)))
    accuracy = 0.0
    if tried.model is not None:
        accuracy = accuracy_up_to_names(y[test], tried.model.predict(new))
    ceiling = LogisticRegression(max_iter=2000).fit(X, y[train]).score(new, y[test])
    return tried.facts | {
        "accuracy": float(accuracy),
        "true_labels": float(ceiling),
        "encode_seconds_per_1000": 1000 * seconds / len(y),
        "n_features": X.shape[1],
        "n_items": len(y),
    }


def asked(task: str, encoder: str, draw: int) -> dict[str, Any]:
    """Return after how many answers 95 % of the items are right, asked as by `noisypairs ask`."""
    rng = np.random.default_rng(draw)
    with tempfile.TemporaryDirectory() as folder:
        table, y = TASKS[task][1](Path(folder), rng, 300)
        X = np.zeros((len(y), 1))
        if encoder != "none":
            X = item_encoder(table, 0, encoder).fit_transform(table)
    inner = None if X.any() else LogisticRegression()
    model = JointPairClassifier(inner, n_classes=len(np.unique(y)), warm_start=True, random_state=0)
    left = right = np.empty(0, dtype=int)
    chosen, said = np.empty(0, dtype=bool), np.empty(0, dtype=bool)
    curve: list[tuple[int, float]] = []
    more = first_pairs(X, BATCH, random_state=draw)
    while len(left) < MOST_PER_ITEM * len(y):
        left, right = np.r_[left, more.left], np.r_[right, more.right]
        chosen = np.r_[chosen, more.chosen]
        truth = y[more.left] == y[more.right]
        said = np.r_[said, truth ^ (rng.random(len(truth)) < WRONG)]
        pairs = Pairs(left, right, said, n_items=len(y), chosen=chosen)
        try:
            model.fit(X, pairs)
        except NotIdentifiable:
            more = first_pairs(X, BATCH, asked=(left, right), random_state=len(left))
            continue
        right_now = accuracy_up_to_names(y, model.item_proba_.argmax(axis=1))
        curve.append((len(left), float(right_now)))
        if right_now >= TARGET:
            break
        more = model.next_pairs(BATCH, random_state=len(left))
    reached = curve[-1][1] >= TARGET if curve else False
    return {"answers": len(left), "reached": reached, "curve": curve, "n_items": len(y)}


def task(kind: str, **cell: Any) -> dict[str, Any]:
    return judged(**cell) if kind == "judged" else asked(**cell)


def cells() -> list[dict[str, Any]]:
    found = [
        {"kind": "judged", "task": name, "encoder": encoder.name, "draw": draw}
        for draw in range(DRAWS)
        for name, (reads, _) in TASKS.items()
        for encoder in ENCODERS.values()
        if encoder.reads == reads and encoder.rank is not None and encoder.is_installed()
    ]
    return found + [
        {"kind": "asked", "task": name, "encoder": encoder, "draw": draw}
        for draw in range(3)
        for name in ("shapes", "digits")
        for encoder in ("histograms", "none")
    ]


def tables(records: list[dict[str, Any]]) -> list[str]:
    """Return both tables of docs/content.md as lines."""
    lines = [
        "| content | encoder | numbers | s per 1,000 items | accuracy | with true classes |",
        "|---|---|---|---|---|---|",
    ]
    for name, (reads, _) in TASKS.items():
        for encoder in ENCODERS.values():
            found = select(records, kind="judged", task=name, encoder=encoder.name)
            if not found or encoder.reads != reads:
                continue
            mean, error = mean_error(one["accuracy"] for one in found)
            ceiling, _ = mean_error(one["true_labels"] for one in found)
            seconds = np.median([one["encode_seconds_per_1000"] for one in found])
            width = max(one["n_features"] for one in found)
            row = (name, f"`{encoder.name}`", f"{width:,}", f"{seconds:.2f}")
            doubt = f" ± {error:.3f}" if len(found) > 1 else ""
            row += (f"{mean:.3f}{doubt} ({len(found)})", f"{ceiling:.3f}")
            lines.append(f"| {' | '.join(row)} |")
    lines += ["", "| asking about | features | without |", "|---|---|---|"]
    for name in TASKS:
        both = [
            select(records, kind="asked", task=name, encoder=one) for one in ("histograms", "none")
        ]
        if all(both):
            shown = [
                ", ".join(
                    f"{one['answers']:,}" if one["reached"] else f"> {one['answers']:,}"
                    for one in found
                )
                for found in both
            ]
            lines.append(f"| {both[0][0]['n_items']} {name} | {' | '.join(shown)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--print", action="store_true", dest="only_print", help="run nothing")
    parser.add_argument("--kind", choices=("judged", "asked"), help="only these")
    parser.add_argument("--task", choices=tuple(TASKS), help="only this content")
    given = parser.parse_args()
    if not given.only_print:
        wanted = {"kind": given.kind, "task": given.task}
        todo = [one for one in cells() if all(v is None or one[k] == v for k, v in wanted.items())]
        run(task, todo, "content")
    print("\n".join(tables(read("content"))))


if __name__ == "__main__":
    main()
