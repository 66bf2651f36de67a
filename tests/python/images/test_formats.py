"""Formats of images beside JPEG and PNG, written by Pillow."""

import numpy as np
import pytest

import feedline

image = pytest.importorskip("PIL.Image")

# name, what Pillow is told, library
FORMATS = [
    ("one.bmp", {}, ""),
    ("one.ppm", {}, ""),
    ("one.TIF", {}, "tiff"),
    ("one.tiff", {"compression": "tiff_lzw"}, "tiff"),
    ("one.tif", {"compression": "jpeg", "quality": 95}, "tiff"),
    ("one.webp", {"lossless": True}, "webp"),
    ("one.webp", {"quality": 90}, "webp"),
]


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P"])
@pytest.mark.parametrize(("name", "how", "library"), FORMATS)
def test_files_of_pillow_have_pillows_pixels(tmp_path, name, how, library, mode):
    if library and not feedline.build_info()[library]:
        pytest.skip(f"this feedline was built without lib{library}")
    palette_is_unknown = "jpeg" in how.values() or name == "one.ppm"
    if (mode == "P" and palette_is_unknown) or (mode == "RGBA" and name != "one.TIF"):
        pytest.skip("Pillow does not write it, or mixes alpha into colours")
    y, x = np.mgrid[:40, :61]
    pixels = np.stack([y * 6, x * 4, 128 + 60 * np.sin(x / 9)], -1).astype(np.uint8)
    picture = image.fromarray(pixels).convert(mode)
    (tmp_path / "a").mkdir()
    picture.save(tmp_path / "a" / name, **how)
    wanted = np.asarray(image.open(tmp_path / "a" / name).convert("RGB")).astype(int)
    options = feedline.ImageOptions(height=40, width=61)
    dataset, _ = feedline.open_image_folder(tmp_path, image=options)
    off = np.abs(dataset[0]["image"].astype(int) - wanted)
    # Pillow converts the colours of a TIFF's JPEG by itself.
    assert off.max() <= (3 if "jpeg" in how.values() else 0)
