"""Damaged files through every command: ``make fuzz MINUTES=60`` (docs/testing.md)."""
