"""Answers: what is read, what is refused, and what the refusal says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisypairs.pairs import Pairs, answers

WORDS = [
    ("true", "false"),
    ("same", "different"),
    ("s", "d"),
    ("yes", "no"),
    ("y", "n"),
    ("match", "distinct"),
    ("similar", "dissimilar"),
    ("must-link", "cannot-link"),
    ("1", "0"),
    ("+1", "-1"),
    ("1.0", "0.0"),
    ("1", "−1"),
]


@given(
    st.sampled_from(WORDS),
    st.lists(st.booleans(), min_size=1),
    st.sampled_from([str.upper, str.lower, str.title, lambda word: f"  {word} "]),
)
def test_words_are_read_whatever_the_case_and_blanks(coding, truth, dress):
    written = [dress(coding[0] if same else coding[1]) for same in truth]
    parsed = answers.parse(written)
    assert parsed.same.tolist() == truth
    assert parsed.usable.all()
    assert parsed.mapping == {
        word: "same" if same else "different" for word, same in zip(written, truth, strict=True)
    }


@pytest.mark.parametrize(
    "values",
    [
        [True, False, True],
        [1, 0, 1],
        [1, -1, 1],
        [1.0, -1.0, 1.0],
        np.array([1, 0, 1], dtype=np.uint8),
        np.array([1, 0, 1], dtype=object),
        np.array([b"yes", b"no", b"yes"]),
        pd.Series(["Same", "different", "same"], dtype="category"),
        pd.Series([1, 0, 1], dtype="Int64"),
        pl.Series(["y", "n", "y"]),
        pa.chunked_array([[True, False], [True]]),
    ],
    ids=lambda values: type(values).__name__,
)
def test_every_container_and_number_coding(values):
    assert answers.parse(values).same.tolist() == [True, False, True]


def test_codings_may_be_mixed_where_every_word_has_one_meaning():
    given = ["yes", "TRUE", "1", "y", "n", "FALSE", "0", "Same.", "not the same"]
    parsed = answers.parse(given)
    assert parsed.same.tolist() == [True, True, True, True, False, False, False, True, False]
    for meaning, words in answers.WORDS.items():
        written = [answers.canonical(word) for word in words]
        assert {answers.MEANING[word] for word in written} == {meaning}
        assert len(set(written)) == len(words)


def test_own_words_win_over_the_known_ones():
    words = {"Nope": "different", "2": "same", "1": "different", "hm": "unsure"}
    parsed = answers.parse(["nope", 2, 1, "hm", "yes"], unsure="drop", words=words)
    assert parsed.usable.tolist() == [True, True, True, False, True]
    assert parsed.same.tolist() == [False, True, False, True]
    assert parsed.mapping["1"] == "different"
    assert answers.parse([True, False], words={"True": "different"}).same.tolist() == [False, False]
    with pytest.raises(ValueError, match="'yes' cannot mean 'good': an answer is same, different"):
        answers.parse(["yes"], words={"yes": "good"})
    with pytest.raises(ValueError, match="'YES' is given two meanings"):
        answers.parse(["yes"], words={"yes": "same", "YES": "different"})
    frame = pd.DataFrame({"left": [0, 1], "right": [1, 2], "same": ["aye", "nay"]})
    pairs = Pairs.from_frame(frame, words={"aye": "same", "nay": "different"})
    assert pairs.same.tolist() == [True, False]


@pytest.mark.parametrize(("value", "same"), [(1, True), (0, False), (-1, False)])
def test_one_value_alone_is_plain_under_either_coding(value, same):
    assert answers.parse([value, value]).same.tolist() == [same, same]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, 2, 1], "coded 1/2"),
        (["1", "2"], "coded 1/2"),
        (
            [0, 1, -1],
            "'-1' at row 2 beside other codings, where −1 may mean different or no answer",
        ),
        ([0, -1], "beside other codings"),
        (["yes", "-1"], "beside other codings"),
        (["no", "2"], "unrecognised answers: '2' at row 1"),
        (["same", "maybe", "perhaps"], r"'perhaps' at row 2; expected .*words={'maybe'"),
        ([0.2, 0.9], "from_scores"),
        ([3, 4], "expected same/different"),
        ([[1, 0]], "shape"),
        ("same", "shape"),
        ([[1], [1, 0]], "different lengths"),
        ([1, np.nan], "1 of 2 answers missing or unsure: 'nan' at row 1"),
        ([1, None, None], "2 of 3 answers missing or unsure"),
        (["same", "Don't know"], 'missing or unsure: "Don\'t know" at row 1'),
    ],
)
def test_whatever_is_not_plain_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        answers.parse(values)


@pytest.mark.parametrize(
    "blank",
    [
        *("unsure", "Unknown", "skip", "", " ", "NA", "n/a", "?", "don't know", "don’t know"),
        *("Can't tell", "cannot tell.", "I don't know", "not_sure", "-", "idk", "No answer"),
    ],
)
def test_unsure_words_are_marked(blank):
    assert answers.parse(["no", blank, "yes"], unsure="drop").usable.tolist() == [True, False, True]


@pytest.mark.parametrize(
    "blank",
    ["skip", None, float("nan"), pd.NA, pd.NaT],
    ids=repr,
)
def test_unsure_rows_are_marked_and_only_the_rest_is_answered(blank):
    parsed = answers.parse(np.array(["no", blank, "yes"], dtype=object), unsure="drop")
    assert parsed.usable.tolist() == [True, False, True]
    assert parsed.same.tolist() == [False, True]
    assert set(parsed.mapping) == {"no", "yes"}


def test_masked_entries_are_missing():
    masked = np.ma.masked_array([1, 0, 1], mask=[False, True, False])
    assert answers.parse(masked, unsure="drop").usable.tolist() == [True, False, True]


def test_unknown_treatment_is_refused():
    with pytest.raises(ValueError, match="unsure='ignore': expected 'raise' or 'drop'"):
        answers.parse([1], unsure="ignore")


@pytest.mark.parametrize(
    ("said", "same"),
    [
        (["Ja", "NEIN", "ja"], [True, False, True]),
        (["vrai", "FAUX", "identique"], [True, False, True]),
        (["一致", "不一致", "同じ"], [True, False, True]),
        (["oui", "non"], [True, False]),
        (["Sí", "si", "no"], [True, True, False]),
        (["да", "Нет"], [True, False]),
        (["是", "否", "不同"], [True, False, False]),
        (["Même", "différent", "different"], [True, False, False]),
        (["Same kind", "Same object type", "Not the same kind"], [True, True, False]),
        (["different products", "the same product"], [False, True]),
    ],
)
def test_answers_in_other_languages_and_with_nouns(said, same):
    assert answers.parse(said).same.tolist() == same


def test_a_word_has_one_meaning_in_all_languages():
    tables = (answers.WORDS, answers.OTHER_LANGUAGES)
    said = [(answers.canonical(w), s) for table in tables for s, ws in table.items() for w in ws]
    assert len(dict(said)) == len(set(said))
    with pytest.raises(answers.UnknownWords, match="unrecognised answers: 'same or different'"):
        answers.parse(["same or different", "same"])


SENTENCES = [
    ("Yes, the two products are one", "same"),
    ("NO.\nattribute=brand", "different"),
    ("Yes - both are cameras", "same"),
    ("Not the same: other size", "different"),
    ("Same topic. Both are about law", "same"),
    ("Different products, the second is larger", "different"),
    ('{"match": false, "reason": "yes, but no"}', "different"),
    ('{"answer": "Yes", "confidence": 0.9}', "same"),
    ("I'm sorry, but I cannot compare them", "unsure"),
    ("Unsure. It depends", "unsure"),
]


@pytest.mark.parametrize(("text", "sense"), SENTENCES)
def test_sentences_are_read_by_how_they_begin(text, sense):
    found = answers.parse([text, "yes", "no"], unsure="drop")
    assert found.usable.tolist() == [sense != "unsure", True, True]
    assert found.same.tolist()[: -2 or None] == ([sense == "same"] if sense != "unsure" else [])


@pytest.mark.parametrize(
    "text",
    [
        "The answer is yes, they match",
        "Well, yes",
        "yes and no",
        '{"same": true, "match": false}',
        '{"why": "yes"}',
        "{yes, no",
        "0.5, no",
    ],
)
def test_nothing_is_read_from_the_middle(text):
    with pytest.raises(ValueError, match="unrecognised answers: "):
        answers.parse([text, "yes", "no"])
    with pytest.raises(ValueError, match=r"\(9 of 11 answers\)"):
        answers.parse([text] * 9 + ["yes", "no"])


def test_own_words_may_be_the_beginning_of_a_sentence():
    texts = ["The two refer to the same camera", "The two refer to different ones", "No."]
    words = {"The two refer to the same*": "same", "the two refer to different*": "different"}
    found = answers.parse(texts, words=words)
    assert found.same.tolist() == [True, False, False]
    assert found.n_sentences == 2
    assert "The two refer to the sam …" in found.mapping
