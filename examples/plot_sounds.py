"""
Sounds by source
================

Strings, bells and wind, synthesised as WAV files. People heard two of them and said whether they
come from the same source; one answer in five is wrong. :class:`noisypairs.encoders.Spectra` hears
how loud each band of pitch is, and how that changes.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.io import wavfile

from noisypairs import JointPairClassifier, PairingNoise, sample_pairs
from noisypairs.encoders import Spectra
from noisypairs.metrics import accuracy_up_to_names

RATE, SOURCES = 16_000, ("string", "bell", "wind")
folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
t = np.arange(RATE) / RATE
y = rng.integers(3, size=200)
for k, kind in enumerate(y):
    pitch = 110 * 2 ** rng.uniform(0, 2)
    if kind == 0:
        parts = [np.exp(-(2 + h) * t) * np.sin(2 * np.pi * h * pitch * t) / h for h in range(1, 12)]
    elif kind == 1:
        ratios = (1.0, 2.76, 5.40, 8.93)
        parts = [np.exp(-1.5 * t) * np.sin(2 * np.pi * r * 2 * pitch * t) / r for r in ratios]
    else:
        parts = [np.convolve(rng.normal(size=RATE), np.ones(20) / 8, mode="same")]
    samples = np.sum(parts, axis=0) / np.abs(np.sum(parts, axis=0)).max()
    samples += rng.uniform(0.01, 0.1) * rng.normal(size=RATE)
    wavfile.write(folder / f"{k:03}.wav", RATE, (12_000 * samples).astype(np.int16))
files = sorted(folder.iterdir())

# %%
# Half of the sounds are compared, the others are new.
train, new = np.arange(100), np.arange(100, 200)
X = Spectra().fit_transform(files)
pairs = sample_pairs(y[train], 5 * len(train), PairingNoise(0.2, 0.2), random_state=0)
model = JointPairClassifier(n_classes=3, random_state=0).fit(X[train], pairs)
group = model.predict(X[new])
accuracy = accuracy_up_to_names(y[new], group)
print(f"{accuracy:.1%} of {len(new)} new sounds are in the right group")

# %%
# The mean loudness of each band in the groups that the answers taught.
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for name in model.classes_:
    rows = group == name
    source = SOURCES[np.bincount(y[new][rows], minlength=3).argmax()]
    axes.plot(10 * X[new][rows, :40].mean(axis=0), label=f"group {name}: mostly {source}")
axes.set(
    xlabel="band of pitch, from 50 Hz to 8 kHz",
    ylabel="mean loudness (dB of full scale)",
    title=f"Three sources from noisy answers: {accuracy:.0%} right",
)
axes.legend()
plt.show()
