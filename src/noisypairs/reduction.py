"""From pairs to weighted items: the one step between noisy answers and any estimator.

The point-wise risk is a sum over item occurrences. If item i occurs s_i times in "same" and d_i
times in "different" pairs, it is

    Σ_i [ u_i l(f(x_i), +1) + v_i l(f(x_i), −1) ],   u, v linear in (s_i, d_i),

so training needs one row per item, whatever the number of pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from noisypairs.algebra import Array
from noisypairs.pairs import ItemCounts


def risk_weights(counts: ItemCounts, coefficients: Array) -> tuple[Array, Array]:
    """Return (u, v), shape (n_items,) each: the corrected risk is Σ u l(f, +1) + v l(f, −1).

    ``coefficients`` is C of `algebra.corrected_coefficients`, rows (same, different), columns
    (+, −): u = C[same, +] s + C[different, +] d, and v likewise with the column −. The unbiased
    C has rows that sum to one, hence u + v = s + d.

    >>> C = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> risk_weights(ItemCounts(np.array([2.0]), np.array([3.0])), C)
    (array([2.]), array([3.]))
    """
    (same_plus, same_minus), (different_plus, different_minus) = coefficients
    u = same_plus * counts.same + different_plus * counts.different
    v = same_minus * counts.same + different_minus * counts.different
    return u, v


def squared_loss_rows(u: Array, v: Array) -> tuple[NDArray[np.intp], Array, Array]:
    """Return (rows, target, weight) of the weighted regression that is the squared-loss risk.

    u (1−f)² + v f² = (u+v) (f − u/(u+v))² + const, so the target is u/(u+v) with weight u+v,
    exactly; only items in pairs have a row. Weights must be positive: the unbiased formula always
    gives that, the printed one only while its rows sum to something positive.

    >>> squared_loss_rows(np.array([1.5, 0.0]), np.array([-0.5, 0.0]))
    (array([0]), array([1.5]), array([1.]))
    """
    weight = u + v
    rows = np.flatnonzero(weight != 0)
    if (weight[rows] < 0).any():
        raise ValueError(
            "the printed corrected loss is not convex for this noise and prior: it gives negative "
            "weights, and the squared risk has no minimum. Use formula='unbiased'"
        )
    return rows, u[rows] / weight[rows], weight[rows]


def weighted_rows(
    counts: ItemCounts, alpha: float
) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return (rows, label, weight) of the α-weighted risk: (1−α) s_i as same, α d_i as different.

    Label 1 is "same", 0 is "different". An item with answers of both kinds has two rows, one per
    label, since hard labels cannot say "both"; never more, however many pairs there are.

    >>> weighted_rows(ItemCounts(np.array([2.0, 1.0]), np.array([3.0, 0.0])), 0.25)
    (array([0, 1, 0]), array([1, 1, 0]), array([1.5 , 0.75, 0.75]))
    """
    agrees, differs = np.flatnonzero(counts.same), np.flatnonzero(counts.different)
    weight = [(1.0 - alpha) * counts.same[agrees], alpha * counts.different[differs]]
    label = np.repeat(np.array([1, 0], dtype=np.intp), [len(agrees), len(differs)])
    return np.concatenate([agrees, differs]), label, np.concatenate(weight)


def soft_rows(
    beliefs: Array, negligible: float = 1e-3
) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return (rows, label, weight) for a classifier of hard labels: one row per item and class.

    ``beliefs`` is P(class | item), shape (n, K); classes below ``negligible`` get no row.

    >>> soft_rows(np.array([[0.25, 0.75], [0.0, 1.0]]))
    (array([0, 0, 1]), array([0, 1, 1]), array([0.25, 0.75, 1.  ]))
    """
    rows, label = np.nonzero(beliefs > negligible)
    return rows, label, beliefs[rows, label]


def accepts_weights(estimator: Any) -> bool:
    """Return whether ``fit`` takes ``sample_weight``; a Pipeline is asked for its last step.

    >>> from sklearn.linear_model import Ridge
    >>> accepts_weights(Ridge())
    True
    """
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return bool(has_fit_parameter(estimator, "sample_weight"))


def fit_weighted(estimator: Any, X: Any, y: Any, weight: Array, *, rescale: bool = True) -> Any:
    """Fit with ``sample_weight``, handed to the last step of a Pipeline; return the estimator.

    Weights are scaled to mean one, so that a penalty means the same for any number of pairs;
    ``rescale=False`` leaves them, where they sum to the number of items already.

    >>> from sklearn.linear_model import Ridge
    >>> model = fit_weighted(Ridge(), [[0.0], [1.0]], [0.0, 1.0], np.array([1.0, 3.0]))
    """
    path, last = "", estimator
    while isinstance(last, Pipeline):  # pipelines may end in pipelines
        step, last = last.steps[-1]
        path += f"{step}__"
    # Named by path, weights reach the last step without any request set on the user's estimator.
    with config_context(enable_metadata_routing=False):
        weight = weight / weight.mean() if rescale else weight
        return estimator.fit(X, y, **{f"{path}sample_weight": weight})
