"""Estimators that stand inside a learner when none is given."""
