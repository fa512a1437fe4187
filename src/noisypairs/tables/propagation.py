"""Belief propagation on a pair table: the state between the queries of `tables.sweep`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.graph import progress
from noisypairs.graph.propagation import Labels
from noisypairs.pairs.ids import clean_ids
from noisypairs.tables import sweep
from noisypairs.tables.engine import (
    ChangedTable,
    fetch,
    load_arrow,
    load_ibis,
    tuned_for_sums,
)
from noisypairs.tables.store import Store
from noisypairs.tables.table import PairTable

#: Sweeps that are remembered, and the most in one round.
DEPTH, SWEEPS = 3, 4
#: The largest change of a belief at which a round ends, and the share of the old ones that stays.
TOLERANCE, DAMPING = 5e-3, 0.1


class Found(NamedTuple):
    """What one round found: counts (R or 1, 2, K, K) and Bethe's log-likelihood."""

    counts: Array
    log_likelihood: float


class Suspects(NamedTuple):
    """The answers most probably wrong, worst first, shape (k,) each; annotator codes or None.

    ``wrong`` holds the probabilities, ``n_wrong`` how many answers of all are more likely wrong
    than right.
    """

    left: NDArray[Any]
    right: NDArray[Any]
    same: NDArray[np.bool_]
    annotator: NDArray[Any] | None
    wrong: Array
    n_wrong: int


