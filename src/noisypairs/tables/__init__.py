"""Tables of pairs and items of any size through Ibis: counted and classified where they are.

`PairTable` stands wherever `noisypairs.Pairs` do. DuckDB, embedded, is the default engine; Spark
(`spark_engine`) and every other back end of Ibis run the same expressions.
"""

from noisypairs.pairs import Batch
from noisypairs.tables.batch import AnnotatorCounts
from noisypairs.tables.engine import (
    ChangedTable,
    LostEngine,
    UnreadableTable,
    duckdb_engine,
)
from noisypairs.tables.items import ItemTable
from noisypairs.tables.spark import MissingJava, spark_engine
from noisypairs.tables.table import PairTable

__all__ = [
    "AnnotatorCounts",
    "Batch",
    "ChangedTable",
    "ItemTable",
    "LostEngine",
    "MissingJava",
    "PairTable",
    "UnreadableTable",
    "duckdb_engine",
    "spark_engine",
]
