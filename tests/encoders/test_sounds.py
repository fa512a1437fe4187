"""Sounds as numbers: loud where the pitch is, whatever the form of the file."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.io import wavfile

from noisypairs.encoders import Spectra, UnreadableContentWarning
from noisypairs.encoders.sounds import N_BANDS

RATE = 22_050


def tone(pitch: float, seconds: float = 1.0, rate: int = RATE) -> np.ndarray:
    return 0.5 * np.sin(2 * np.pi * pitch * np.arange(int(seconds * rate)) / rate)


@pytest.fixture
def heard(tmp_path):
    def hear(samples, rate: int = RATE, name: str = "a.wav") -> np.ndarray:
        wavfile.write(tmp_path / name, rate, samples)
        return Spectra().fit_transform([tmp_path / name])[0].reshape(3, N_BANDS)

    return hear


@pytest.mark.parametrize("pitch", [200.0, 440.0, 1000.0, 3000.0])
def test_the_loudest_band_is_that_of_the_pitch(heard, pitch: float) -> None:
    mels = np.linspace(*(2595 * np.log10(1 + np.array([50.0, 8000.0]) / 700)), N_BANDS + 2)[1:-1]
    nearest = np.abs(mels - 2595 * np.log10(1 + pitch / 700)).argmin()
    for rate in (16_000, RATE, 44_100):
        mean, _, change = heard(tone(pitch, rate=rate).astype(np.float32), rate)
        assert abs(mean.argmax() - nearest) <= 1
        assert change[nearest] < 0.1


def test_spread_and_change_tell_a_steady_sound_from_a_pulsing_one(heard) -> None:
    steady = tone(1000.0)
    pulsing = steady * (np.arange(len(steady)) // (RATE // 10) % 2)
    band = heard(steady.astype(np.float32))[0].argmax()
    quiet, loud = heard(steady.astype(np.float32)), heard(pulsing.astype(np.float32))
    assert loud[1, band] > 5 * quiet[1, band]
    assert loud[2, band] > 5 * quiet[2, band]


def test_depth_and_channels_make_no_difference(heard) -> None:
    plain = heard(tone(440).astype(np.float32))
    forms = {
        "int16": np.round(tone(440) * 32767).astype(np.int16),
        "int32": np.round(tone(440) * (2**31 - 1)).astype(np.int32),
        "stereo": np.column_stack([tone(440)] * 2).astype(np.float32),
    }
    for samples in forms.values():
        loud = plain[0] > -5  # rounding is heard below
        np.testing.assert_allclose(heard(samples)[0][loud], plain[0][loud], atol=0.01)
    assert heard(np.round(tone(440) * 127 + 128).astype(np.uint8))[0].argmax() == plain[0].argmax()


def test_silence_is_finite_and_what_is_no_sound_is_missing(heard, tmp_path) -> None:
    assert np.isfinite(heard(np.zeros(RATE, dtype=np.float32))).all()
    (tmp_path / "bad.wav").write_bytes(b"RIFF no sound")
    with pytest.warns(UnreadableContentWarning, match="is no sound that can be read"):
        assert np.isnan(Spectra().fit_transform([tmp_path / "bad.wav"])).all()
    with pytest.warns(UnreadableContentWarning, match="is shorter than 32 ms"):
        assert np.isnan(heard(np.zeros(100, dtype=np.float32))).all()


def test_other_formats_are_read_by_the_extra(heard, tmp_path) -> None:
    soundfile = pytest.importorskip("soundfile", reason="needs the extra sounds")
    soundfile.write(tmp_path / "a.flac", tone(440), RATE)
    plain, found = (
        heard(tone(440).astype(np.float32)),
        Spectra().fit_transform([tmp_path / "a.flac"]),
    )
    loud = plain[0] > -5
    np.testing.assert_allclose(found[0][:N_BANDS][loud], plain[0][loud], atol=0.01)
    (tmp_path / "bad.mp3").write_bytes(b"no sound")
    with pytest.warns(UnreadableContentWarning, match="is no sound that can be read"):
        Spectra().fit_transform([tmp_path / "bad.mp3"])
