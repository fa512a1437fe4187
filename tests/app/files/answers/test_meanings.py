"""What answers mean, as text and in a file."""

from __future__ import annotations

import pytest

from noisypairs.app.files import BadFile, read_meanings


def test_text_and_files_say_the_same(tmp_path):
    said = {"yes": "same", "nope": "different", "can't tell": "unsure"}
    assert read_meanings("yes=same; nope = different,can't tell=unsure,") == said
    assert read_meanings("yup, same=same,nah=different") == {
        "yup, same": "same",
        "nah": "different",
    }
    for name, text in {
        "w.csv": "word,meaning\nyes,same\nnope,different\ncan't tell,unsure\n",
        "w.tsv": "yes\tsame\nnope\tdifferent\ncan't tell\tunsure\n",
        "a=b.jsonl": '{"w":"yes","m":"same"}\n{"w":"nope","m":"different"}\n'
        '{"w":"can\'t tell","m":"unsure"}\n',
    }.items():
        (tmp_path / name).write_text(text)
        assert read_meanings(str(tmp_path / name)) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("yes=same,nope", "'nope' has no meaning: expected"),
        ("yes=good", "'yes' cannot mean 'good'"),
        ("yes=same,yes=different", "'yes' is given two meanings"),
        ("nowhere.csv", "there is no such file"),
    ],
)
def test_what_cannot_be_meant(given, said):
    with pytest.raises(ValueError, match=f"--answers.*{said}"):
        read_meanings(given)


def test_a_file_of_three_columns(tmp_path):
    (tmp_path / "w.csv").write_text("a,b,c\n1,2,3\n")
    with pytest.raises(BadFile, match="has 3 columns: expected"):
        read_meanings(str(tmp_path / "w.csv"))
