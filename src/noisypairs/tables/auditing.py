"""The audit of a pair table: counts by the engine, components by one stream, triangles sampled."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from noisypairs.pairs.audit import Audit, Summary, Triangles
from noisypairs.pairs.counts import weights_of

if TYPE_CHECKING:
    from noisypairs.tables.table import PairTable


def audit_table(table: PairTable, most_pairs: int) -> Audit:
    """Count what `noisypairs.pairs.audit.Audit` reports; nothing here is as large as the pairs."""
    degree = table.degrees()
    yes, total, self_pairs, member = _stream_facts(table)
    sizes = np.bincount(member)
    who = table.annotator_counts
    per_annotator = np.zeros(0, np.int64) if who is None else who.n_answers
    return Audit(
        n_items=table.n_items,
        n_pairs=table.n_pairs,
        same_share=yes / total if total else None,
        self_pairs=self_pairs,
        isolated_items=int(np.count_nonzero(degree == 0)),
        components=int(sizes.size),
        largest_component=int(sizes.max(initial=0)),
        degree=Summary.of(degree),
        triangles=_triangles(table, most_pairs),
        n_annotators=int(per_annotator.size),
        answers_per_annotator=Summary.of(per_annotator),
        copies=table.count_copies(),
        **table.count_repeats(),
        **table.dropped,
    )


def _stream_facts(table: PairTable) -> tuple[float, float, int, NDArray[np.int32]]:
    """Return the weight of "same", of all, the self pairs, and each item's component.

    A batch joins the components found so far: a graph on n_items nodes, whatever was read.
    """
    yes = total = 0.0
    selves = 0
    member = np.arange(table.n_items, dtype=np.int32)
    for batch in table.batches():
        weight = weights_of(batch)
        yes, total = yes + float(weight @ batch.same), total + float(weight.sum())
        selves += int(np.count_nonzero(batch.left == batch.right))
        size = int(member.max(initial=-1)) + 1
        links = member[batch.left], member[batch.right]
        graph = csr_array((np.ones(batch.left.size, np.int8), links), shape=(size, size))
        member = connected_components(graph, directed=False)[1][member]
    return yes, total, selves, member


def _triangles(table: PairTable, most_pairs: int) -> Triangles:
    """Count triangles among all pairs, or estimate them from those among a share of the items.

    Of n items, m drawn at random hold (m over 3)/(n over 3) of the triangles on average, and about
    (m/n)² of the pairs.
    """
    if table.n_pairs <= most_pairs:
        return table.to_pairs().audit().triangles
    pairs, chosen = table.among_some_items(most_pairs)
    found = pairs.audit().triangles
    scale = comb(table.n_items, 3) / max(comb(chosen.size, 3), 1)
    return Triangles(round(found.closed * scale), round(found.broken * scale), sampled=True)
