"""Tables as files: the extension decides the form, and standard output is CSV."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from noisypairs.app.files import STANDARD_OUTPUT, table_writer


def test_the_extension_decides_how_a_table_is_written() -> None:
    table = pd.DataFrame({"id": ["a"], "class": ["é"]})
    assert table_writer(Path("out.tsv"))(table) == "id\tclass\na\té\n"
    assert table_writer(Path("out.JSONL"))(table).strip() == '{"id":"a","class":"é"}'
    formula = pd.DataFrame({"id": ["=1+1", "-5"], "class": ["-x", "y"], "P(y)": [0.25, -0.0]})
    assert (
        table_writer(Path("out.csv"), decimals=6)(formula.head(1))
        == "id,class,P(y)\n'=1+1,'-x,0.250000\n"
    )
    assert table_writer(Path("out.csv"), raw=True, decimals=6)(formula.head(1)).endswith(
        "\n=1+1,-x,0.250000\n"
    )
    assert "=1+1" in table_writer(Path("out.jsonl"))(formula)
    assert "'" not in table_writer(Path("out.jsonl"))(formula) + table_writer(
        Path("out.csv"), decimals=6
    )(formula.tail(1))
    with pytest.raises(ValueError, match=r"extension '\.cvs': did you mean '\.csv'"):
        table_writer(Path("out.cvs"))


def test_standard_output_gets_csv_with_all_digits() -> None:
    table = pd.DataFrame({"id": ["a"], "p": [0.1234567]})
    assert table_writer(STANDARD_OUTPUT)(table) == "id,p\na,0.1234567\n"
