"""Belief propagation as queries: the pairs stay in the engine, and no message is stored.

Belief propagation keeps two messages per pair. They need not be kept: with h the log-beliefs of the
items and f the message an answer makes of a cavity,

    m_{j→i}(t) = f( h_j(t−1) − m_{i→j}(t−1) ),   m_{i→j}(t−1) = f( h_i(t−2) − m_{j→i}(t−2) ),   …

so the beliefs of the last ``depth`` sweeps give them back, pair by pair, while the pairs are read.
For the first ``depth`` sweeps this is exactly belief propagation. Later the truncation error
shrinks with every level by the slope of f, which is below one. Two things differ from
`noisypairs.graph.propagation`: answers on one pair are not merged (each is an edge of its own,
which counts repeats a little too often), and damping acts on items.

``beliefs`` is an Ibis table with a row per item: ``item``; ``known`` (its class is); log-odds of
class k = 1 … K − 1 against class 0 as ``f_k``, of the potential φ, and ``h0_k``, ``h1_k``, …, of
the last sweeps, newest first; ``scale``, log Σ_y φ(y) Π m(y) of the newest. ``answers`` has left,
right (items), same and perhaps who (a code) and weight. ``responses`` is (R or 1, 2, K, K),
P("different") and P("same") given both classes.
"""

from __future__ import annotations

from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np

from noisypairs.algebra import Array
from noisypairs.graph.propagation import PROBABILITY_FLOOR
from noisypairs.tables.engine import load_arrow, load_ibis

#: Log-odds of beliefs, and of the entries of a factor, stay within these: e to the power of twice
#: their sum is still a number.
REACH, FACTOR_REACH = 250.0, 28.0
#: Items in a block: the pairs of two blocks lie together, so that a join finds both in the cache.
BLOCK = 1 << 15


