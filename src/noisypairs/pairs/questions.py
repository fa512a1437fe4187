"""Questions about several items at once: their pair answers form a partition, and depend.

Who groups m items gives m(m−1)/2 pair answers, but m−1 of them at most are free: the answers along
a tree of "same" and "different" fix the groups. So all answers of a question together count as m−1,
each with weight (m−1) / (m(m−1)/2) = 2/m.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.pairs.answers import column, factorise
from noisypairs.pairs.checks import check_lengths

Codes = NDArray[np.int32]


def check_questions(question: ArrayLike | None, annotator: Codes | None, n: int) -> Codes | None:
    """Return questions as int32 codes, shape (n,); ids of two annotators are two questions."""
    if question is None:
        return None
    array = column(question, "question")
    check_lengths(n, question=array)
    codes = factorise(array)[1].astype(np.int64)
    if annotator is not None:
        codes = codes * (int(annotator.max(initial=0)) + 1) + annotator
    return np.unique(codes, return_inverse=True)[1].astype(np.int32)


def question_weights(
    question: NDArray[Any], left: NDArray[Any], right: NDArray[Any]
) -> NDArray[np.float32]:
    """Return what each answer counts, shape (n,): (items − 1) / answers of its question, at most 1.

    >>> three = question_weights(np.zeros(3, int), np.array([4, 4, 7]), np.array([7, 9, 9]))
    >>> alone = question_weights(np.arange(2), np.array([4, 4]), np.array([7, 9]))
    >>> three.astype(float).round(2).tolist(), alone.tolist()
    ([0.67, 0.67, 0.67], [1.0, 1.0])
    """
    answers = np.bincount(question)
    ends = np.concatenate([np.stack([question, left], 1), np.stack([question, right], 1)])
    items = np.bincount(np.unique(ends, axis=0)[:, 0], minlength=len(answers))
    share = np.minimum((items - 1) / np.maximum(answers, 1), 1.0).astype(np.float32)
    counts: NDArray[np.float32] = share[question]
    return counts
