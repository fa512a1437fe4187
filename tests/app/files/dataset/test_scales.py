"""Answers on a scale, sentences of models, and what was asked together, read from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from noisypairs.app.files import BadFile, Columns, read_dataset
from noisypairs.pairs.levels import read_scale

ROWS = """left,right,grade,who,task
a,b,4,ann,t1
b,c,1.0,ann,t1
a,c,0,ann,t1
a,d,3,bob,t2
c,d,,bob,t2
"""


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    path.write_text(ROWS)
    return path


def test_a_column_of_grades_is_read_as_it_is_said(pairs: Path) -> None:
    columns = Columns(same="grade", annotator="who")
    data = read_dataset(None, pairs, columns, scale=read_scale("1<2<3<4", "0"))
    assert [data.pairs.scale.n_levels, data.pairs.n_pairs] == [5, 4]  # the missing one is left out
    assert data.pairs.level.tolist() == [3, 0, 4, 2]
    assert data.pairs.same.tolist() == [True, False, False, True]
    assert "pairs.csv: levels 1 < 2 < 3 < 4 (same from 3 on), 0 for unsure" in data.notes
    ordered = data.in_order().pairs
    assert sorted(ordered.level) == [0, 2, 3, 4]
    assert ordered.same.tolist() == ordered.scale.same_levels[ordered.level].tolist()


def test_grades_are_never_guessed(pairs: Path) -> None:
    with pytest.raises(BadFile, match="Are they grades"):
        read_dataset(None, pairs, Columns(same="grade"))
    with pytest.raises(BadFile, match="has unrecognised answers"):
        read_dataset(None, pairs, Columns(same="grade"), scale=read_scale("1<2", "0"))


def test_what_was_asked_together_weighs_less(pairs: Path) -> None:
    columns = Columns(same="grade", annotator="who")
    scale = read_scale("1<2<3<4", "0")
    data = read_dataset(None, pairs, columns, scale=scale, question="task")
    assert data.pairs.weight.round(2).tolist() == pytest.approx([0.67, 0.67, 0.67, 1.0], abs=0.01)
    with pytest.raises(BadFile, match=r"no column 'tusk', which --question names: did you mean"):
        read_dataset(None, pairs, columns, scale=scale, question="tusk")


def test_sentences_of_models_are_read_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "judges.csv"
    path.write_text(
        'left,right,answer\na,b,"Yes, the two products are one and the same"\n'
        'b,c,"No. They have other brands altogether"\nc,d,yes\n'
    )
    data = read_dataset(None, path)
    assert data.pairs.same.tolist() == [True, False, True]
    assert "judges.csv: 2 answers read by the word or JSON field that a text begins with" in (
        data.notes
    )


def test_grades_get_a_hint_of_the_option_that_reads_them(pairs: Path) -> None:
    with pytest.raises(BadFile, match=r'Are they grades\? .* --levels "1<2<3<4"'):
        read_dataset(None, pairs, Columns(same="grade"))


def test_confidence_and_family_are_columns(tmp_path: Path) -> None:
    path = tmp_path / "judges.csv"
    path.write_text(
        "left,right,same,prompt,model,sure\n"
        "a,b,yes,long,gpt,high\nb,c,no,long,llama,low\na,c,no,short,gpt,high\n"
    )
    columns = Columns(same="same", annotator="prompt")
    data = read_dataset(None, path, columns, confidence=("sure", ["low", "high"]), family="model")
    assert data.pairs.annotator_names.tolist() == ["gpt/long", "gpt/short", "llama/long"]
    assert data.annotator_names == ["gpt/long", "gpt/short", "llama/long"]
    assert data.pairs.level.tolist() == [3, 1, 0]
    with pytest.raises(BadFile, match=r"column 'sure': .*of words say the order"):
        read_dataset(None, path, columns, confidence=("sure", None))
    with pytest.raises(BadFile, match="level has 'high'"):
        read_dataset(None, path, columns, confidence=("sure", ["low", "mid"]))
    with pytest.raises(BadFile, match="no column 'models', which --family names"):
        read_dataset(None, path, columns, family="models")


def test_numbers_of_confidence_are_cut_into_thirds(tmp_path: Path) -> None:
    path = tmp_path / "judges.csv"
    path.write_text("left,right,same,sure\na,b,yes,0.9\nb,c,no,0.5\na,c,no,.1\n")
    data = read_dataset(None, path, confidence=("sure", None))
    assert data.pairs.scale.n_levels == 6
    assert data.pairs.same.tolist() == [True, False, False]
    assert data.pairs.level.tolist()[1:] == [1, 2]


LIKERT = ["Definitely different", "Probably different", "Probably same", "Definitely same"]


def test_words_that_spell_out_a_scale_are_read_as_one(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    said = [*LIKERT, "can't tell"]
    rows = [f"i{k},i{k + 1},{word},w{k % 2}" for k, word in enumerate(2 * said)]
    path.write_text("\n".join(["left,right,judgment,worker", *rows]) + "\n")
    data = read_dataset(None, path)
    assert data.pairs.scale.names == tuple(LIKERT)
    assert data.pairs.level.tolist() == [0, 1, 2, 3, 4] * 2
    assert any("levels Definitely different <" in note for note in data.notes)
    assert data.mapping["can't tell"] == "unsure"
    meant = {word: "same" if "same" in word else "different" for word in LIKERT}
    cut = read_dataset(None, path, words=meant)  # who says what words mean gets that
    assert cut.pairs.level is None


@pytest.mark.parametrize(
    "said",
    [
        ["Definitely same", "Certainly same", "Probably different", "Different"],  # one level twice
        ["Probably same", "Definitely same", "same", "unsure"],  # one side alone
    ],
)
def test_doubtful_scales_are_not_guessed(tmp_path: Path, said: list[str]) -> None:
    path = tmp_path / "pairs.csv"
    rows = [f"i{k},i{k + 1},{word}" for k, word in enumerate(said)]
    path.write_text("\n".join(["left,right,judgment", *rows]) + "\n")
    with pytest.raises(BadFile, match="--same"):
        read_dataset(None, path)


def test_a_column_of_whole_numbers_is_named_with_the_options_to_add(pairs: Path) -> None:
    with pytest.raises(
        BadFile, match=r"'grade' holds 0, 1, 3, 4\..* different to same: --same grade"
    ):
        read_dataset(None, pairs)
