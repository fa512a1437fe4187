"""Records to link: answers for which classes are the wrong question, and the tools for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from noisypairs.annotators.choice import CLASS_NUMBERS, choose_model, lacking_repeats
from noisypairs.annotators.pair_truth import infer_pair_truth
from noisypairs.pairs import Pairs

#: What is said of answers that show no classes, and what to use instead.
RECORDS = "these are not classes to learn but records to link"
TOOLS = "tools made for record linkage: splink, dedupe or recordlinkage (Python packages)"


def records_to_link(
    pairs: Pairs, features: Callable[[], Any] | None = None, seed: int = 0
) -> str | None:
    """Return the evidence that these are records to link, not classes to learn, or None.

    Pairs must be answered more than once, the items of probably same pairs must form tiny groups,
    and `choose_model` must prefer each pair by itself to 2 to 6 classes, which may use the
    ``features`` (n_items, d); these are only asked for where the groups are tiny.
    """
    pairs = pairs.yes_or_no().without_self_pairs()
    if pairs.labels or lacking_repeats(pairs):
        return None
    alike = Pairs(pairs.left, pairs.right, pairs.same, pairs.n_items, weight=pairs.weight)
    if not infer_pair_truth(alike).groups().are_tiny:  # a quick look: all people alike
        return None
    X = None if features is None else features()
    found = choose_model(pairs, X, CLASS_NUMBERS, None, np.random.RandomState(seed))
    if not found.are_records:
        return None
    return f"{RECORDS}: {found.reason}. Use {TOOLS}"
