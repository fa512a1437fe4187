"""Files in and out: tables of items and answers in the shapes people have them.

`read_dataset` gives items and `Pairs` that belong together, with notes on everything that was
guessed, repaired or left out; `atomic_write` writes a file whole or not at all.
"""

from noisypairs.app.files.answers import read_meanings
from noisypairs.app.files.columns import Columns
from noisypairs.app.files.contents import BadFile, SourceFile
from noisypairs.app.files.dataset import Dataset, read_dataset, read_pairs
from noisypairs.app.files.importers import FORMATS
from noisypairs.app.files.items import read_items, read_labels
from noisypairs.app.files.table import read_frame
from noisypairs.app.files.writing import (
    STANDARD_OUTPUT,
    CannotWrite,
    atomic_write,
    check_folder,
    check_writable,
    delimited_text,
    reserved,
    table_writer,
)

__all__ = [
    "FORMATS",
    "STANDARD_OUTPUT",
    "BadFile",
    "CannotWrite",
    "Columns",
    "Dataset",
    "SourceFile",
    "atomic_write",
    "check_folder",
    "check_writable",
    "delimited_text",
    "read_dataset",
    "read_frame",
    "read_items",
    "read_labels",
    "read_meanings",
    "read_pairs",
    "reserved",
    "table_writer",
]
