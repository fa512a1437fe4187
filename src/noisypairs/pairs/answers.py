"""What people answered, read from words and numbers; whatever is not plain is refused.

`parse` turns answers into booleans and says how it read them. Beside it stand the two steps that
reading any column of a pairs table begins with: `column` and `factorise`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
Treatment = Literal["raise", "drop"]

CODINGS: tuple[tuple[str, str], ...] = (
    ("true", "false"),
    ("t", "f"),
    ("same", "different"),
    ("s", "d"),
    ("yes", "no"),
    ("y", "n"),
    ("match", "distinct"),
    ("match", "nonmatch"),
    ("similar", "dissimilar"),
    ("mustlink", "cannotlink"),
    ("1", "0"),
    ("1", "-1"),
)
"""(same, different) as `canonical` writes them. All answers of one column must fit one row."""

MISSING = frozenset({"", "na", "n/a", "<na>", "nan", "nat", "none", "null"})
"""What a missing value looks like as text, in small letters."""

UNSURE = MISSING | {"unsure", "notsure", "unknown", "dontknow", "skip", "skipped", "?", "missing"}
"""Words that stand for "no answer"."""


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


def parse(values: ArrayLike, *, unsure: Treatment = "raise", name: str = "same") -> Parsed:
    """Read answers written in any one of the usual codings as booleans, True for "same".

    Known are bool, 0/1, ±1 and the words of `CODINGS`, whatever the case and blanks; all values
    must fit one coding. Missing values and words like "unsure" raise, or, with `unsure="drop"`,
    are marked in `usable`. Anything that could be read two ways (1/2) is refused.

    >>> parse([" Yes", "no", "YES"])
    Parsed(same=array([ True, False,  True]), mapping={' Yes': 'same', 'no': 'different',
    'YES': 'same'}, usable=array([ True,  True,  True]))
    >>> parse([1, None, -1], unsure="drop").usable
    array([ True, False,  True])
    """
    check_treatment(unsure, "unsure")
    given = column(values, name)
    if given.dtype.kind == "b":  # already what it means
        mapping = {str(said): "same" if said else "different" for said in np.unique(given).tolist()}
        return Parsed(given.copy(), mapping, np.ones(given.size, dtype=np.bool_))
    texts, codes = _texts(given)
    tokens = [canonical(text) for text in texts]
    usable_text = np.array([token not in UNSURE for token in tokens], dtype=np.bool_)
    usable = usable_text[codes]
    if unsure == "raise" and not usable.all():
        raise ValueError(
            f"{name} has {np.count_nonzero(~usable)} of {usable.size} answers missing or unsure: "
            f"{_first_places(texts, codes, np.flatnonzero(~usable_text))}. Leave these pairs out "
            f"(Pairs.from_frame(..., unsure='drop') does) or decide them"
        )
    _check_coding(tokens, texts, codes, usable_text, name)
    says_same = {same for same, _ in CODINGS}
    is_same = np.array([token in says_same for token in tokens], dtype=np.bool_)
    mapping = {
        text: "same" if is_same[k] else "different"
        for k, text in enumerate(texts)
        if usable_text[k]
    }
    return Parsed(is_same[codes[usable]], mapping, usable)


def _texts(values: NDArray[Any]) -> tuple[list[str], IntArray]:
    """Distinct values as text, and codes; numbers go through a sort, which is faster."""
    if values.dtype.kind in "iuf":
        distinct, codes = np.unique(values, return_inverse=True)
        return [str(value) for value in distinct.tolist()], codes.astype(np.int64)
    if values.dtype.kind == "S":
        values = values.astype(np.str_)
    texts, codes = factorise(np.fromiter(map(str, values.tolist()), object, values.size))
    return texts, codes


def canonical(text: str) -> str:
    """Write an answer in the one way the tables above know.

    >>> canonical(" +1.0"), canonical("Must-Link")
    ('1', 'mustlink')
    """
    text = text.strip().casefold().replace("−", "-")
    try:
        number = float(text)
    except ValueError:
        return re.sub(r"[\s_'’-]+", "", text)
    return str(int(number)) if number.is_integer() else text


def _first_places(texts: Sequence[str], codes: IntArray, which: Iterable[int]) -> str:
    """Name up to four of the values and the first row that holds each, counted from 0."""
    chosen = list(which)
    places = [f"{texts[k]!r} at row {int(np.argmax(codes == k))}" for k in chosen[:4]]
    return ", ".join(places) + (", …" if len(chosen) > 4 else "")


def _check_coding(
    tokens: list[str], texts: list[str], codes: IntArray, usable: BoolArray, name: str
) -> None:
    """Raise unless one row of `CODINGS` holds all usable tokens; the message says why not."""
    given = {token for token, use in zip(tokens, usable, strict=True) if use}
    if any(given <= set(coding) for coding in CODINGS):
        return
    known = {token for coding in CODINGS for token in coding}
    strange = [k for k, token in enumerate(tokens) if usable[k] and token not in known]
    if given == {"1", "2"} or given == {"2"}:
        raise ValueError(
            f"{name} is coded 1/2, which does not say whether 1 or 2 means same: "
            f"recode it to 1 (same) and 0 (different)"
        )
    if strange:
        scores = all(re.fullmatch(r"0?\.\d+(e-\d+)?|\de-\d+|0|1", token) for token in given)
        advice = (
            "these look like scores between 0 and 1: use Pairs.from_scores"
            if scores
            else "expected bool, 1/0, 1/-1 or one of "
            + ", ".join("/".join(coding) for coding in CODINGS[:-2])
        )
        raise ValueError(
            f"{name} has values that are no answer: {_first_places(texts, codes, strange)}; "
            + advice
        )
    raise ValueError(
        f"{name} mixes codings: {_first_places(texts, codes, np.flatnonzero(usable))}; "
        f"write all answers in one, for example 1/0"
    )
