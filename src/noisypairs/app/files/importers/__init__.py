"""Answers as other tools write them."""
