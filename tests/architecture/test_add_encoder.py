"""The recipe "Add an encoder", followed to the letter."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs.app.encoding import encoders_of
from noisypairs.encoders import ENCODERS, UnreadableContentWarning, cached_in, named

HEADING, MODULE = "Add an encoder", "length_encoder"


@pytest.fixture(scope="module")
def length(recipe):
    yield recipe.Length
    del ENCODERS["length"]  # an encoder is known by its name as soon as its class is defined


def test_options_find_it_by_its_name_and_it_is_not_taken_by_itself(length):
    assert isinstance(named("length"), length)
    assert isinstance(encoders_of("length")["sound"], length)
    assert not isinstance(encoders_of()["sound"], length)


def test_it_reads_and_keeps_files_and_says_what_it_cannot_read(length, tmp_path):
    (tmp_path / "a.wav").write_bytes(b"x" * 500)
    (tmp_path / "b.wav").write_bytes(b"")
    with cached_in(tmp_path / "rows"):
        for _ in range(2):
            with pytest.warns(UnreadableContentWarning, match=r"b.wav is empty"):
                found = length().fit_transform([tmp_path / "a.wav", tmp_path / "b.wav"])
            np.testing.assert_array_equal(found, [[0.5], [np.nan]])
