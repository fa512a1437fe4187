"""What people answered, read from words and numbers; whatever is not plain is refused.

`parse` turns answers into booleans and says how it read them. Beside it stand the two steps that
reading any column of a pairs table begins with: `column` and `factorise`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
Treatment = Literal["raise", "drop"]

Meaning = Literal["same", "different", "unsure"]

MISSING = frozenset({"", "na", "n/a", "<na>", "nan", "nat", "none", "null"})
"""What a missing value looks like as text, in small letters."""

WORDS: Mapping[Meaning, tuple[str, ...]] = {
    "same": (
        *("same", "the same", "same class", "identical", "yes", "y", "true", "t", "s", "1"),
        *("match", "matches", "matched", "similar", "must-link", "duplicate"),
    ),
    "different": (
        *("different", "not the same", "not same", "different class", "diff", "no", "n"),
        *("false", "f", "d", "0", "-1", "distinct", "no match", "non-match", "not a match"),
        *("mismatch", "dissimilar", "not similar", "cannot-link", "not duplicate"),
    ),
    "unsure": (
        *("unsure", "not sure", "I'm not sure", "uncertain", "unclear", "undecided", "unknown"),
        *("can't tell", "cannot tell", "I can't tell", "can't say", "cannot say"),
        *("don't know", "do not know", "I don't know", "idk", "no idea", "no answer"),
        *("skip", "skipped", "missing", "?"),
    ),
}
"""What words mean, whatever their case, blanks and hyphens. Words of one column may be mixed."""


def canonical(text: str) -> str:
    """Write an answer in the one way the tables above know.

    >>> canonical(" +1.0"), canonical("Must-Link")
    ('1', 'mustlink')
    """
    text = text.strip().casefold().replace("−", "-")
    try:
        number = float(text)
    except ValueError:
        return re.sub(r"[\s_'’.,!-]+", "", text)
    return str(int(number)) if number.is_integer() else text


MEANING: Mapping[str, Meaning] = {
    **dict.fromkeys(MISSING, "unsure"),
    **{canonical(word): sense for sense, words in WORDS.items() for word in words},
}
"""The meaning of each word, written as `canonical` writes it."""

UNSURE = frozenset(word for word, sense in MEANING.items() if sense == "unsure")
"""Words that stand for "no answer", so written."""


class UnknownWords(ValueError):
    """Answers hold values without a meaning; ``words`` are the first of them, ``said`` is why."""

    def __init__(self, said: str, words: Sequence[str]) -> None:
        self.said, self.words = said, tuple(words)
        example = dict.fromkeys(self.words[:2], "…")
        super().__init__(f"{said}. Say what they mean: words={example}")


class Parsed(NamedTuple):
    """Answers as booleans, with the reading that was used.

    `same` holds one boolean per *usable* row, in order; `mapping` says how each value was read;
    `usable` has one boolean per row given.
    """

    same: BoolArray
    mapping: dict[str, str]
    usable: BoolArray


def column(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return `values` as an array of one dimension, shape (n,), or say what is wrong with them.

    >>> column((1, 2), "left")
    array([1, 2])
    """
    if isinstance(values, np.ma.MaskedArray):
        missing = np.array(None, dtype=object)
        values = np.where(np.ma.getmaskarray(values), missing, values.data)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} holds entries of different lengths: give one per pair") from error
    if array.ndim != 1:
        raise ValueError(
            f"{name} has shape {array.shape}, expected one dimension with one entry per pair; "
            f"use .ravel() if it is a single column"
        )
    return array


def check_treatment(value: str, name: str) -> None:
    """Refuse any treatment of unusable rows except "raise" and "drop"."""
    if value not in ("raise", "drop"):
        raise ValueError(f"{name}={value!r} is not a treatment: give 'raise' or 'drop'")


def factorise(values: NDArray[Any]) -> tuple[list[Any], IntArray]:
    """Return the distinct values in order of first appearance, and each entry's index in them.

    A dictionary does it, not a sort, so that values of different types may stand side by side.

    >>> factorise(np.array(["b", "a", "b"]))
    (['b', 'a'], array([0, 1, 0]))
    """
    entries = values.tolist()
    code = {value: index for index, value in enumerate(dict.fromkeys(entries))}
    return list(code), np.fromiter(map(code.__getitem__, entries), np.int64, len(entries))


