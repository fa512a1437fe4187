"""Files are written whole or not at all."""

import pytest

from noisypairs.datasets import sources


def test_an_interrupted_write_leaves_the_old_file_and_no_litter(isolated, monkeypatch):
    place = isolated / "toy.dat"
    sources.keep(place, b"old")

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(sources.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        sources.keep(place, b"new")
    assert place.read_bytes() == b"old"
    assert list(isolated.iterdir()) == [place]
