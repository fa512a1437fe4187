"""
A million answers that stay on disk
===================================

The point-wise learners need two numbers per item: how often it was called "same", and how often
"different". ``PairTable`` leaves the answers in Parquet files and lets DuckDB count them, so
learning takes memory for the items, not for the pairs. The time is that of a few passes over the
file.
"""

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.linear_model import Ridge

from noisypairs import LossCorrectionClassifier, PairingNoise, PairTable, datasets, sample_pairs

NOISE = PairingNoise(similar_flip=0.3, dissimilar_flip=0.2)
SIZES = (10_000, 100_000, 1_000_000)
folder = Path(tempfile.mkdtemp())

# %%
# Files of answers about the same 5,000 items: the items by their row numbers, the answer as a word.
X, y = datasets.load("gaussians", n_samples=5_000, prior=0.3, random_state=0)
X = X + np.random.default_rng(0).normal(scale=2.0, size=X.shape)
new, y_new = datasets.load("gaussians", n_samples=5_000, prior=0.3, random_state=1)
new = new + np.random.default_rng(1).normal(scale=2.0, size=new.shape)
for n in SIZES:
    pairs = sample_pairs(y, n, NOISE, random_state=0)
    words = np.array(["different", "same"])[pairs.same.astype(int)]
    table = pa.table({"left": pairs.left, "right": pairs.right, "answer": words})
    pq.write_table(table, folder / f"{n}.parquet")


# %%
# Opening and counting is one pass in DuckDB. The fit asks the engine for some more sums, such as
# copied answers, and then trains on one row per item.
def measure(n):
    """Return (seconds to open and count, seconds of the fit, accuracy on new items)."""
    start = time.perf_counter()
    pairs = PairTable.from_parquet(folder / f"{n}.parquet", n_items=len(X), same="answer")
    pairs.item_counts()
    counted = time.perf_counter()
    model = LossCorrectionClassifier(Ridge(), noise=NOISE, prior=0.3).fit(X, pairs)
    return counted - start, time.perf_counter() - counted, model.score(new, y_new)


measure(SIZES[0])  # the first use of an engine starts it
passes, fits, accuracy = np.array([measure(n) for n in SIZES]).T
for n, *row in zip(SIZES, passes, fits, accuracy, strict=True):
    print("{:>9,} answers: counted in {:.2f} s, fit in {:.3f} s, {:.1%} right".format(n, *row))

# %%
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.loglog(SIZES, passes, "o-", color="#0072b2", label="opening and counting")
axes.loglog(SIZES, fits, "s-", color="#d55e00", label="the fit")
for n, seconds, share in zip(SIZES, fits, accuracy, strict=True):
    axes.annotate(f"{share:.1%} right", (n, seconds), (0, -16), textcoords="offset points")
axes.set(xlabel="answers", ylabel="seconds", title="5,000 items, answers in Parquet")
axes.set_xlim(6_000, 2_600_000)
axes.set_ylim(min(fits) / 3, None)
axes.legend(frameon=False)
plt.show()
