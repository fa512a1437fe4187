"""Content becomes features: text, pictures, sounds and vectors, each by an encoder with a name.

An `Encoder` is a scikit-learn transformer of one column.

>>> Words(n_components=2).fit_transform(["red house", "red car", "blue car"]).shape
(3, 2)
"""

from noisypairs.encoders.encoder import Encoder
from noisypairs.encoders.text import Words

__all__ = ["Encoder", "Words"]
