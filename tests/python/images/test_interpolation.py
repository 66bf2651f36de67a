"""How images are resized, compared with Pillow and torchvision."""

import numpy as np
import pytest

import feedline

image = pytest.importorskip("PIL.Image")

FILTERS = ["bilinear", "bicubic", "nearest"]
SIZES = [(224, 224), (500, 600), (31, 40)]


def photograph(height=375, width=500):
    """Smooth shapes, edges and noise, within the values of most photographs."""
    y, x = np.mgrid[:height, :width].astype(float)
    waves = [np.sin(y * 0.05 * c + x * 0.03) * 50 + np.sin(x * 0.4 + c) * 20 for c in (1, 2, 3)]
    edges = ((x // 40 + y // 30) % 2 * 30)[..., None]
    noise = np.random.default_rng(1).normal(0, 4, (height, width, 3))
    return np.clip(110 + np.stack(waves, -1) + edges + noise, 0, 255).astype(np.uint8)


def decoded(folder, pixels, **options):
    (folder / "a").mkdir(exist_ok=True)
    image.fromarray(pixels).save(folder / "a" / "one.png")
    dataset, _ = feedline.open_image_folder(folder, image=feedline.ImageOptions(**options))
    return dataset[0]["image"].astype(int)


@pytest.mark.parametrize("name", FILTERS)
def test_images_are_resized_as_pillow_resizes_them(tmp_path, name):
    pixels = photograph()
    for height, width in SIZES:
        seen = decoded(tmp_path, pixels, height=height, width=width, interpolation=name)
        how = image.Resampling[name.upper()]
        wanted = np.asarray(image.fromarray(pixels).resize((width, height), how)).astype(int)
        off = np.abs(seen - wanted)
        assert off.max() <= (0 if name == "nearest" else 2)
        assert off.mean() <= 0.5


@pytest.mark.parametrize("name", FILTERS)
def test_images_are_resized_and_cut_as_torchvision_does(tmp_path, name):
    torch = pytest.importorskip("torch")
    transforms = pytest.importorskip("torchvision.transforms.v2")
    mode = transforms.InterpolationMode["NEAREST_EXACT" if name == "nearest" else name.upper()]
    recipe = transforms.Compose(
        [transforms.Resize(232, mode, antialias=True), transforms.CenterCrop(224)]
    )
    pixels = photograph()
    wanted = recipe(torch.from_numpy(pixels).permute(2, 0, 1)).permute(1, 2, 0).numpy().astype(int)
    seen = decoded(tmp_path, pixels, shorter_side=232, interpolation=name)
    off = np.abs(seen - wanted)
    assert off.max() <= (0 if name == "nearest" else 2)
    assert off.mean() <= 0.5


def test_bicubic_values_are_limited_to_a_byte_only_after_both_axes(tmp_path):
    torch = pytest.importorskip("torch")
    functional = pytest.importorskip("torch.nn.functional")
    noise = np.random.default_rng(1).integers(0, 256, (90, 70, 3), dtype=np.uint8)
    for height, width in [(200, 150), (40, 50)]:
        values = torch.from_numpy(noise).permute(2, 0, 1)[None].float()
        wanted = functional.interpolate(
            values, (height, width), mode="bicubic", align_corners=False, antialias=True
        )
        wanted = wanted[0].permute(1, 2, 0).clamp(0, 255).numpy()
        seen = decoded(tmp_path, noise, height=height, width=width, interpolation="bicubic")
        assert np.abs(seen - wanted).max() < 0.75


def test_an_unknown_interpolation_is_refused_and_the_usual_one_is_bilinear():
    assert feedline.ImageOptions().interpolation == "bilinear"
    assert feedline.ImageOptions(interpolation="bicubic").interpolation == "bicubic"
    with pytest.raises(feedline.UsageError, match="'bilinear', 'bicubic', 'nearest'"):
        feedline.ImageOptions(interpolation="lanczos")
