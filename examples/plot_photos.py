"""
Photos by kind
==============

Pictures of fruit on a table, drawn here; with photographs it is the same. The items are files:
:class:`noisypairs.encoders.Histograms` reads colours and edges without any weights, and in its
place ``noisypairs.encoders.EfficientNet`` what a network has learnt from photographs. The command
does it all from the folder: ``noisypairs fit photos pairs.csv``.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image, ImageDraw

from noisypairs import JointPairClassifier, PairingNoise, sample_pairs
from noisypairs.encoders import Histograms
from noisypairs.metrics import accuracy_up_to_names

KINDS = {"apple": (190, 50, 40), "lemon": (225, 200, 60), "banana": (225, 205, 80)}
folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
y = rng.integers(3, size=240)
for k, kind in enumerate(y):
    picture = Image.new("RGB", (96, 96), tuple(rng.integers(150, 240, 3).tolist()))
    pen, (x, top) = ImageDraw.Draw(picture), rng.integers(12, 34, 2).tolist()
    fill = tuple((np.array(list(KINDS.values())[kind]) + rng.integers(-20, 20, 3)).tolist())
    if kind == 0:
        pen.ellipse((x, top, x + 50, top + 48), fill=fill)
        pen.line((x + 25, top + 4, x + 30, top - 8), fill=(90, 60, 40), width=4)
    elif kind == 1:
        pen.ellipse((x, top, x + 56, top + 36), fill=fill)
    else:
        pen.arc((x, top - 20, x + 56, top + 40), 10, 170, fill=fill, width=16)
    picture.save(folder / f"{k:03}.png")
files = sorted(folder.iterdir())

# %%
# Half of the pictures are compared, the others are new.
train, new = np.arange(120), np.arange(120, 240)
X = Histograms().fit_transform(files)
pairs = sample_pairs(y[train], 5 * len(train), PairingNoise(0.2, 0.2), random_state=0)
model = JointPairClassifier(n_classes=3, random_state=0).fit(X[train], pairs)
group = model.predict(X[new])
accuracy = accuracy_up_to_names(y[new], group)
print(f"{len(pairs.left)} answers, one in five wrong: {accuracy:.1%} of new pictures right")

# %%
# Six new pictures of each group.
figure, axes = plt.subplots(3, 6, figsize=(6, 3.4), layout="constrained")
for row, name in zip(axes, model.classes_, strict=True):
    for cell, item in zip(row, new[group == name], strict=False):
        cell.imshow(Image.open(files[item]))
    row[0].set_ylabel(f"group {name}")
for cell in axes.ravel():
    cell.set(xticks=[], yticks=[])
figure.suptitle(f"New pictures, sorted: {accuracy:.0%} right")
plt.show()
