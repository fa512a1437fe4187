"""Levels of answers: grades of likeness from low to high, and "unsure" beside them.

"Same" and "different" are a scale of two levels. Whatever understands only these reads a graded
answer as "same" from a level on, and leaves unsure ones out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.errors import did_you_mean
from noisypairs.pairs.answers import MEANING, MISSING, canonical, column, factorise

#: How strongly a word before "same" or "yes" says it; without one it is 2.
STRENGTHS = dict.fromkeys(
    ("definitely", "certainly", "absolutely", "surely", "clearly", "completely", "totally"), 3
) | dict.fromkeys(
    ("probably", "likely", "rather", "possibly", "maybe", "perhaps", "somewhat", "slightly"), 1
)
#: More levels than this are a measurement, not a grade.
MOST_LEVELS = 20


@dataclass(frozen=True)
class Scale:
    """What can be answered: ``names`` of the levels from low to high, and the word for unsure.

    Levels are coded 0 … m−1 and unsure, where there is such a word, m. Level ``same_from`` and
    those above count as "same" where yes or no is wanted.

    >>> scale = Scale(("1", "2", "3", "4"), "0", same_from=2)
    >>> scale.n_levels, str(scale)
    (5, '1 < 2 < 3 < 4 (same from 3 on), 0 for unsure')
    """

    names: tuple[str, ...] = ("different", "same")
    unsure: str | None = None
    same_from: int = 1

    @property
    def n_ordered(self) -> int:
        """Number of levels in the order."""
        return len(self.names)

    @property
    def n_levels(self) -> int:
        """Number of all answers, unsure included."""
        return len(self.names) + (self.unsure is not None)

    @property
    def is_plain(self) -> bool:
        """Whether this is nothing but yes and no."""
        return self.n_levels == 2

    @property
    def same_levels(self) -> NDArray[np.bool_]:
        """Which levels count as "same", shape (n_levels,)."""
        level = np.arange(self.n_levels)
        same: NDArray[np.bool_] = (level >= self.same_from) & (level < self.n_ordered)
        return same

    @property
    def different_levels(self) -> NDArray[np.bool_]:
        """Which levels count as "different", shape (n_levels,)."""
        different: NDArray[np.bool_] = np.arange(self.n_levels) < self.same_from
        return different

    @property
    def scores(self) -> NDArray[np.float64]:
        """How near to "same" each level is, from 0 to 1; NaN for unsure; shape (n_levels,)."""
        found = np.full(self.n_levels, np.nan)
        found[: self.n_ordered] = np.linspace(0.0, 1.0, self.n_ordered)
        return found

    def meanings(self) -> dict[str, str]:
        """Return what each answer means as yes or no: unsure counts as no "same".

        >>> Scale(("1", "2"), "0").meanings()
        {'1': 'different', '2': 'same', '0': 'different'}
        """
        names = (*self.names, *([self.unsure] if self.unsure is not None else []))
        same = self.same_levels.tolist()
        return {name: "same" if one else "different" for name, one in zip(names, same, strict=True)}

    def text(self) -> str:
        """Return the levels as `read_scale` reads them.

        >>> Scale(("1", "2", "3"), same_from=2).text()
        '1<2|3'
        """
        return "<".join(self.names[: self.same_from]) + "|" + "<".join(self.names[self.same_from :])

    def __str__(self) -> str:
        order = " < ".join(self.names) + f" (same from {self.names[self.same_from]} on)"
        return order if self.unsure is None else f"{order}, {self.unsure} for unsure"


#: Yes and no.
PLAIN = Scale()


def scale_of(
    levels: Sequence[object], unsure: object | None = None, same_from: object | None = None
) -> Scale:
    """Return the scale of these levels, from low to high; ``same_from`` is needed if odd in number.

    >>> scale_of([1, 2, 3, 4], unsure=0).same_from
    2
    >>> scale_of(["no", "partly", "yes"])
    Traceback (most recent call last):
    ValueError: 3 levels have a middle one, 'partly', which may count as same or as different: ...
    """
    names = tuple(map(_plain, levels))
    word = None if unsure is None else _plain(unsure)
    if not 2 <= len(names) <= MOST_LEVELS:
        raise ValueError(
            f"levels has {len(names)} entries: expected 2 to {MOST_LEVELS}, from low to high"
        )
    if len({*names, word}) < len(names) + 1:
        raise ValueError(f"levels {list(names)} and unsure {word!r} name one answer twice")
    if same_from is None:
        if len(names) % 2:
            middle = names[len(names) // 2]
            raise ValueError(
                f"{len(names)} levels have a middle one, {middle!r}, which may count as same or as "
                f"different: say from which level on answers count as same, same_from=..."
            )
        return Scale(names, word, len(names) // 2)
    first = _plain(same_from)
    if first not in names[1:]:
        raise ValueError(f"same_from={first!r}: {did_you_mean(first, names[1:])}")
    return Scale(names, word, names.index(first))


def read_scale(text: str, unsure: str | None = None) -> Scale:
    """Return the scale that a text writes, "1<2<3<4"; a | in place of a < stands before "same".

    >>> read_scale("1<2<3<4", "0").same_from, read_scale("no<partly|yes").same_from
    (2, 2)
    """
    if text.count("|") > 1 or not re.search("[<|]", text):
        raise ValueError(
            f"levels {text!r}: expected names from low to high, such as '1<2<3<4', with at most "
            "one | in place of a <, from which on answers count as same"
        )
    names = [name.strip() for name in re.split("[<|]", text)]
    first = None
    if "|" in text:
        first = text.split("|", 1)[1].split("<", 1)[0].strip()
    return scale_of(names, unsure, first)


def spoken_scale(answers: Iterable[str]) -> Scale | None:
    """Return the scale that different answers spell out, or None where there is any doubt.

    That is where all are "same" or "different" in words that `answers` knows, some with a word of
    strength before them, or unsure, and no two mean the same level.

    >>> str(spoken_scale(["Probably same", "Definitely same", "Probably different", "Different"]))
    'Different < Probably different < Probably same < Definitely same (same from Probably same on)'
    >>> spoken_scale(["same", "different"]), spoken_scale(["1", "2", "3"])
    (None, None)
    """
    placed: dict[int, str] = {}
    unsure = None
    for answer in answers:
        strength, rest = 2, answer.strip()
        first, _, more = rest.replace(",", " ").partition(" ")
        if more and first.lower() in STRENGTHS:
            strength, rest = STRENGTHS[first.lower()], more
        meaning = MEANING.get(canonical(rest))
        if canonical(answer) in MEANING and meaning == "unsure" and unsure is None:
            unsure = answer.strip()
            continue
        place = strength if meaning == "same" else -strength
        if meaning not in ("same", "different") or place in placed:
            return None
        placed[place] = answer.strip()
    below = sum(place < 0 for place in placed)
    if len(placed) < 3 or not 0 < below < len(placed):
        return None
    return Scale(tuple(placed[place] for place in sorted(placed)), unsure, below)


def level_codes(values: ArrayLike, scale: Scale) -> NDArray[np.int8]:
    """Return the level of every answer as a code, shape (n,); refuse what is no level.

    >>> level_codes(["4", "1", "0"], Scale(("1", "2", "3", "4"), "0")).tolist()
    [3, 0, 4]
    """
    texts, codes = factorise(column(values, "level"))
    known = {name: k for k, name in enumerate(scale.names)}
    if scale.unsure is not None:
        known[scale.unsure] = scale.n_ordered
    plain = [_plain(text) for text in texts]
    strange = [text for text in plain if text not in known]
    if strange:
        at = int(np.argmax(codes == plain.index(strange[0])))
        missing = strange[0].lower() in MISSING
        advice = "leave such answers out" if missing else did_you_mean(strange[0], list(known))
        raise ValueError(
            f"level has {strange[0]!r} at pair {at}, which is none of {list(known)}: {advice}"
        )
    found: NDArray[np.int8] = np.array([known[text] for text in plain], dtype=np.int8)[codes]
    return found


def _plain(name: object) -> str:
    """Return a level as text; whole numbers lose their point."""
    text = str(name).strip()
    whole = re.fullmatch(r"([+-]?\d+)(\.0*)?", text)
    return str(int(whole[1])) if whole else text
