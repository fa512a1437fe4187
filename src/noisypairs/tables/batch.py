"""What streams out of a pair table, and its counts: flat arrays by answer or annotator."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.pairs.columns import clean_ids


class Batch(NamedTuple):
    """Some answers as flat arrays of one length; annotator (codes) and weight may be None."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    same: NDArray[np.bool_]
    annotator: NDArray[np.int32] | None
    weight: Array | None


class AnnotatorCounts(NamedTuple):
    """Answers by annotator, names sorted: weight of "same", of all, how many, (R,) each."""

    names: NDArray[Any]
    same: Array
    total: Array
    n_answers: NDArray[np.int64]


def read_batch(rows: Any, codes: dict[Any, int] | None) -> Batch:
    """Turn an Arrow record batch into flat arrays."""
    left, right = (rows.column(end).to_numpy().astype(np.int64) for end in ("left", "right"))
    same = rows.column("same").to_numpy(zero_copy_only=False).astype(np.bool_)
    names = rows.schema.names
    who = None
    if codes is not None:
        told = rows.column("annotator").dictionary_encode()
        distinct = clean_ids(told.dictionary.to_pylist(), "annotator")
        own = np.array([codes[name] for name in distinct], dtype=np.int32)
        who = own[told.indices.to_numpy()]
    weight = rows.column("weight").to_numpy().astype(float) if "weight" in names else None
    return Batch(left, right, same, who, weight)
