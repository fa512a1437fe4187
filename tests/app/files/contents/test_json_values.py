"""JSON that is nested too deep or holds half characters, in lines and in documents."""

from __future__ import annotations

import pytest

from noisypairs.app.files import BadFile, read_dataset
from noisypairs.app.files.contents import MAX_DEPTH, lone_surrogate, parse_json

GOOD = '{"left": "a", "right": "b", "same": true}'
DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("list.json", DEEP, ""),
        ("object.json", '{"a":' * 100_000 + "1" + "}" * 100_000, ""),
        ("dedupe.json", f'{{"distinct": [], "match": {"[" * 800}{"]" * 800}}}', ""),
        ("tasks.json", f'[{{"annotations": [], "data": {"[" * 150}{"]" * 150}}}]', ""),
        ("lines.json", f'{GOOD}\n{{"left": {DEEP}}}', ", line 2"),
        ("lines.jsonl", f'{GOOD}\n\n{{"left": {DEEP}}}', ", line 3"),
        ("parsed.jsonl", f'{GOOD}\n{{"left": {"[" * 150}{"]" * 150}}}', ", line 2"),
    ],
)
def test_deep_nesting_is_refused(tmp_path, name, text, line):
    (tmp_path / name).write_text(text)
    with pytest.raises(BadFile, match=f"{name}{line}: nested more than 100 levels deep"):
        read_dataset(None, tmp_path / name)


def test_as_many_levels_as_are_allowed_are_read(tmp_path):
    fits = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert parse_json(fits, tmp_path) is not None
    with pytest.raises(BadFile, match="nested more than"):
        parse_json(f"[{fits}]", tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("lines.jsonl", GOOD + '\n\n{"left": "a\\ud800", "right": "b", "same": true}', 3),
        ("list.json", f'[{GOOD},\n{{"left": "\\uDC00a", "right": "b", "same": true}}]', 2),
        ("name.jsonl", '{"left\\uDBFF": "a", "right": "b", "same": true}', 1),
    ],
)
def test_half_characters_are_named_by_line_with_what_to_do(tmp_path, name, text, line):
    (tmp_path / name).write_text(text)
    said = rf"{name}, line {line}: \\u\w{{4}} is half of a character .* write the whole character"
    with pytest.raises(BadFile, match=said):
        read_dataset(None, tmp_path / name)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"\ud83d\ude00", None),
        (r"\ud83d\ud83d\ude00", 0),
        (r"\ude00\ud83d", 0),
        (r"a\\ud83d", None),
        (r"\\\ud83d", 2),
        (r"\n\u00e9\ud83dx", 8),
        ("plain", None),
    ],
)
def test_pairs_of_halves_and_escaped_backslashes_are_no_half_characters(text, found):
    assert lone_surrogate(text) == found


def test_whole_characters_beyond_16_bits_are_read(tmp_path):
    (tmp_path / "pairs.jsonl").write_text('{"left": "\\ud83d\\ude00", "right": "b", "same": true}')
    assert read_dataset(None, tmp_path / "pairs.jsonl").ids == ["😀", "b"]
