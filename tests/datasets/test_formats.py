"""Published files become labelled items."""

import numpy as np

from noisypairs.datasets.formats import delimited, read_adult
from tests.datasets.toy_table import CONTENT


def test_keel_header_lines_are_optional():
    bare = CONTENT[CONTENT.index(b"1.5") :]
    read = delimited("yes", ["a", "b"])
    for content in (CONTENT, bare):
        table = read([content])
        np.testing.assert_array_equal(table.data, [[1.5, 2], [-3, 40], [5, 6]])
        np.testing.assert_array_equal(table.target, [1, 0, 0])
        assert table.feature_names == ("a", "b")


def test_adult_rows_become_numbers_then_categories_of_both_files():
    first = (
        b"39, Private, 7, HS-grad, 9, Divorced, Sales, Wife, White, Male, 10, 0, 40, Cuba, <=50K\n"
    )
    second = (
        b"|1x3 Cross validator\n"
        b"25, ?, 8, 11th, 7, Divorced, Sales, Wife, White, Female, 0, 5, 20, Cuba, >50K.\n"
    )
    table = read_adult([first, second])
    expected_names = (
        *("age", "capital-gain", "capital-loss", "hours-per-week", "workclass=?"),
        *("workclass=Private", "education=11th", "education=HS-grad", "marital-status=Divorced"),
        *("occupation=Sales", "relationship=Wife", "race=White", "sex=Female", "sex=Male"),
        "native-country=Cuba",
    )
    assert table.feature_names == expected_names
    np.testing.assert_array_equal(
        table.data,
        [
            [39, 10, 0, 40, 0, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1],
            [25, 0, 5, 20, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 1],
        ],
    )
    np.testing.assert_array_equal(table.target, [0, 1])
