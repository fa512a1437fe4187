"""
A judge that errs in its own way
================================

A language model is a cheap judge of "are these two the same?", and a consistent one: what it
misreads, it misreads every time. Its answers agree with each other, so they look right. Here a
simulated judge confuses some products of two shops. Its own answers cannot show that; sixty answers
of people can.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import noisypairs

rng = np.random.default_rng(0)
N = 150
items = pd.DataFrame(
    {"title": [f"product {k // 2} of shop {k % 2}" for k in range(2 * N)]},
    index=[f"i{k}" for k in range(2 * N)],
)
pairs = [(f"i{2 * k}", f"i{2 * ((k + d) % N) + 1}") for k in range(N) for d in (0, 1)]
truth = {pair: k % 2 == 0 for k, pair in enumerate(pairs)}
#: What the judge misreads, whoever asks and in whatever order.
misread = {frozenset(pair) for pair in pairs if rng.random() < 0.12}


def judge(left, right):
    """Return what a model would say to two items."""
    pair = (left.id, right.id) if (left.id, right.id) in truth else (right.id, left.id)
    return truth[pair] != (frozenset(pair) in misread)


# %%
# The judge answers every pair, some of them twice. It never contradicts itself, and nothing is
# stated about its accuracy: it cannot be known.
folder = Path(tempfile.mkdtemp())
settings = {"store": folder / "answers.db", "pairs": pairs, "budget": 1000}
alone = noisypairs.judge(items, judge, **settings)
print(*alone.lines(), sep="\n")


# %%
# People answer the pairs that were drawn for them, in a file; ``noisypairs ask`` would do as well.
def measured(n):
    """Return what is known after people's answers to the first ``n`` pairs."""
    todo = alone.people.head(n)[["left", "right"]]
    ends = list(todo.itertuples(index=False, name=None))
    same = [truth.get(pair, truth.get(pair[::-1])) for pair in ends]
    todo.assign(same=same).to_csv(folder / "people.csv", index=False)
    return noisypairs.judge(items, judge, gold=folder / "people.csv", **settings)


found = [measured(n) for n in (15, 30, len(alone.people))]
print(*found[-1].lines(), sep="\n")

# %%
# The interval narrows with every answer of a person, and holds the share that is right.
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
for k, one in enumerate(found):
    interval = one.accuracy
    axes.plot([k, k], [interval.low, interval.high], color="#0072b2", linewidth=3)
    axes.plot(k, interval.estimate, "o", color="#0072b2")
axes.axhline(1 - len(misread) / len(pairs), color="#d55e00", label="the judge is right")
axes.set_xticks(range(len(found)), [f"{one.n_known} people's answers" for one in found])
axes.set_ylabel("stated accuracy of the pairs")
axes.legend(loc="lower right")
plt.show()