class TablePropagation:
    """Belief propagation over a `PairTable`, in its engine.

    The answers are laid out once, in the order of blocks of their items. ``beliefs`` is the table
    of the last sweep (see `noisypairs.tables.sweep`). ``known`` are classes {item: class};
    ``people`` says whether answers differ by annotator. A round ends if no belief changes by
    ``tol``, or after ``sweeps``. Tables are kept in ``folder``, or for this process alone.
    """

    def __init__(
        self,
        table: PairTable,
        *,
        people: bool = False,
        known: Mapping[int, int] | None = None,
        tol: float = TOLERANCE,
        sweeps: int = SWEEPS,
        depth: int = DEPTH,
        damping: float = DAMPING,
        folder: str | Path | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        if sweeps < 1 or depth < 2:
            raise ValueError(
                f"sweeps={sweeps}, depth={depth}: expected at least one sweep and depth 2"
            )
        self.table, self.known = table, known or {}
        self.tol, self.sweeps, self.depth, self.damping = tol, sweeps, depth, damping
        self.store = Store(table.engine, folder)
        self.beliefs: Any = None
        self.passes, self._name = 0, ""
        self._best: tuple[float, str, Any] = (-np.inf, "", None)
        self.done = Checkpoints(self.store.folder, inputs) if folder is not None else None
        if self.done is not None and self.done.laid_out:
            self.answers = self.store.open("answers")
            return
        with table.source.unchanged():
            codes = annotator_codes(table) if people else None
            laid = sweep.laid_out(table.expression, table.n_items, codes)
            self.answers = self.store.keep("answers", laid)
        if self.done is not None:
            self.done.lay_out()

    def begin(self, phi: Any, guess: Any) -> None:
        """Begin from a guess: ``phi`` and ``guess`` are tables with item and log-odds f_1, …."""
        K = 1 + sum(name.startswith("f_") for name in phi.columns)
        started = {f"h0_{k}": guess[f"f_{k}"] for k in range(1, K)}
        table = phi.inner_join(guess.select("item", **started), "item")
        table = table.mutate(known=load_ibis().literal(False), scale=0.0)
        self.beliefs = self._kept(self._with_known(table, K, guess=True))

    def renew(self, phi: Any) -> None:
        """Take other potentials: ``phi`` is a table with item and log-odds f_1, …."""
        K = sweep.n_classes(phi)
        others = [name for name in self.beliefs.columns if not name.startswith("f_")]
        table = self.beliefs.select(*others).inner_join(phi, "item")
        self.beliefs = self._kept(self._with_known(table, K))

    def _with_known(self, table: Any, K: int, guess: bool = False) -> Any:
        """Set the log-odds of items whose class is known, or add what a label that may err says."""
        if not self.known:
            return table
        ibis, pa = load_ibis(), load_arrow()
        items = pa.array(self.known, pa.int64()).cast(str(table.item.type()))
        known = pa.table({"item": items, "class_": pa.array(self.known.values(), pa.int64())})
        table = table.left_join(ibis.memtable(known), "item").drop("item_right")
        named = table.class_.notnull()
        labels = self.known if isinstance(self.known, Labels) else Labels()
        certain = not labels.noise
        odds = sweep.REACH if certain else labels.log_odds(K)
        columns: dict[str, Any] = {"known": named if certain else ibis.literal(False)}
        for k in range(1, K):
            said = ibis.cases((table.class_ == 0, -odds), (table.class_ == k, odds), else_=0.0)
            for name in (f"f_{k}", f"h0_{k}") if guess else (f"f_{k}",):
                prior = 0.0 if certain else table[name]
                columns[name] = named.ifelse(prior + said, table[name])
        return table.mutate(**columns).drop("class_")

    def round(self, responses: Array) -> Found:
        """Sweep until the beliefs converge, and count what the M-step needs."""
        for n in progress.each("pass", range(1, self.sweeps + 1)):
            state = self.sweep(responses)
            deep = sweep.n_past(self.beliefs) == self.depth
            if n > 1 and deep and state["change"] < self.tol:
                break
        found = self.expected(responses)
        return found._replace(log_likelihood=found.log_likelihood + state["scale"])

    def sweep(self, responses: Array) -> dict[str, float]:
        """Renew all beliefs; return the largest change and the items' share of the likelihood."""
        joined = sweep.edges(self.answers, self.beliefs, responses)
        sums = sweep.message_sums(joined, responses)
        self.passes += 1
        with tuned_for_sums(self.store.engine, responses.shape[-1] - 1):
            self.beliefs = self._kept(sweep.renewed(self.beliefs, sums, self.depth, self.damping))
        row: dict[str, float] = fetch(sweep.state_of(self.beliefs)).to_pylist()[0]
        return row

    def expected(self, responses: Array) -> Found:
        """Return counts under the newest beliefs, and the edges' share of the likelihood."""
        K = responses.shape[-1]
        joined = sweep.edges(self.answers, self.beliefs, responses)
        with tuned_for_sums(self.store.engine, K):
            rows = fetch(sweep.expected(joined, responses)).to_pylist()
        counts = np.zeros((len(responses), 2, K, K))
        for row in rows:
            of = counts[row.get("who", 0), int(row["same"])]
            for y in range(K):
                for z in range(y, K):
                    of[y, z] = of[z, y] = row[f"n_{y}_{z}"]
        log_edges = float(sum(row["log_edges"] for row in rows))
        return Found(counts, log_edges + sweep.reference(counts, responses))

    def _kept(self, beliefs: Any) -> Any:
        """Write beliefs beside those they are made from, of the last checkpoint and of the best."""
        used = {self._name, self._best[1], self.done.beliefs if self.done else ""}
        free = next(name for k in range(4) if (name := f"beliefs_{k}") not in used)
        kept = self.store.keep(free, beliefs)
        self._name = free
        return kept

    def checkpoint(self, number: int) -> tuple[Found, Array] | tuple[None, None]:
        """Return what a round found, and the beliefs of the sample, if it was finished before."""
        if self.done is None or number > len(self.done.rounds):
            return None, None
        row = self.done.rounds[number - 1]
        if row["log_likelihood"] >= self._best[0]:
            self._best = row["log_likelihood"], row["beliefs"], None
        if number == len(self.done.rounds):
            self._name = row["beliefs"]
            self.beliefs = self.store.open(self._name)
        return Found(np.array(row["counts"]), row["log_likelihood"]), np.array(row["item"])

    def keep_checkpoint(self, found: Found, item: Array) -> None:
        """Write down that a round is finished, what it found, and where its beliefs are."""
        if found.log_likelihood >= self._best[0]:
            self._best = found.log_likelihood, self._name, self.beliefs
        if self.done is not None:
            row = {"counts": found.counts.tolist(), "log_likelihood": found.log_likelihood}
            self.done.add(row | {"item": item.tolist(), "beliefs": self._name})

    def take_best(self) -> None:
        """Go back to the beliefs of the round of highest likelihood."""
        _, self._name, beliefs = self._best
        self.beliefs = self.store.open(self._name) if beliefs is None else beliefs

    def potentials(self, phi: Array) -> Any:
        """Return P(class | x), (n_items, K), as a table of log-odds."""
        odds, pa = sweep.log_odds_of(phi), load_arrow()
        columns = {f"f_{k}": column for k, column in enumerate(odds.T, start=1)}
        item = np.arange(len(phi), dtype=sweep.item_type(len(phi)))
        return load_ibis().memtable(pa.table({"item": item, **columns}))

    def item_proba(self) -> Array:
        """Load P(class) of all items, (n_items, K)."""
        return self.proba_of(np.arange(self.table.n_items))

    def shares(self) -> Array:
        """Return the mean P(class) of all items, (K,)."""
        means = {f"c{k}": one.mean() for k, one in enumerate(sweep.proba(self.beliefs))}
        return np.array(list(fetch(self.beliefs.agg(**means)).to_pylist()[0].values()))

    def proba_of(self, items: NDArray[np.int64]) -> Array:
        """Load P(class) of some items, (n, K), in this order."""
        beliefs = self.beliefs
        if len(items) < self.table.n_items:
            wanted = load_arrow().table({"wanted": items})
            wanted = load_ibis().memtable(wanted)
            beliefs = beliefs.inner_join(wanted, beliefs.item == wanted.wanted)
        columns = {f"c{k}": one for k, one in enumerate(sweep.proba(beliefs))}
        rows = fetch(beliefs.select("item", **columns))
        place = np.searchsorted(items, rows["item"].to_numpy(), sorter=np.argsort(items))
        found = np.empty((rows.num_rows, len(columns)))
        found[np.argsort(items)[place]] = np.stack([rows[name].to_numpy() for name in columns], 1)
        return found


class Checkpoints:
    """What a fit in a folder has finished: ``progress.json``, replaced whole after every round.

    A folder whose progress belongs to other ``inputs`` is refused.
    """

    def __init__(self, folder: Path | None, inputs: Mapping[str, Any] | None) -> None:
        assert folder is not None
        self.path = folder / "progress.json"
        self.state: dict[str, Any] = {"inputs": json.loads(json.dumps(inputs))}
        if not self.path.exists():
            return
        before = json.loads(self.path.read_text())
        strange = [k for k, v in self.state["inputs"].items() if before["inputs"].get(k) != v]
        if strange:
            raise ChangedTable(
                f"{folder} holds the rounds of another fit: {', '.join(strange)} differ. Go on "
                "with what it was begun with, or name another folder"
            )
        self.state = before

    @property
    def laid_out(self) -> bool:
        """Whether the answers are laid out."""
        return bool(self.state.get("laid_out"))

    @property
    def rounds(self) -> list[dict[str, Any]]:
        """The rounds that are finished."""
        return list(self.state.get("rounds", []))

    @property
    def beliefs(self) -> str:
        """The name of the beliefs after the last of them."""
        return str(self.rounds[-1]["beliefs"]) if self.rounds else ""

    def lay_out(self) -> None:
        """Write down that the answers are laid out."""
        self._write({"laid_out": True})

    def add(self, row: dict[str, Any]) -> None:
        """Write down a finished round."""
        self._write({"rounds": [*self.rounds, row]})

    def _write(self, news: dict[str, Any]) -> None:
        """Write the file anew, whole or not at all."""
        self.state |= news
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(self.state))
        os.replace(part, self.path)


