"""Who answers well: rates of every annotator, kinds of annotators, and a crowd as a whole."""

from noisypairs.annotators.kinds import KINDS, kind_probability, rate_posterior
from noisypairs.annotators.table import (
    ANOTHER,
    UNDECIDED,
    AnnotatorRow,
    AnnotatorTable,
    annotator_table,
    table_from_counts,
    table_of_fit,
)

__all__ = [
    "ANOTHER",
    "KINDS",
    "UNDECIDED",
    "AnnotatorRow",
    "AnnotatorTable",
    "annotator_table",
    "kind_probability",
    "rate_posterior",
    "table_from_counts",
    "table_of_fit",
]
