"""A warning to learners: answers that were copied are not independent."""

from __future__ import annotations

import warnings
from typing import Any

from noisypairs.errors import CopiedAnswersWarning
from noisypairs.pairs import Pairs
from noisypairs.pairs.copies import look_copied
from noisypairs.pairs.counts import some_pairs

#: Copies below this share of the answers change no interval by more than a few per cent.
COPIES_WORTH_SAYING = 0.05
#: Of more answers, those about some of the pairs are looked at.
ANSWERS_LOOKED_AT = 20_000


def warn_of_copies(pairs: Any, stacklevel: int = 3) -> None:
    """Warn where answers in memory are copies, or look like copies where nobody is named.

    With annotators a copy is the same pair, annotator, answer and weight; without them
    `look_copied` judges. A `PairTable` is not looked at: its audit counts copies. ``stacklevel``
    is 3 where the warning is to name the caller of the caller.
    """
    if not isinstance(pairs, Pairs) or (pairs.weight is not None and pairs.annotator is None):
        return  # weights without annotators are scores or votes: one answer per pair and kind
    some = pairs.select(some_pairs(pairs.left, pairs.right, ANSWERS_LOOKED_AT))
    if pairs.annotator is None:
        if not look_copied(some.pair_keys, some.same):
            return
        what = (
            "nearly every pair was answered more than once, and always alike: the answers look "
            "copied. If they are, take pairs.without_copies()"
        )
    else:
        share = float(some.copies().mean()) if some.n_pairs else 0.0
        if share < COPIES_WORTH_SAYING:
            return
        what = (
            f"{share:.0%} of the answers are copies (same pair, annotator and answer): take "
            "pairs.without_copies()"
        )
    warnings.warn(
        f"{what}. Copies make rates too small and intervals too short",
        CopiedAnswersWarning,
        stacklevel=stacklevel,
    )
