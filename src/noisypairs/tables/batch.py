"""Arrow batches of a pair table as flat arrays, and its counts by annotator."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.pairs import Batch
from noisypairs.pairs.ids import clean_ids


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
        given = rows.column("annotator").dictionary_encode()
        distinct = clean_ids(given.dictionary.to_pylist(), "annotator")
        own = np.array([codes[name] for name in distinct], dtype=np.int32)
        who = own[given.indices.to_numpy()]
    weight = rows.column("weight").to_numpy().astype(float) if "weight" in names else None
    return Batch(left, right, same, who, weight)
