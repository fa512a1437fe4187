"""What the written-out gradients of `noisypairs.torch.descent` buy over torch's own optimiser.

    python benchmarks/descent.py

Both train the paper's network from the same weights on the same batches of 32, one thread, in one
run and in turn; medians of five fits. The network inside another `Sequential` is one that torch's
optimiser trains. Writes benchmarks/records/descent.json.
"""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from noisypairs.torch import TorchRegressor, paper_network
from protocol import machine
from torch import nn

RECORD = Path(__file__).parent / "records" / "descent.json"
SIZES, EPOCHS, FITS = ((500, 8), (2_000, 20), (10_000, 50)), 20, 5
WAYS = {"descent": paper_network, "torch": lambda d: nn.Sequential(paper_network(d))}


def fit(way: str, n_items: int, n_features: int) -> tuple[float, np.ndarray]:
    """Return the seconds of one fit, and what it predicts for the items."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_items, n_features))
    target = (X[:, 0] + rng.normal(size=n_items) > 0).astype(float)
    network = TorchRegressor(WAYS[way], max_epochs=EPOCHS, n_threads=1, random_state=0)
    start = time.perf_counter()
    network.fit(X, target)
    return time.perf_counter() - start, network.predict(X)


def compare(n_items: int, n_features: int) -> dict[str, Any]:
    """Return median seconds both ways, their ratio, and how far the predictions differ."""
    runs = [{way: fit(way, n_items, n_features) for way in WAYS} for _ in range(FITS)]
    seconds = {way: statistics.median(run[way][0] for run in runs) for way in WAYS}
    apart = float(np.abs(runs[0]["descent"][1] - runs[0]["torch"][1]).max())
    row = {"items": n_items, "features": n_features, **seconds}
    return row | {"ratio": seconds["torch"] / seconds["descent"], "largest difference": apart}


def main() -> None:
    """Compare on every size, print a table and write the record."""
    fit("torch", 64, 2)  # torch sets itself up once
    rows = [compare(*size) for size in SIZES]
    for row in rows:
        print(row, flush=True)
    RECORD.write_text(json.dumps({"machine": machine(), "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
