"""Batches of images of different sizes: drawn for each batch, or padded to the largest image."""

import feedline
import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image")


def write(folder, count=12):
    (folder / "all").mkdir(parents=True)
    stored = []
    for number in range(count):
        height, width = 20 + 7 * (number % 5), 64 - 8 * (number % 4)
        pixels = np.random.default_rng(number).integers(0, 256, (height, width, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / "all" / f"{1000 + number}.png")
        stored.append(pixels)
    return stored


def loader(dataset, **how):
    return feedline.Loader(dataset, device="cpu", batch_size=4, **how)


def test_each_batch_has_one_of_the_sizes(tmp_path):
    write(tmp_path)
    sizes = [32, (24, 40), (48, 16)]
    image = feedline.ImageOptions(sizes=sizes)
    assert image.sizes == [(32, 32), (24, 40), (48, 16)]
    dataset, _ = feedline.open_image_folder(tmp_path, image=image)[:2]
    field = dataset.fields[0]
    assert field.by_batch and field.shape == (48, 40, 3)
    assert not dataset.fields[1].by_batch
    assert dataset[0]["image"].shape == (48, 40, 3)
    one = loader(dataset, sampler=feedline.shuffle(seed=1))
    seen = {}
    for epoch in range(8):
        for batch in one.epoch(epoch):
            pixels = np.array(batch["image"])
            seen[epoch, batch.index] = pixels.shape[1:3]
            assert pixels.shape[1:3] in image.sizes
    assert set(seen.values()) == set(image.sizes)
    again = loader(dataset, sampler=feedline.shuffle(seed=1), readers=3)
    for epoch in range(8):
        for batch in again.epoch(epoch):
            assert np.array(batch["image"]).shape[1:3] == seen[epoch, batch.index]


def test_images_are_padded_to_the_largest_of_their_batch(tmp_path):
    stored = write(tmp_path)
    image = feedline.ImageOptions(
        height=64, width=64, fit="pad", size_divisible=16, fill=(7, 8, 9)
    )
    assert (image.fit, image.size_divisible, tuple(image.fill)) == ("pad", 16, (7, 8, 9))
    dataset, paths = feedline.open_images(tmp_path, image=image)
    sizes = feedline.stored_image_sizes(paths)
    assert sizes == [pixels.shape[:2] for pixels in stored]
    one = loader(dataset, sampler=feedline.bucket_by_aspect_ratio(sizes, seed=2, buckets=2))
    total = filled = 0
    for batch in one.epoch(0):
        pixels, own = np.array(batch["image"]), np.array(batch["image_size"])
        assert pixels.shape[1:3] == tuple(-(-own.max(0) // 16) * 16)
        for sample, image, (height, width) in zip(batch.samples(), pixels, own):
            assert (image[:height, :width] == stored[sample]).all()
            assert (image[height:] == (7, 8, 9)).all() and (image[:, width:] == (7, 8, 9)).all()
            total += image[..., 0].size
            filled += image[..., 0].size - height * width
    seen = one.statistics()
    assert (seen.pixels, seen.padded_pixels) == (total, filled)


def test_flips_of_padded_images_are_the_readers(tmp_path):
    stored = write(tmp_path)
    image = feedline.ImageOptions(height=64, width=64, fit="pad", flip=1)
    dataset, _ = feedline.open_images(tmp_path, image=image)
    for batch in loader(dataset).epoch(0):
        pixels, own = np.array(batch["image"]), np.array(batch["image_size"])
        for sample, image, (height, width) in zip(batch.samples(), pixels, own):
            assert (image[:height, :width] == stored[sample][:, ::-1]).all()
    with pytest.raises(feedline.UsageError, match="image_options::flip"):
        loader(dataset, transforms=[feedline.FieldTransform("image", layout="hwc", flip=0.5)])


def test_a_letterbox_keeps_the_shape(tmp_path):
    stored = write(tmp_path)
    image = feedline.ImageOptions(height=80, width=64, fit="letterbox", fill=(114, 114, 114))
    dataset, _ = feedline.open_images(tmp_path, image=image)
    for sample, pixels in enumerate(stored):
        height, width = pixels.shape[:2]
        scale = min(80 / height, 64 / width)
        own = int(height * scale + 0.5), int(width * scale + 0.5)
        top, left = (80 - own[0]) // 2, (64 - own[1]) // 2
        found = dataset[sample]["image"]
        assert (found[:top] == 114).all() and (found[:, :left] == 114).all()
        resized = Image.fromarray(pixels).resize(own[::-1], Image.Resampling.BILINEAR)
        part = found[top : top + own[0], left : left + own[1]].astype(int)
        assert np.abs(part - np.asarray(resized).astype(int)).max() <= 2


def test_what_contradicts_itself_is_refused(tmp_path):
    write(tmp_path)
    for how in [
        {"fit": "pad", "sizes": [32]},
        {"fit": "letterbox", "shorter_side": 224},
        {"fit": "pad", "resized_crop": feedline.CropRanges()},
        {"sizes": [0]},
    ]:
        with pytest.raises(feedline.UsageError, match="image_options"):
            feedline.open_images(tmp_path, image=feedline.ImageOptions(**how))
    with pytest.raises(ValueError, match="stretch"):
        feedline.ImageOptions(fit="squeeze")
    with pytest.raises(feedline.UsageError, match="ratio|above 0"):
        feedline.bucket_by_aspect_ratio([(1, 2)], boundaries=[-1])
