"""From the answers in a file to `Pairs` of known items; notes say what is left out or repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from noisypairs.app.files.answers import FileAnswers, Mask
from noisypairs.app.files.cells import as_text, each
from noisypairs.app.files.contents import BadFile, about, plural, some
from noisypairs.app.files.matching import match_ids, near_miss
from noisypairs.pairs import Pairs, answers
from noisypairs.pairs.columns import by_plain_name


def pairs_of(
    found: FileAnswers, ids: Sequence[str] | None, items_in: str, copies: int = 0
) -> tuple[Pairs, list[str], NDArray[np.int64]]:
    """Return the answers as `Pairs` on the items `ids` (without: on those they name), and notes.

    Last comes the row of the table that each of them stands in.

    Pairs with an unknown item are left out; self pairs, repeats and contradictions stay. ``copies``
    is how many answers were left out as copies.
    """
    left, right, notes = found.left, found.right, list[str]()
    if ids is not None:
        known, notes = match_ids(found.ids, ids, found.table.path.name, items_in)
        notes += _notes_on_unknown(found, known, ids, items_in)
        left, right = (each(end, lambda name: known.get(name, name)) for end in (left, right))
    read = answers.Parsed(found.same[found.usable], found.mapping, found.usable)
    with about(found.table.path):
        pairs = Pairs.from_ids(
            left,
            right,
            read,
            found.annotator,
            found.weight,
            ids,
            unknown="drop",
            copies=copies,
            chosen=_chosen(found),
        )
    if pairs.n_pairs == 0:
        raise BadFile(
            f"{found.table.path} holds no usable answer about two items of {items_in}: the first "
            f"names {some(found.ids, 2)}, the second {some(list(ids or ()), 2)}. Name the columns "
            "that hold the ids with --left, --right and --id"
        )
    kept = found.usable
    if ids is not None:
        items = set(ids)
        kept = kept & each(left, items.__contains__) & each(right, items.__contains__)
    return pairs, notes + _notes_on_repeats(found, pairs), found.rows[kept]


def _chosen(found: FileAnswers) -> Mask | None:
    """Return which pairs were chosen, by a column ``chosen`` as ``plan --next`` writes it.

    Without one, or with other words in it than yes and no, nothing is known of that.
    """
    name = by_plain_name(found.table.frame.columns).get("chosen")
    if name is None:
        return None
    cells = as_text(found.table.frame[name]).str.strip().str.lower().to_numpy()[found.rows]
    yes, no = np.isin(cells, ["yes", "true", "1"]), np.isin(cells, ["no", "false", "0"])
    return yes if (yes | no).all() else None


def _notes_on_unknown(
    found: FileAnswers, known: Mapping[str, str], ids: Sequence[str], items_in: str
) -> list[str]:
    """Note the pairs that name an item that is not among the items."""
    strange = [each(end, lambda name: name not in known) for end in (found.left, found.right)]
    either = strange[0] | strange[1]
    if not either.any():
        return []
    at = int(np.argmax(either))
    name = str(found.left[at] if strange[0][at] else found.right[at])
    return [
        f"{found.table.path.name}: {plural(int(either.sum()), 'answer')} left out that name an "
        f"item unknown to {items_in}, such as {name!r}{near_miss(name, ids)} on "
        f"{found.table.place(int(found.rows[at]))}"
    ]


def _notes_on_repeats(found: FileAnswers, pairs: Pairs) -> list[str]:
    """Note what is kept but worth knowing: self pairs, repeats, contradictions."""
    name, notes = found.table.path.name, []
    themselves = int(np.count_nonzero(pairs.left == pairs.right))
    if themselves:
        notes.append(
            f"{name}: {plural(themselves, 'pair')} of an item with itself kept: they say nothing "
            "of classes, but something of noise"
        )
    if "p" in found.mapping or "votes for same" in found.mapping.values():
        return notes  # a score or a count of votes is two answers by construction
    _, which = np.unique(pairs.pair_keys, return_inverse=True)
    asked, yes = np.bincount(which), np.bincount(which, pairs.same)
    if again := int(np.count_nonzero(asked > 1)):
        both_ways = int(np.count_nonzero((yes > 0) & (yes < asked)))
        notes.append(
            f"{name}: {plural(again, 'pair')} asked more than once, in either order, "
            f"{both_ways:,} of them answered both ways: all answers are kept, disagreement is "
            "evidence of noise"
        )
    return notes
