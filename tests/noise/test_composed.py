from __future__ import annotations

import numpy as np
import pytest

from noisypairs import LabelingNoise, PairingNoise


def test_labels_are_reported_before_they_are_compared():
    with pytest.raises(TypeError, match="cannot come second"):
        PairingNoise(0.1, 0.1).then(LabelingNoise(0.1, 0.1))


def test_permuted_composition_keeps_both_noises():
    noise = LabelingNoise(0.1, 0.3, per="item").then(PairingNoise(0.05, 0.1))
    found = noise.permuted([1, 0])
    assert found.second == noise.second
    assert found.first.per == "item"
    swapped = noise.same_probability()[::-1, ::-1]
    np.testing.assert_allclose(found.same_probability(), swapped, rtol=0, atol=1e-15)
