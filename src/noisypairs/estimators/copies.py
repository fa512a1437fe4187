"""A warning to learners: answers that were copied are not independent."""

from __future__ import annotations

import warnings
from typing import Any

from noisypairs.errors import CopiedAnswersWarning
from noisypairs.pairs import Pairs
from noisypairs.pairs.copies import look_copied

#: Copies below this share of the answers change no interval by more than a few per cent.
COPIES_WORTH_SAYING = 0.05
#: Of more answers, those about a part of the pairs are looked at.
ANSWERS_LOOKED_AT = 1_000_000


def warn_of_copies(pairs: Any) -> None:
    """Warn where answers in memory are copies, or look like copies where nobody is named.

    With annotators a copy is the same pair, annotator, answer and weight; without them
    `look_copied` judges. A `PairTable` is not looked at: its audit counts copies.
    """
    if not isinstance(pairs, Pairs) or (pairs.weight is not None and pairs.annotator is None):
        return  # weights without annotators are scores or votes: one answer per pair and kind
    some, key = pairs, pairs.pair_keys
    if pairs.n_pairs > ANSWERS_LOOKED_AT:
        kept = key % (pairs.n_pairs // ANSWERS_LOOKED_AT + 1) == 0  # all answers on a pair, or none
        some, key = pairs.select(kept), key[kept]
    if pairs.annotator is None:
        if not look_copied(key, some.same):
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
        stacklevel=4,
    )