def parse(
    values: ArrayLike,
    *,
    unsure: Treatment = "raise",
    name: str = "same",
    words: Mapping[str, str] | None = None,
) -> Parsed:
    """Read answers written in the usual words and numbers as booleans, True for "same".

    Known are bool, 0/1, ±1 and `WORDS`, whatever the case and blanks, also mixed; ``words`` says
    what others mean, {word: "same", "different" or "unsure"}, and wins. Missing values and words
    like "unsure" raise, or, with `unsure="drop"`, are marked in `usable`. What could be read two
    ways is refused: 1/2, and −1 beside 0 or words, where it may stand for "no answer".

    >>> parse([" Yes", "no", "TRUE"])
    Parsed(same=array([ True, False,  True]), mapping={' Yes': 'same', 'no': 'different',
    'TRUE': 'same'}, usable=array([ True,  True,  True]))
    >>> parse([1, None, -1], unsure="drop").usable
    array([ True, False,  True])
    >>> parse(["aye", "nay"], words={"aye": "same", "nay": "different"}).same
    array([ True, False])
    """
    check_treatment(unsure, "unsure")
    given = column(values, name)
    if given.dtype.kind == "b" and not words:  # already what it means
        mapping = {str(said): "same" if said else "different" for said in np.unique(given).tolist()}
        return Parsed(given.copy(), mapping, np.ones(given.size, dtype=np.bool_))
    texts, codes = _texts(given)
    senses = _senses(texts, codes, name, meanings(words or {}))
    usable_text = np.array([sense != "unsure" for sense in senses], dtype=np.bool_)
    usable = usable_text[codes]
    if unsure == "raise" and not usable.all():
        raise ValueError(
            f"{name} has {np.count_nonzero(~usable)} of {usable.size} answers missing or unsure: "
            f"{_first_places(texts, codes, np.flatnonzero(~usable_text))}. Leave these pairs out "
            f"(Pairs.from_frame(..., unsure='drop') does) or decide them"
        )
    is_same = np.array([sense == "same" for sense in senses], dtype=np.bool_)
    mapping = {text: sense for text, sense in zip(texts, senses, strict=True) if sense != "unsure"}
    return Parsed(is_same[codes[usable]], mapping, usable)


def meanings(words: Mapping[str, str]) -> dict[str, Meaning]:
    """Return words as `canonical` writes them with their meaning; refuse any other meaning.

    >>> meanings({"Aye ": "same"})
    {'aye': 'same'}
    """
    found: dict[str, Meaning] = {}
    for word, sense in words.items():
        plain = str(sense).strip().lower()
        if plain not in WORDS:
            raise ValueError(
                f"{word!r} cannot mean {sense!r}: an answer is same, different or unsure"
            )
        known = cast(Meaning, plain)
        if found.setdefault(canonical(str(word)), known) != known:
            raise ValueError(f"{word!r} is given two meanings: give one")
    return found


def _senses(
    texts: Sequence[str], codes: IntArray, name: str, own: Mapping[str, Meaning]
) -> list[Meaning]:
    """Return what each text means, or raise with what cannot be told."""
    tokens = [canonical(text) for text in texts]
    known = {**MEANING, **own}
    open_ = {token for token in tokens if token not in own}  # whose meaning is ours to tell
    answered = {token for token in tokens if known.get(token) != "unsure"}
    if "2" in open_ and answered <= {"1", "2"}:
        raise UnknownWords(
            f"{name} is coded 1/2, which does not say whether 1 or 2 means same", ["1", "2"]
        )
    strange = [k for k, token in enumerate(tokens) if token not in known]
    if strange:
        scores = all(re.fullmatch(r"0?\.\d+(e-\d+)?|\de-\d+|0|1", token) for token in answered)
        places = _first_places(texts, codes, strange)
        said = f"{name} has values that are no answer: {places}"
        if scores:
            raise ValueError(f"{said}; these look like scores from 0 to 1: use Pairs.from_scores")
        usual = "expected same/different, yes/no, true/false, 1/0 or the like"
        raise UnknownWords(f"{said}; {usual}", [texts[k] for k in strange])
    if "-1" in open_ and not answered <= {"-1", "1"}:
        at = _first_places(texts, codes, [tokens.index("-1")])
        raise UnknownWords(
            f"{name} has {at} beside other codings, where −1 may mean different or no answer",
            ["-1"],
        )
    return [known[token] for token in tokens]


def _texts(values: NDArray[Any]) -> tuple[list[str], IntArray]:
    """Distinct values as text, and codes; numbers go through a sort, which is faster."""
    if values.dtype.kind in "iuf":
        distinct, codes = np.unique(values, return_inverse=True)
        return [str(value) for value in distinct.tolist()], codes.astype(np.int64)
    if values.dtype.kind == "S":
        values = values.astype(np.str_)
    texts, codes = factorise(np.fromiter(map(str, values.tolist()), object, values.size))
    return texts, codes


def _first_places(texts: Sequence[str], codes: IntArray, which: Iterable[int]) -> str:
    """Name up to four of the values and the first row that holds each, counted from 0."""
    chosen = list(which)
    places = [f"{texts[k]!r} at row {int(np.argmax(codes == k))}" for k in chosen[:4]]
    return ", ".join(places) + (", …" if len(chosen) > 4 else "")