def annotator_codes(table: PairTable) -> Any:
    """Return a table from annotators, as they are written, to their positions among the names."""
    names, pa = table.annotator_names, load_arrow()
    assert names is not None
    written = fetch(table.expression.select("annotator").distinct())["annotator"]
    position = {name: k for k, name in enumerate(names.tolist())}
    codes = [position[name] for name in clean_ids(written.to_pylist(), "annotator")]
    return load_ibis().memtable(
        pa.table({"annotator": written, "who": pa.array(codes, pa.int32())})
    )


def settled(table: PairTable, item_proba: Array, S: Array, depth: int = DEPTH) -> Found:
    """Return what is expected of the answers at beliefs (n_items, K) that have converged.

    ``S`` is (K, K), or (R, K, K) by annotator.
    """
    at, responses = _at_rest(table, item_proba, S, depth)
    return at.expected(responses)


def most_suspect(
    table: PairTable, item_proba: Array, S: Array, k: int, *, depth: int = DEPTH
) -> Suspects:
    """Return the ``k`` answers most probably wrong, found by the engine.

    Once beliefs (n_items, K) have converged, the messages of a pair follow from them: m = f(h − m')
    and m' = f(h' − m), iterated ``depth`` times from zero. ``S`` as in `settled`. Ties are broken
    by the items, so the order of the rows does not matter.

    >>> import ibis, pyarrow
    >>> rows = pyarrow.table({"left": [0, 1, 2], "right": [1, 2, 0], "same": [1, 1, 0]})
    >>> table = PairTable.from_ibis(ibis.memtable(rows), n_items=3)
    >>> S = np.array([[0.9, 0.3], [0.3, 0.9]])
    >>> beliefs = np.array([[0.99, 0.01], [0.9, 0.1], [0.05, 0.95]])
    >>> most_suspect(table, beliefs, S, k=1).left.tolist()
    [1]
    """
    at, responses = _at_rest(table, item_proba, S, depth)
    wrong = sweep.wrong_answers(at.answers, at.beliefs, responses)
    order = [load_ibis().desc("wrong"), "left", "right", "same"]
    order += ["who"] if "who" in wrong.columns else []
    with tuned_for_sums(at.store.engine, 1):
        rows = fetch(wrong.order_by(order).limit(k))
        n_wrong = int(fetch((wrong.wrong > 0.5).sum()).as_py() or 0)
    columns = {name: rows[name].to_numpy() for name in rows.column_names}
    left, right = (columns[end].astype(np.int64) for end in ("left", "right"))
    return Suspects(left, right, columns["same"], columns.get("who"), columns["wrong"], n_wrong)


def _at_rest(
    table: PairTable, item_proba: Array, S: Array, depth: int
) -> tuple[TablePropagation, Array]:
    """Return propagation in which every remembered sweep has the same beliefs, and responses."""
    responses = np.stack([1.0 - S, S], axis=-3)
    at = TablePropagation(table, people=table.annotator_names is not None)
    odds = at.potentials(item_proba)
    at.begin(odds, odds)
    K = item_proba.shape[1]
    past = {f"h{t}_{k}": at.beliefs[f"h0_{k}"] for t in range(1, depth) for k in range(1, K)}
    at.beliefs = at.beliefs.mutate(**past)
    return at, responses if responses.ndim == 4 else responses[None]