def laid_out(answers: Any, n_items: int, codes: Any = None) -> Any:
    """Return the answers in the order of blocks of their items, with as few bytes as possible.

    ``codes`` is a table from annotator to who, where people differ.
    """
    kind = item_type(n_items)
    table = answers if codes is None else answers.inner_join(codes, "annotator")
    more = [name for name in ("who", "weight") if name in table.columns]
    table = table.select("same", *more, left=table.left.cast(kind), right=table.right.cast(kind))
    return table.order_by([table[end] // BLOCK for end in ("left", "right")])


def item_type(n_items: int) -> str:
    """Return the type of the positions of items."""
    return "int32" if n_items < 2**31 else "int64"


def log_odds_of(proba: Array) -> Array:
    """Return log-odds against class 0, (n, K − 1), of probabilities (n, K)."""
    log = np.log(np.maximum(proba, np.exp(-REACH)))
    return np.asarray(log[:, 1:] - log[:, :1])


def n_classes(beliefs: Any) -> int:
    """Return K."""
    return 1 + len([name for name in beliefs.columns if name.startswith("f_")])


def n_past(beliefs: Any) -> int:
    """Return how many sweeps are remembered."""
    return sum(name.startswith("h") and name.endswith("_1") for name in beliefs.columns)


def edges(answers: Any, beliefs: Any, responses: Array) -> Any:
    """Join every answer with both items, and find the cavities of both under the newest beliefs.

    Columns of the answers, and: cl_k and cr_k, the odds of the cavities; l0_k and r0_k, those of
    the beliefs; the factor ψ of the answer (`_factors`).
    """
    K, depth = responses.shape[-1], n_past(beliefs)
    table = _with_factors(answers.filter(answers.left != answers.right), responses)
    for end, name in (("l", "left"), ("r", "right")):
        odds = {
            f"{end}{t}_{k}": beliefs[f"h{t}_{k}"].exp() for t in range(depth) for k in range(1, K)
        }
        table = table.inner_join(beliefs.select(**{name: beliefs.item}, **odds), name)
    for t in range(depth - 1, -1, -1):
        cavities = {f"c{end}_{k}": table[f"{end}{t}_{k}"] for end in "lr" for k in range(1, K)}
        if t < depth - 1:
            for to, end in ("lr", "rl"):
                for k, (sent, norm) in enumerate(_messages(table, end, responses), start=1):
                    cavities[f"c{to}_{k}"] *= norm / sent
        table = table.mutate(**cavities)
    return table


def _messages(table: Any, end: str, responses: Array) -> list[tuple[Any, Any]]:
    """Return the odds of the message that an end sends the other, as fractions, by class."""
    cavity = [table[f"c{end}_{k}"] for k in range(1, responses.shape[-1])]
    if has_two_levels(responses):
        total = reduce(add, cavity) + 1.0
        return [(total + table.gain * c, total + table.gain) for c in cavity]
    sums = [
        reduce(add, (c * table[entry(y, z)] for y, c in enumerate(cavity, 1)), _start(table, z))
        for z in range(len(cavity) + 1)
    ]
    return [(one, sums[0]) for one in sums[1:]]


def _start(table: Any, z: int) -> Any:
    """Return ψ(0, z), for ψ(0, 0) = 1."""
    return table[entry(0, z)] if z else 1.0


def has_two_levels(responses: Array) -> bool:
    """Return whether all matrices have one value on the diagonal and one off it."""
    on = np.eye(responses.shape[-1], dtype=bool)
    parts = (responses[..., on], responses[..., ~on])
    return all(bool(np.all(part == part[..., :1])) for part in parts)


def entry(y: int, z: int) -> str:
    """Return the column of ψ(y, z) where it has no two levels."""
    return f"p_{min(y, z)}_{max(y, z)}"


def _factors(responses: Array) -> tuple[dict[str, Array], Array]:
    """Return the columns of ψ, as logarithms (R, 2) each, and that of what ψ is divided by.

    Where it has two levels its values off the diagonal are 1 and ``gain`` + 1 is the one on it;
    otherwise ψ(0, 0) = 1.
    """
    log = np.log(np.maximum(responses, PROBABILITY_FLOOR))
    K = responses.shape[-1]
    if has_two_levels(responses):
        return {"gain": log[:, :, 0, 0] - log[:, :, 0, 1]}, log[:, :, 0, 1]
    rest = ((y, z) for z in range(1, K) for y in range(z + 1))
    return {entry(y, z): log[:, :, y, z] - log[:, :, 0, 0] for y, z in rest}, log[:, :, 0, 0]


def _with_factors(table: Any, responses: Array) -> Any:
    """Add the columns of the factor of every answer, which its weight is the power of."""
    ibis, values = load_ibis(), _factors(responses)[0]
    weighted = "weight" in table.columns
    if not weighted:
        values = {name: _power(name, one, np.exp) for name, one in values.items()}
    if len(responses) > 1:
        R = len(responses)
        rows: dict[str, Any] = {"who": np.repeat(np.arange(R, dtype=np.int32), 2)}
        rows["same"] = np.tile([False, True], R)
        rows |= {name: np.ascontiguousarray(one).ravel() for name, one in values.items()}
        table = table.inner_join(ibis.memtable(load_arrow().table(rows)), ["who", "same"])
    else:
        said = {name: [number(value) for value in one[0, ::-1]] for name, one in values.items()}
        table = table.mutate(**{name: table.same.ifelse(*one) for name, one in said.items()})
    if not weighted:
        return table
    logs = {name: _within(table[name] * table.weight, FACTOR_REACH) for name in values}
    return table.mutate(
        **{name: _power(name, log, lambda x: x.exp()) for name, log in logs.items()}
    )


def number(value: float) -> Any:
    """Return a number as an expression: of digits alone DuckDB would make a decimal."""
    return load_ibis().literal(repr(float(value))).cast("float64")


def _power(name: str, log: Any, exp: Any) -> Any:
    return exp(log) - 1.0 if name == "gain" else exp(log)


def message_sums(table: Any, responses: Array) -> Any:
    """Return Σ log m of the messages that reach every item, as columns item, s_1 …, from `edges`.

    Each edge has two ends: a table of two rows doubles it, so that one pass serves both.
    """
    logs = {
        f"m{to}_{k}": (sent / norm).log()
        for to, end in ("lr", "rl")
        for k, (sent, norm) in enumerate(_messages(table, end, responses), start=1)
    }
    table = table.select("left", "right", **logs)
    two = load_arrow().table({"at_left": [True, False]})
    both = table.cross_join(load_ibis().memtable(two))
    ends = {
        f"s_{k}": both.at_left.ifelse(both[f"ml_{k}"], both[f"mr_{k}"])
        for k in range(1, responses.shape[-1])
    }
    both = both.select(item=both.at_left.ifelse(both.left, both.right), **ends)
    return both.group_by("item").agg(**{name: both[name].sum() for name in ends})


def renewed(beliefs: Any, sums: Any, depth: int, damping: float) -> Any:
    """Return the beliefs after a sweep: those before move back by one, and the oldest is dropped.

    New log-odds are f + Σ log m, of which ``damping`` stays what it was; known items stay.
    """
    ibis, K = load_ibis(), n_classes(beliefs)
    table = beliefs.left_join(sums, "item").drop("item_right")
    total = {
        k: _within(table[f"f_{k}"] + table[f"s_{k}"].coalesce(0.0), REACH) for k in range(1, K)
    }
    columns = {name: table[name] for name in ("item", "known")}
    columns |= {f"f_{k}": table[f"f_{k}"] for k in total}
    columns["scale"] = _log_sum(list(total.values())) - _log_sum([table[f"f_{k}"] for k in total])
    for k, new in total.items():
        mixed = new * (1.0 - damping) + table[f"h0_{k}"] * damping
        columns[f"h0_{k}"] = ibis.ifelse(table.known, table[f"f_{k}"], mixed)
    for t in range(1, min(depth, n_past(beliefs) + 1)):
        columns |= {f"h{t}_{k}": table[f"h{t - 1}_{k}"] for k in total}
    return table.select(**columns)


def _within(value: Any, reach: float) -> Any:
    ibis = load_ibis()
    return ibis.greatest(ibis.least(value, reach), -reach)


def _log_sum(odds: list[Any]) -> Any:
    """Return log(1 + Σ e^h)."""
    return (reduce(add, (h.exp() for h in odds)) + 1.0).log()


def proba(beliefs: Any, name: str = "h0") -> list[Any]:
    """Return P(class) of every item as K expressions."""
    odds = [beliefs[f"{name}_{k}"].exp() for k in range(1, n_classes(beliefs))]
    total = reduce(add, odds) + 1.0
    return [1.0 / total, *(one / total for one in odds)]


def state_of(beliefs: Any) -> Any:
    """Return one row: the largest change of a belief in the last sweep, and the sum of scales."""
    moves = [
        (new - old).abs() for new, old in zip(proba(beliefs), proba(beliefs, "h1"), strict=True)
    ]
    return beliefs.agg(change=load_ibis().greatest(*moves).max(), scale=beliefs.scale.sum())


def expected(table: Any, responses: Array) -> Any:
    """Return the expected counts and the edges' share of the log-likelihood, from `edges`.

    One row for every answer that was given ("same" or not, by whom): n_y_z for y ≤ z, symmetrised,
    and ``log_edges``, to which `reference` of the counts must be added.
    """
    K = responses.shape[-1]
    table = _with_posterior(table, responses)
    one = table.weight if "weight" in table.columns else 1.0
    counts = {
        f"n_{y}_{z}": (table[f"q_{y}_{z}"] * (one / table.total)).sum()
        for y in range(K)
        for z in range(y, K)
    }
    norm = reduce(
        mul, (reduce(add, (table[f"{end}0_{k}"] for k in range(1, K))) + 1.0 for end in "lr")
    )
    by = ["who", "same"] if len(responses) > 1 else ["same"]
    return table.group_by(by).agg(**counts, log_edges=(table.total / norm).log().sum())


def reference(counts: Array, responses: Array) -> float:
    """Return the logarithm of what the factors of all answers were divided by."""
    return float((counts.sum(axis=(2, 3)) * _factors(responses)[1]).sum())


def _with_posterior(table: Any, responses: Array) -> Any:
    """Add q_y_z, for y ≤ z the mean of c(y) ψ c'(z) and c(z) ψ c'(y), and their ``total``."""
    K, one = responses.shape[-1], number(1.0)
    left, right = ([one, *(table[f"c{end}_{k}"] for k in range(1, K))] for end in "lr")
    two = has_two_levels(responses)
    both = {}
    for z in range(K):
        for y in range(z + 1):
            q = left[y] * right[z] if y == z else (left[y] * right[z] + left[z] * right[y]) / 2
            if two:
                q = q * (table.gain + 1.0) if y == z else q
            elif z:
                q = q * table[entry(y, z)]
            both[f"q_{y}_{z}"] = q
    table = table.mutate(**both)
    terms = (table[f"q_{y}_{z}"] * (1.0 if y == z else 2.0) for y in range(K) for z in range(y, K))
    return table.mutate(total=reduce(add, terms))


def wrong_answers(answers: Any, beliefs: Any, responses: Array) -> Any:
    """Return left, right, same, who and the chance ``wrong`` of every answer.

    A self pair is certainly of one class.
    """
    ibis, K = load_ibis(), responses.shape[-1]
    table = _with_posterior(edges(answers, beliefs, responses), responses)
    alike = ibis.least(reduce(add, (table[f"q_{y}_{y}"] for y in range(K))) / table.total, 1.0)
    who = {"who": table.who} if "who" in table.columns else {}
    of_pairs = table.select(
        "left", "right", "same", **who, wrong=table.same.ifelse(1.0 - alike, alike)
    )
    selves = answers.filter(answers.left == answers.right)
    who = {"who": selves.who} if who else {}
    sure = selves.select(
        "left", "right", "same", **who, wrong=selves.same.ifelse(0.0, 1.0).cast("float64")
    )
    return of_pairs.union(sure, distinct=False)
