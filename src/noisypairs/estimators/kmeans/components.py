"""Connected components of a graph, quick for the thousand edges that constraints have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def components(left: NDArray[np.intp], right: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """Return the component of each node, numbered by their first nodes, shape (size,).

    Every node points at one of its component that is no larger; the two ends of an edge let their
    roots point at the lower one. For a thousand edges scipy's takes several times as long.

    >>> components(np.array([0, 3]), np.array([2, 4]), 5)
    array([0, 1, 0, 2, 2])
    """
    root = np.arange(size)
    while True:
        one, other = root[left], root[right]
        apart = one != other
        if not apart.any():
            break
        left, right = one[apart], other[apart]
        np.minimum.at(root, np.maximum(left, right), np.minimum(left, right))
        while not np.array_equal(further := root[root], root):
            root = further
    number = np.cumsum(root == np.arange(size)) - 1
    return np.asarray(number[root], dtype=np.intp)
