"""The classes of a fit: which items are typical, which columns and words tell, and all items.

Pairs never name classes. Until somebody does, they are called group 1, group 2, …
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from noisypairs.algebra import Array, class_prior
from noisypairs.app.encoding import describe
from noisypairs.app.files.cells import as_text
from noisypairs.app.fit.result import ClassSummary, ShownItem
from noisypairs.app.suspects import cells_of, whole
from noisypairs.assess.words import class_title, percent

#: Items shown of each class, typical and doubtful each: two name a class, one more shows a mistake.
N_SHOWN = 3
#: An item is doubtful where its class is less probable than this.
SURE = 0.9
#: Columns and words that tell a class, at most; they differ by half a standard deviation or more.
MOST_TELLING, CLEAR = 4, 0.5
#: Hard items that a page shows.
MOST_HARD = 20
#: Items on which columns are compared, at most.
MOST_COMPARED = 20_000


def item_beliefs(model: Any, X: Any) -> tuple[Array, Array]:
    """Return P(class) of the items by features and answers, and out of fold by features, (n, K)."""
    found = getattr(model, "item_proba_", None)
    if found is not None and len(found) == X.shape[0]:
        return found, model.oof_proba_
    proba = model.predict_proba(X)
    return proba, proba


def summarise_classes(
    model: Any, X: Any, features: pd.DataFrame, ids: Sequence[str]
) -> tuple[ClassSummary, ...]:
    """Return every class with its share, with items to look at, and with what is typical of it."""
    beliefs, alone = item_beliefs(model, X)
    winner = beliefs.argmax(axis=1)
    second = np.sort(beliefs, axis=1)[:, -2]
    agreed = beliefs * alone
    tells = telling(features, beliefs)

    def shown(items: Any, k: int) -> tuple[ShownItem, ...]:
        rows = [int(i) for i in items[:N_SHOWN]]
        return tuple(ShownItem(ids[i], float(beliefs[i, k]), cells_of(features, i)) for i in rows)

    found = []
    for k, name in enumerate(model.classes_):
        own = np.flatnonzero(winner == k)
        typical = own[np.argsort(-agreed[own, k], kind="stable")]
        doubtful = own[np.argsort(-second[own], kind="stable")]
        doubtful = doubtful[beliefs[doubtful, k] < SURE]
        found.append(
            ClassSummary(
                name=class_title(name),
                share=float(class_prior(model.prior_, len(model.classes_))[k]),
                n_items=len(own),
                n_doubtful=len(doubtful),
                typical=shown(typical, k),
                doubtful=shown(doubtful, k),
                telling=tells[k],
            )
        )
    return tuple(found)


def hard_items(
    model: Any, features: pd.DataFrame, ids: Sequence[str]
) -> tuple[tuple[ShownItem, ...], int]:
    """Return the items most probably hard, hardest first, and how many are more likely so."""
    hard = getattr(model, "item_hard_", None)
    if hard is None:
        return (), 0
    order = np.argsort(-hard, kind="stable")
    n_hard = int((hard > 0.5).sum())
    shown = tuple(
        ShownItem(ids[i], float(hard[i]), cells_of(features, i))
        for i in order[: min(n_hard, MOST_HARD)].tolist()
    )
    return shown, n_hard


def items_table(model: Any, X: Any, ids: Sequence[str], pairs: Any) -> pd.DataFrame:
    """Return the class of every item, by features and answers together, best guess first."""
    beliefs, _ = item_beliefs(model, X)
    titles = np.array([class_title(name) for name in model.classes_], dtype=object)
    sure = beliefs.max(axis=1)
    return pd.DataFrame(
        {
            "id": list(ids),
            "class": titles[beliefs.argmax(axis=1)],
            "probability": np.clip(sure, None, 1 - 1e-6).round(6),
            "answers": [whole(n) for n in np.asarray(pairs.item_counts().total).round(6).tolist()],
            "doubtful": np.where(sure < SURE, "yes", "no"),
        }
    )


def telling(features: pd.DataFrame, beliefs: Array) -> list[tuple[str, ...]]:
    """Return for every class what its items have more or less of than the others, in words.

    Numbers are compared by their means, levels and words by how many items have them; all in
    standard deviations.

    >>> frame = pd.DataFrame({"size": [1.0, 2, 8, 9], "note": ["a", "a", "b", "b"]})
    >>> telling(frame, np.eye(2)[[0, 0, 1, 1]])[0]
    ('note a (100%, others 0%)', 'size smaller (1.5, others 8.5)')
    """
    step = -(-len(features) // MOST_COMPARED)
    features, beliefs = features.iloc[::step], beliefs[::step]
    found: list[list[tuple[float, str]]] = [[] for _ in range(beliefs.shape[1])]
    for plan in describe(features):
        column = features[plan.name]
        if plan.name.endswith("]"):
            continue  # an entry of a vector says nothing to people
        if plan.kind == "number":
            values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float)
            known = np.isfinite(values)
            for k in range(beliefs.shape[1]):
                inside, others = _means(values[known, None], beliefs[known, k])
                spread = float(values[known].std()) or 1.0
                gap = float(inside[0] - others[0]) / spread
                more = "larger" if gap > 0 else "smaller"
                said = f"{plan.name} {more} ({inside[0]:.3g}, others {others[0]:.3g})"
                found[k].append((abs(gap), said))
        elif plan.kind in ("category", "boolean", "text", "id"):
            words = _words(as_text(column), plan.kind == "text")
            if not words[0]:
                continue
            for k in range(beliefs.shape[1]):
                found[k] += _more_often(plan.name, *words, beliefs[:, k], plan.kind == "text")
    return [
        tuple(said for gap, said in sorted(one, key=lambda t: -t[0])[:MOST_TELLING] if gap >= CLEAR)
        for one in found
    ]


def _means(values: Array, weight: Array) -> tuple[Array, Array]:
    """Return the mean of each column by weight, and by what is left of one."""
    inside, others = (w @ values / max(float(w.sum()), 1e-12) for w in (weight, 1.0 - weight))
    return inside, others


def _words(cells: pd.Series, split: bool) -> tuple[list[str], Array]:
    """Return levels, or words of more than two letters, and which items have them, (n, words)."""
    rows = [
        {w.strip(".,;:!?\"'()") for w in text.lower().split()} if split else {text}
        for text in cells
    ]
    counts = Counter(word for row in rows for word in row if len(word) > 2 * split)
    empty = ENGLISH_STOP_WORDS if split else ()
    common = [(word, n) for word, n in counts.most_common() if word and word not in empty]
    kept = [word for word, n in common[:300] if n < len(rows)]
    place = {word: k for k, word in enumerate(kept)}
    has = np.zeros((len(rows), len(kept)))
    for i, row in enumerate(rows):
        has[i, [place[word] for word in row if word in place]] = 1.0
    return kept, has


def _more_often(
    name: str, words: list[str], has: Array, weight: Array, split: bool
) -> list[tuple[float, str]]:
    """Return the levels that a class has more often than the others, or one list of its words."""
    inside, others = _means(has, weight)
    spread = np.sqrt(np.maximum(has.mean(axis=0) * (1.0 - has.mean(axis=0)), 1e-12))
    gaps = (inside - others) / spread
    best = np.argsort(-gaps, kind="stable")[:MOST_TELLING]
    if split:
        clear = [words[j] for j in best if gaps[j] >= CLEAR]
        return [(float(gaps[best[0]]), f"{name} with {', '.join(clear)}")] if clear else []
    return [
        (
            float(gaps[j]),
            f"{name} {words[j]} ({percent(float(inside[j]))}, others {percent(float(others[j]))})",
        )
        for j in best
    ]
