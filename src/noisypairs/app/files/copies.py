"""Copied answers in a file: found, left out unless they are asked for, and counted.

With annotators a copy is the same pair, annotator and answer. Where a row names no annotator, only
a row that repeats another one in all its columns can be a copy. It is taken for one unless the
answers show that several people answered: then pairs asked again are answered both ways now and
then, while copies never disagree.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs.app.files.answers import UNNAMED_ANNOTATOR, FileAnswers, Mask
from noisypairs.app.files.cells import as_text
from noisypairs.app.files.contents import plural
from noisypairs.pairs.copies import copied, look_copied, repeats
from noisypairs.pairs.counts import pair_keys

SEVERAL_PEOPLE = 0.05
"""Share of repeated pairs answered both ways from which identical rows are different people's."""

TOO_SHORT = "kept (--keep-copies): rates come out too small and intervals too short"


def without_copies(found: FileAnswers, keep: bool) -> tuple[FileAnswers, int, list[str]]:
    """Return the answers without copies (all with ``keep``), how many were left out, and notes."""
    codes, names = pd.factorize(np.concatenate([found.left, found.right]))
    left, right = codes.reshape(2, -1).astype(np.int64)
    if not copied(left, right, found.same, len(names)).any():
        return found, 0, []  # no pair was answered alike twice
    who, named = _who(found)
    again = found.usable & copied(left, right, found.same, len(names), who, found.weight)
    notes = []
    unnamed = again & ~named
    if unnamed.any():
        answered = found.usable & ~named
        keys = pair_keys(left, right, len(names))[answered]
        said = _several_people(keys, found.same[answered]) if found.weight is None else ""
        if said:
            again &= named
            notes.append(f"{_identical(found, unnamed)} kept: {said}")
        else:
            fate = TOO_SHORT if keep else "left out as copies (--keep-copies keeps them)"
            notes.append(f"{_identical(found, unnamed)} {fate}")
    if n := int(np.count_nonzero(again & named)):
        fate = TOO_SHORT if keep else "left out (--keep-copies keeps them)"
        what = "recorded before: same pair, annotator and answer"
        notes.append(f"{found.table.path.name}: {plural(n, 'answer')} {what}, {fate}")
    if keep or not again.any():
        return found, 0, notes
    return found.taken(np.flatnonzero(~again)), int(np.count_nonzero(again)), notes


def _who(found: FileAnswers) -> tuple[NDArray[np.int64], Mask]:
    """Return a number for whoever answered, by name, else by the text of the whole row."""
    if found.annotator is None:
        named = np.zeros(found.rows.size, dtype=bool)
        who = np.zeros(found.rows.size, dtype=np.int64)
    else:
        named = found.annotator != UNNAMED_ANNOTATOR
        who = pd.factorize(found.annotator)[0].astype(np.int64)
    if not named.all():
        text = found.table.frame.apply(as_text)
        row = pd.factorize(pd.util.hash_pandas_object(text, index=False))[0]
        who = np.where(named, who, -1 - row[found.rows])
    return who, named


def _several_people(keys: NDArray[np.int64], same: Mask) -> str:
    """Return why repeated answers are those of several people, or nothing where they are not."""
    asked, contradicted, _ = repeats(keys, same)
    if look_copied(keys, same) or contradicted <= SEVERAL_PEOPLE * asked:
        return ""
    return (
        f"{contradicted / asked:.0%} of the pairs asked again are answered both ways, so several "
        "people answered them"
    )


def _identical(found: FileAnswers, which: Mask) -> str:
    rows = np.unique(found.rows[which]).size
    return (
        f"{found.table.path.name}: {plural(rows, 'row')} without an annotator and identical to an "
        "earlier one,"
    )
