"""What people answered: pairs of items, the words of answers, columns of tables, and audits."""

from noisypairs.pairs.counts import ItemCounts
from noisypairs.pairs.pairs import Pairs
from noisypairs.pairs.protocol import Answers, Batch, Labels

__all__ = ["Answers", "Batch", "ItemCounts", "Labels", "Pairs"]
