"""Figure 1 shows the probabilities of the noise models."""

from __future__ import annotations

import re

import pytest

from noisypairs import LabelingNoise, PairingNoise, algebra
from noisypairs.experiments.figures import PRIOR, RATES, figure1


def words(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def shown(word: str) -> list[float]:
    """Return the numbers that follow a word in the picture, one per panel."""
    found = (re.fullmatch(rf"{re.escape(word)}\s+([\d.]+)", text) for text in words(figure1()))
    return [float(match[1]) for match in found if match]


def test_the_answers_have_their_probabilities_under_both_models() -> None:
    rates = [
        algebra.same_rate(kind(*RATES).same_probability(), PRIOR)
        for kind in (PairingNoise, LabelingNoise)
    ]
    assert shown("same") == pytest.approx(rates, abs=6e-4)
    assert shown("different") == pytest.approx([1 - rate for rate in rates], abs=6e-4)


def test_the_true_classes_have_those_of_the_prior() -> None:
    assert shown("(+, +)") == pytest.approx([PRIOR**2] * 2, abs=6e-4)
    assert shown("(−, +)") == pytest.approx([PRIOR * (1 - PRIOR)] * 2, abs=6e-4)


def test_the_picture_is_the_same_every_time() -> None:
    assert figure1() == figure1()
