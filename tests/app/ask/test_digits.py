"""The digits of the demo: readable items, and pictures that are what the pixels say."""

from __future__ import annotations

import numpy as np
from matplotlib.image import imread
from sklearn.datasets import load_digits

from noisypairs.app.ask.digits import write_digits
from tests.app.ask.ask_problems import open_site


def test_every_digit_has_its_picture_and_its_pixels(tmp_path):
    path = write_digits(tmp_path)
    site = open_site(tmp_path, items=path, images=str(tmp_path), columns=())
    shown = site.project.shown
    assert len(shown.ids) == len(shown.media.files) == 180
    images = load_digits().images
    picture = imread(shown.media.files[0])
    np.testing.assert_allclose(1 - picture, images[int(shown.ids[0])] / 16, atol=1 / 255)
    assert shown.features.shape == (180, 65)  # the picture is a feature, too
