"""Sounds as numbers, without any weights: how loud each band of pitch is, and how that changes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.io import wavfile

from noisypairs.algebra import Array
from noisypairs.encoders.encoder import Reads, RowEncoder, UnreadableContent

#: Bands of the mel scale between these pitches, in Hz.
N_BANDS, LOWEST, HIGHEST = 40, 50.0, 8000.0
#: Seconds of a window, and from one to the next.
WINDOW, HOP = 0.032, 0.016
#: Longer sounds are heard up to here, in seconds.
LONGEST = 600.0
#: The power of a band is not taken as lower than this share of full scale: −80 dB.
FLOOR = 1e-8


class Sound(NamedTuple):
    """One channel of samples, full scale 1, and how many there are in a second."""

    samples: Array
    rate: int


class Spectra(RowEncoder):
    """Log-mel statistics: mean, spread and change of the loudness of 40 bands.

    WAV files are read without further packages, FLAC, OGG and MP3 by the extra ``sounds``.
    """

    name: ClassVar[str] = "spectra"
    reads: ClassVar[Reads] = "sound"
    extra: ClassVar[str] = "sounds"
    rank: ClassVar[int | None] = 0
    batch: ClassVar[int] = 1
    width: ClassVar[int] = 3 * N_BANDS

    def decode(self, content: bytes) -> Sound:
        """Return the samples of a sound, its channels averaged."""
        read = _read_wave if content[:4] == b"RIFF" else self._read_other
        samples, rate = read(content)
        if samples.ndim == 2:
            samples = samples.mean(axis=1)
        samples = samples[: int(LONGEST * rate)]
        if rate <= 0 or len(samples) < WINDOW * rate or not np.isfinite(samples).all():
            raise UnreadableContent(f"is shorter than {1000 * WINDOW:.0f} ms, or damaged")
        return Sound(samples, rate)

    def _read_other(self, content: bytes) -> tuple[Array, int]:
        soundfile = self._needed("soundfile")
        try:
            samples, rate = soundfile.read(io.BytesIO(content))
        except (soundfile.LibsndfileError, ValueError, RuntimeError) as error:
            why = f"is no sound that can be read ({type(error).__name__})"
            raise UnreadableContent(why) from error
        return samples, rate

    def encode(self, items: Sequence[Sound]) -> Array:
        """Return mean, spread and mean change of each band, in units of 10 dB, (n, 120)."""
        from scipy.signal import ShortTimeFFT  # slow to import
        from scipy.signal.windows import hann

        rows = []
        for samples, rate in items:
            size = round(WINDOW * rate)
            frames = ShortTimeFFT(
                hann(size, sym=False), max(1, round(HOP * rate)), rate, scale_to="magnitude"
            )
            power = frames.spectrogram(samples)
            level = np.log10(np.maximum(_bands(frames.f) @ power, FLOOR))
            change = np.abs(np.diff(level, axis=1)).mean(axis=1) if level.shape[1] > 1 else 0.0
            rows.append(
                np.hstack([level.mean(axis=1), level.std(axis=1), change * np.ones(N_BANDS)])
            )
        return np.array(rows)


def _read_wave(content: bytes) -> tuple[Array, int]:
    try:
        rate, samples = wavfile.read(io.BytesIO(content))
    except (ValueError, EOFError, OSError, IndexError, TypeError) as error:
        raise UnreadableContent(f"is no sound that can be read ({error})") from error
    if samples.dtype == np.uint8:
        return (samples - 128.0) / 128.0, rate
    whole = samples.dtype.kind == "i"
    return samples / (float(np.iinfo(samples.dtype).max) if whole else 1.0), rate


def _bands(frequencies: Array) -> Array:
    """Return triangles of the mel scale over frequencies, (N_BANDS, n); Σ over each is 1."""
    low, high = 2595 * np.log10(1 + np.array([LOWEST, HIGHEST]) / 700)
    edges = 700 * (10 ** (np.linspace(low, high, N_BANDS + 2) / 2595) - 1)
    left, middle, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rise, fall = (frequencies - left) / (middle - left), (right - frequencies) / (right - middle)
    found = np.maximum(np.minimum(rise, fall), 0.0)
    narrow = found.sum(axis=1) == 0  # between two frequencies: the nearest
    found[narrow, np.abs(frequencies - middle[narrow]).argmin(axis=1)] = 1.0
    return np.asarray(found / found.sum(axis=1, keepdims=True))
