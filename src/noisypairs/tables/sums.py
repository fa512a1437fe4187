"""Sums over a table of answers, as Ibis expressions: they run wherever the table lives.

``answers`` is always an Ibis table with columns left, right, same and perhaps weight and annotator.
Results have one row per item (or annotator, or distinct pair count), never one per pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.tables.engine import fetch, load_arrow, load_ibis


def weight_of(answers: Any) -> Any:
    """Return the weight of each answer as an expression: its column, or one."""
    return answers.weight if "weight" in answers.columns else load_ibis().literal(1.0)


def ends(answers: Any, *columns: str) -> Any:
    """Return each answer twice, once per end: columns item, other, same, weight; no self pairs."""
    proper = answers.filter(answers.left != answers.right)
    kept = {name: proper[name] for name in ("same", *columns)}
    if "weight" in answers.columns:
        kept["weight"] = proper.weight
    first = proper.select(item=proper.left, other=proper.right, **kept)
    second = proper.select(item=proper.right, other=proper.left, **kept)
    return first.union(second, distinct=False)


def count_items(answers: Any, n_items: int) -> tuple[Array, Array, NDArray[np.int64]]:
    """Return (weight of "same", weight of all, number of answers) per item, (n_items,) each."""
    both = ends(answers)
    facts = {"same": both.same.cast("int64").sum(), "n": both.count()}
    if "weight" in both.columns:
        facts |= {"same": (both.weight * both.same.cast("float64")).sum()}
        facts |= {"total": both.weight.sum()}
    rows = fetch(both.group_by("item").agg(**facts))
    at = rows["item"].to_numpy()
    found = {name: np.zeros(n_items) for name in facts}
    for name, values in found.items():
        values[at] = rows[name].to_numpy()
    return found["same"], found.get("total", found["n"]), found["n"].astype(np.int64)


def sum_neighbours(answers: Any, values: Array) -> tuple[Array, Array]:
    """Return Σ_j weight · values[j] over "same" and over "different" answers of each item.

    ``values`` is (n_items, k); both results are too. The values travel to the engine as a table of
    n_items rows and are joined there to the other end of every answer.
    """
    pa = load_arrow()
    n_items, k = values.shape
    columns = {f"v{c}": pa.array(values[:, c]) for c in range(k)}
    known = load_ibis().memtable(pa.table({"other": pa.array(np.arange(n_items)), **columns}))
    both = ends(answers)
    both = both.mutate(other=both.other.cast("int64")).inner_join(known, "other")
    weight = weight_of(both)
    sums = {f"v{c}": (both[f"v{c}"] * weight).sum() for c in range(k)}
    rows = fetch(both.group_by(["item", "same"]).agg(**sums))
    found = np.zeros((2, n_items, k))
    at = rows["same"].to_numpy(zero_copy_only=False).astype(np.intp), rows["item"].to_numpy()
    for c in range(k):
        found[at[0], at[1], c] = rows[f"v{c}"].to_numpy()
    return found[1], found[0]


def count_annotators(answers: Any) -> list[tuple[Any, float, float, int]]:
    """Return (annotator, weight of "same", weight of all, number of answers), in no order."""
    weight = weight_of(answers)
    grouped = answers.group_by("annotator").agg(
        same=(weight * answers.same.cast("float64")).sum(),
        total=(weight * load_ibis().literal(1.0)).sum()
        if "weight" in answers.columns
        else answers.count(),
        n=answers.count(),
    )
    rows = fetch(grouped).to_pylist()
    return [(r["annotator"], float(r["same"]), float(r["total"]), int(r["n"])) for r in rows]


def count_repeats(answers: Any) -> dict[str, int]:
    """Return how many unordered pairs were asked again, answers beyond the first, contradictions.

    The only sum here whose groups can be as many as the pairs: the engine spills it to disk.
    """
    ibis = load_ibis()
    proper = answers.filter(answers.left != answers.right)
    low, high = ibis.least(proper.left, proper.right), ibis.greatest(proper.left, proper.right)
    pairs = proper.select(low=low, high=high, yes=proper.same.cast("int64"))
    asked = pairs.group_by(["low", "high"]).agg(n=pairs.count(), yes=pairs.yes.sum())
    again = asked.filter(asked.n > 1)
    facts = again.agg(
        repeated_pairs=again.count(),
        repeated_answers=(again.n - 1).sum(),
        contradictions=((again.yes > 0) & (again.yes < again.n)).sum(),
    )
    (row,) = fetch(facts).to_pylist()
    return {name: int(value or 0) for name, value in row.items()}


def count_copies(answers: Any) -> int:
    """Return how many answers copy another: same unordered pair, answer, annotator and weight.

    Zero where the table does not say who answered. Its groups can be as many as the answers.
    """
    if "annotator" not in answers.columns:
        return 0
    ibis = load_ibis()
    low, high = ibis.least(answers.left, answers.right), ibis.greatest(answers.left, answers.right)
    names = {"same", "annotator", "weight"} & set(answers.columns)
    kept = {name: answers[name] for name in sorted(names)}
    named = answers.select(low=low, high=high, **kept)
    asked = named.group_by(["low", "high", *kept]).agg(n=named.count())
    return int(fetch(asked.agg(copies=(asked.n - 1).sum()))["copies"][0].as_py() or 0)


def some_pairs(answers: Any, share: float, seed: int) -> Any:
    """Keep about ``share`` of the unordered pairs, chosen by a hash of their two positions.

    (a·low + b·high + c) mod p with p = 2³¹ − 1 fits 64-bit integers, so every engine keeps the
    same pairs whatever their order, and all the answers on a pair are kept or left together.
    """
    ibis = load_ibis()
    prime = 2**31 - 1
    a, b, c = np.random.default_rng(seed).integers(prime // 2, prime, size=3).tolist()
    low = ibis.least(answers.left, answers.right).cast("int64")
    high = ibis.greatest(answers.left, answers.right).cast("int64")
    key = ((low * a) % prime + (high * b) % prime + c) % prime
    return answers.filter(key < int(share * prime))


def pairs_among_some(answers: Any, share: float) -> Any:
    """Keep the pairs whose two items are both among about ``share`` of the items, by a hash."""
    prime = 2**31 - 1
    for end in ("left", "right"):
        item = answers[end].cast("int64") % prime
        key = (item * 1_103_515_245 + 12_345) % prime
        key = (key * key + item) % prime  # squared: neighbours are kept independently
        answers = answers.filter(key <= int(share * prime))
    return answers


def among_items(answers: Any, kept: NDArray[np.int64]) -> Any:
    """Return the answers whose two items are both in ``kept``, renumbered in that order."""
    pa = load_arrow()
    moved = pa.array(np.arange(kept.size))
    for end in ("left", "right"):
        new = load_ibis().memtable(pa.table({f"{end}_old": pa.array(kept), f"{end}_new": moved}))
        answers = answers.mutate(**{f"{end}_old": answers[end].cast("int64")})
        answers = answers.inner_join(new, f"{end}_old")
        answers = answers.drop(end, f"{end}_old").rename({end: f"{end}_new"})
    return answers
