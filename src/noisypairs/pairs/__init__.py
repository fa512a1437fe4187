"""What people answered: pairs of items, the words of answers, columns of tables, and audits."""

from noisypairs.pairs.pairs import Labels, Pairs

__all__ = ["Labels", "Pairs"]
