"""Grey images of one channel, and values of 16 bits, compared with Pillow."""

import numpy as np
import pytest

import feedline

image = pytest.importorskip("PIL.Image")


def decoded(folder, **options):
    dataset, _ = feedline.open_image_folder(folder, image=feedline.ImageOptions(**options))
    return dataset[0]["image"]


def test_16_bits_of_a_png_stay_as_they_are(tmp_path):
    depth = np.random.default_rng(1).integers(0, 65536, (30, 41)).astype(np.uint16)
    (tmp_path / "a").mkdir()
    image.fromarray(depth).save(tmp_path / "a" / "depth.png")
    seen = decoded(tmp_path, height=30, width=41, channels=1, dtype="uint16")
    assert seen.dtype == np.uint16
    assert np.array_equal(seen[:, :, 0], depth)
    halves = decoded(
        tmp_path, height=15, width=41, channels=1, dtype=np.uint16, interpolation="nearest"
    )
    assert np.array_equal(halves[:, :, 0], depth[1::2])


def test_grey_is_pillows_luma(tmp_path):
    colours = np.random.default_rng(2).integers(0, 256, (30, 41, 3), dtype=np.uint8)
    (tmp_path / "a").mkdir()
    image.fromarray(colours).save(tmp_path / "a" / "one.png")
    seen = decoded(tmp_path, height=30, width=41, channels=1, layout="chw")
    assert np.array_equal(seen[0], np.asarray(image.fromarray(colours).convert("L")))


def test_pixel_formats_are_given_by_name_and_checked():
    options = feedline.ImageOptions(channels=1, dtype="uint16")
    assert (options.channels, options.dtype) == (1, "uint16")
    assert (feedline.ImageOptions().channels, feedline.ImageOptions().dtype) == (3, "uint8")
    with pytest.raises(feedline.UsageError, match="must be 1 for grey or 3 for colours"):
        feedline.make_image_decoder(feedline.ImageOptions(channels=2))
