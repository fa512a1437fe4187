"""Content becomes features: text, pictures and sounds, each by an encoder with a name.

An `Encoder` is a scikit-learn transformer of one column. Pictures and sounds are given as names of
files.

>>> Words(n_components=2).fit_transform(["red house", "red car", "blue car"]).shape
(3, 2)
>>> sorted(ENCODERS)
['efficientnet', 'histograms', 'sentence-transformers', 'spectra', 'timm', 'wordllama', 'words']
"""

from noisypairs.encoders.cache import cached_in
from noisypairs.encoders.encoder import (
    ENCODERS,
    Encoder,
    RowEncoder,
    UnreadableContent,
    UnreadableContentWarning,
    best,
    named,
)
from noisypairs.encoders.pictures import EfficientNet, Histograms, PictureEncoder, Timm
from noisypairs.encoders.sounds import Spectra
from noisypairs.encoders.text import SentenceTransformer, WordLlama, Words

__all__ = [
    "ENCODERS",
    "EfficientNet",
    "Encoder",
    "Histograms",
    "PictureEncoder",
    "RowEncoder",
    "SentenceTransformer",
    "Spectra",
    "Timm",
    "UnreadableContent",
    "UnreadableContentWarning",
    "WordLlama",
    "Words",
    "best",
    "cached_in",
    "named",
]
