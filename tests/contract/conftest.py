"""The contract suite for one learner that is not in the package: ``--learner module:Class``."""

from __future__ import annotations

from importlib import import_module

from . import learners


def pytest_addoption(parser):
    parser.addoption("--learner", metavar="MODULE:CLASS", help="check this learner and no other")


def pytest_configure(config):
    given = config.getoption("--learner", None)
    if given:
        module, _, name = given.partition(":")
        learners.ALL[:] = [getattr(import_module(module), name)]
