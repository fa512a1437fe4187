"""What people answered, read from words and numbers; whatever is not plain is refused.

`parse` turns answers into booleans and says how it read them. Beside it stand the two steps that
reading any column of a pairs table begins with: `column` and `factorise`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast
from unicodedata import combining, normalize

import numpy as np
from numpy.typing import ArrayLike, NDArray

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
Treatment = Literal["raise", "drop"]

Meaning = Literal["same", "different", "unsure"]

FEW_STRANGE = 4
"""More answers that are not understood are counted where they are refused."""

LONG = 24
"""Answers of more characters are sentences: a mapping shows how they begin."""

MISSING = frozenset({"", "na", "n/a", "<na>", "nan", "nat", "none", "null"})
"""What a missing value looks like as text, in small letters."""

ANSWER_FIELDS = frozenset(
    {"answer", "same", "is_same", "match", "is_match", "label", "decision", "verdict", "result"}
)
"""Fields of a JSON object that hold the answer."""

REFUSALS = ("imsorry", "iamsorry", "sorry", "icannot", "ican't", "icant", "asanai", "unableto")
"""How a model begins that does not answer, written as `canonical` writes it."""

_NOT_SAID = re.compile(r"^\s*<think>.*?</think>|```(?:json)?|[*`]", re.DOTALL)
"""What models write around an answer."""


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split("|"))


WORDS: Mapping[Meaning, tuple[str, ...]] = {
    "same": _listed(
        "same|the same|same class|identical|yes|y|true|t|s|1|match|matches|matched|similar|"
        "must-link|duplicate"
    ),
    "different": _listed(
        "different|not the same|not same|different class|diff|no|n|false|f|d|0|-1|distinct|"
        "no match|non-match|not a match|mismatch|dissimilar|not similar|cannot-link|"
        "not duplicate"
    ),
    "unsure": _listed(
        "unsure|not sure|I'm not sure|uncertain|unclear|undecided|unknown|can't tell|"
        "cannot tell|I can't tell|can't say|cannot say|don't know|do not know|I don't know|idk|"
        "no idea|no answer|skip|skipped|missing|?"
    ),
}
"""What words mean, whatever their case, blanks and hyphens. Words of one column may be mixed."""

OTHER_LANGUAGES: Mapping[Meaning, tuple[str, ...]] = {
    "same": _listed(
        "ja|oui|sí|sì|sim|da|да|tak|ano|igen|kyllä|evet|是|是的|はい|네|예|نعم|हाँ|gleich|dasselbe|"
        "même|pareil|igual|mismo|mesmo|uguale|stesso|hetzelfde|samma|одинаковые|то же|"
        "相同|一样|同じ|같음|ναι|так|כן|بله|ya|có|ใช่|áno|jah|jā|taip|já|ndiyo|হ্যাঁ|oo|bəli|ჰო|այո|wahr|vrai|"
        "verdadero|verdadeiro|vero|identisch|identique|idéntico|identico|ouais|stejné|"
        "takie same|sama|一致|같다"
    ),
    "different": _listed(
        "nein|non|não|нет|net|nee|nej|nei|nie|ne|nem|ei|hayır|不是|否|不|いいえ|아니요|لا|नहीं|"
        "verschieden|anders|unterschiedlich|ungleich|différent|différents|diferente|diferentes|"
        "distinto|diverso|verschillend|olika|разные|不同|不一样|違う|다름|όχι|ні|не|לא|خیر|tidak|không|"
        "ไม่ใช่|ไม่|nu|nē|hapana|না|xeyr|არა|ոչ|διαφορετικά|різні|různé|różne|erilainen|falsch|"
        "faux|falso|beda|不一致|不相同|다르다"
    ),
    "unsure": _listed(
        "unsicher|unklar|weiß nicht|keine Ahnung|je ne sais pas|pas sûr|no sé|não sei|non so|"
        "weet niet|vet ej|не знаю|не уверен|不知道|不确定|わからない|모름|"
        "nie wiem|nevím|bilmiyorum|δεν ξέρω"
    ),
}
"""The same in other languages, with and without their accents."""

NOUNS = "kind|type|class|category|group|object|item|thing|product|person|animal|species|topic"
NOUNS += "|entity|record|brand|sort|one"
"""What may be the same or different: "Same kind", "Not the same object type"."""


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


def _unaccented(text: str) -> str:
    return "".join(one for one in normalize("NFKD", text) if not combining(one))


MEANING: Mapping[str, Meaning] = {
    **dict.fromkeys(MISSING, "unsure"),
    **{
        canonical(form): sense
        for table in (OTHER_LANGUAGES, WORDS)
        for sense, words in table.items()
        for word in words
        for form in (word, _unaccented(word))
    },
}
"""The meaning of each word, written as `canonical` writes it."""

_OF_NOUNS: Mapping[Meaning, re.Pattern[str]] = {
    "same": re.compile(f"(the)?(same|similar|identical)({NOUNS})+s?"),
    "different": re.compile(f"(a)?(different|distinct|not(the)?(same|identical))({NOUNS})+s?"),
}

UNSURE = frozenset(word for word, sense in MEANING.items() if sense == "unsure")
"""Words that stand for "no answer", so written."""


class UnknownWords(ValueError):
    """Answers hold values without a meaning; ``words`` are the first of them, ``said`` is why."""

    def __init__(self, said: str, words: Sequence[str]) -> None:
        self.said, self.words = said, tuple(words)
        example = dict.fromkeys(self.words[:2], "…")
        super().__init__(f"{said}. Say what they mean: Pairs.from_frame(..., words={example})")


class Parsed(NamedTuple):
    """Answers as booleans, with the reading that was used.

    `same` holds one boolean per *usable* row, in order; `mapping` says how each value was read;
    `usable` has one boolean per row given. `n_sentences` counts those read by how they begin.
    """

    same: BoolArray
    mapping: dict[str, str]
    usable: BoolArray
    n_sentences: int = 0


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
        raise ValueError(f"{name}={value!r}: expected 'raise' or 'drop'")


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
    'TRUE': 'same'}, usable=array([ True,  True,  True]), n_sentences=0)
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
    known = (canonical(text) in MEANING or len(text) <= LONG for text in texts)
    whole = np.fromiter(known, dtype=np.bool_, count=len(texts))
    mapping = {
        text if plain else f"{text[:LONG].splitlines()[0]} …": sense
        for text, sense, plain in zip(texts, senses, whole.tolist(), strict=True)
        if sense != "unsure"
    }
    return Parsed(is_same[codes[usable]], mapping, usable, int(np.count_nonzero(~whole[codes])))


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
    by_noun = {token: sense for token in tokens if (sense := _of_noun(token)) is not None}
    known: dict[str, Meaning] = {**by_noun, **MEANING, **own}
    open_ = {token for token in tokens if token not in own}  # whose meaning is ours to tell
    answered = {token for token in tokens if known.get(token) != "unsure"}
    if "2" in open_ and answered <= {"1", "2"}:
        raise UnknownWords(
            f"{name} is coded 1/2, which does not say whether 1 or 2 means same", ["1", "2"]
        )
    for text, token in zip(texts, tokens, strict=True):
        if token not in known and (sense := sense_of_sentence(text, known)) is not None:
            known[token] = sense
    strange = [k for k, token in enumerate(tokens) if token not in known]
    if strange:
        scores = all(re.fullmatch(r"0?\.\d+(e-\d+)?|\de-\d+|0|1", token) for token in answered)
        places = _first_places(texts, codes, strange)
        many = int(np.isin(codes, strange).sum())
        said = f"{name} has unrecognised answers: {places}"
        said += f" ({many:,} of {codes.size:,} answers)" * (many > FEW_STRANGE)
        if scores:
            raise ValueError(f"{said}; these look like scores from 0 to 1: use Pairs.from_scores")
        usual = "expected same/different, yes/no, true/false, 1/0 or the like"
        usual += "; a sentence must begin with such a word and a comma or full stop"
        raise UnknownWords(f"{said}; {usual}", [texts[k] for k in strange])
    if "-1" in open_ and not answered <= {"-1", "1"}:
        at = _first_places(texts, codes, [tokens.index("-1")])
        raise UnknownWords(
            f"{name} has {at} beside other codings, where −1 may mean different or no answer",
            ["-1"],
        )
    return [known[token] for token in tokens]


def sense_of_sentence(text: str, known: Mapping[str, Meaning]) -> Meaning | None:
    r"""Return what a sentence, or JSON with one field for the answer, says; None where it is open.

    A sentence is read by the word that it begins with, up to the first comma, full stop, colon,
    dash or line break; refusals count as unsure. Marks such as ** and the thoughts that some models
    write before their answer, in <think> and </think>, are left out. A known word that ends in
    ``*`` is the beginning of a sentence. Nothing is read from the middle.

    >>> [sense_of_sentence(text, MEANING) for text in ("Yes, the two are one", "No.\nbrand", "0.5")]
    ['same', 'different', None]
    >>> sense_of_sentence("Not the same topic: one is about law", MEANING)
    'different'
    >>> sense_of_sentence('{"match": true, "why": "no doubt"}', MEANING)
    'same'
    >>> sense_of_sentence("<think>One is red.</think> **No**", MEANING)
    'different'
    >>> sense_of_sentence("The two are the same", {**MEANING, "thetwoarethe*": "same"})
    'same'
    """
    plain = _NOT_SAID.sub("", text).strip()
    if plain != text.strip() and canonical(plain) in known:
        return known[canonical(plain)]
    if plain.startswith("{"):
        try:
            value = json.loads(plain)
        except json.JSONDecodeError:
            return None
        said = [str(value[name]) for name in value if str(name).casefold() in ANSWER_FIELDS]
        return known.get(canonical(said[0])) if len(said) == 1 else None
    token = canonical(plain)
    begins = [
        sense for word, sense in known.items() if word.endswith("*") and token.startswith(word[:-1])
    ]
    if begins:
        return begins[0] if len(set(begins)) == 1 else None
    if token.startswith(REFUSALS):
        return "unsure"
    first = canonical(re.split(r"[.,:;!\n]|\s[-–—]\s", plain, maxsplit=1)[0])
    if first == token or first in MISSING or not first.isalpha():
        return None
    return known.get(first) or _of_noun(first)


def _of_noun(token: str) -> Meaning | None:
    """Return what "Same kind" or "Not the same object type" says, so written."""
    return next((sense for sense, form in _OF_NOUNS.items() if form.fullmatch(token)), None)


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
