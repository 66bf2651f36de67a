"""Images of files give the pixels that Pillow gives."""

import tarfile

import numpy as np
import pytest

import feedline


def test_a_folder_of_images_is_read(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for number, name in enumerate(["ant", "bee"]):
        (tmp_path / name).mkdir()
        image.new("RGB", (8, 8), (number * 100, 0, 0)).save(tmp_path / name / "one.png")
    options = feedline.ImageOptions(height=4, width=4, layout="chw")
    dataset, classes = feedline.open_image_folder(tmp_path, image=options, label_dtype="int64")
    assert classes == ["ant", "bee"]
    assert dataset[1]["image"].shape == (3, 4, 4)
    assert dataset[1]["image"][0].tolist() == [[100] * 4] * 4
    assert dataset.read([0, 1])["label"].tolist() == [0, 1]


def test_windows_of_images_are_pillows_crop_and_resize(tmp_path):
    image = pytest.importorskip("PIL.Image")
    height, width, window = 180, 240, (90, 120)
    y, x = np.mgrid[:height, :width]
    places = np.stack([x, y, 0 * x], axis=2).astype(np.uint8)
    waves = [128 + 100 * np.sin(0.05 * (k + 1) * x + 0.03 * y) + 20 * np.cos(y) for k in range(3)]
    photo = np.clip(np.stack(waves, axis=2), 0, 255).astype(np.uint8)
    for name, pixels in [("places", places), ("photos", photo)]:
        (tmp_path / name / "a").mkdir(parents=True)
        for number in range(20):
            image.fromarray(pixels).save(tmp_path / name / "a" / f"{number:02}.png")
    ranges = feedline.CropRanges(scale=(0.25, 0.25), ratio=(4 / 3, 4 / 3))

    def opened(name, size):
        options = feedline.ImageOptions(height=size[0], width=size[1], resized_crop=ranges)
        return feedline.open_image_folder(tmp_path / name, image=options)[0]

    at = opened("places", window).read(range(20))["image"][:, 0, 0, :2].astype(int)
    assert len(set(map(tuple, at))) > 10
    for size in [(64, 64), (224, 224), (30, 100)]:
        seen = opened("photos", size).read(range(20))["image"].astype(int)
        for number, (left, top) in enumerate(at):
            part = image.fromarray(photo).crop((left, top, left + window[1], top + window[0]))
            wanted = part.resize(size[::-1], image.Resampling.BILINEAR, reducing_gap=None)
            apart = np.abs(seen[number] - np.asarray(wanted).astype(int))
            assert apart.mean() <= 0.5
            assert apart.max() <= 2


def test_windows_of_images_differ_in_each_epoch_and_repeat(tmp_path):
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "a").mkdir()
    pixels = np.random.default_rng(1).integers(0, 255, (40, 50, 3)).astype(np.uint8)
    for number in range(8):
        image.fromarray(pixels).save(tmp_path / "a" / f"{number}.png")
    options = feedline.ImageOptions(height=8, width=8, resized_crop=feedline.CropRanges())
    assert options.resized_crop.scale == (0.08, 1.0)
    assert feedline.ImageOptions().resized_crop is None
    dataset, _ = feedline.open_image_folder(tmp_path, image=options)
    assert dataset.varies_by_epoch

    def epochs(readers):
        loader = feedline.Loader(dataset, batch_size=4, readers=readers, device="cpu")
        return [[np.array(batch["image"]) for batch in loader.epoch(e)] for e in range(2)]

    one, four = epochs(1), epochs(4)
    assert all(np.array_equal(a, b) for a, b in zip(sum(one, []), sum(four, [])))
    assert not np.array_equal(one[0][0], one[1][0])
    with pytest.raises(feedline.UsageError, match="differ from epoch to epoch"):
        feedline.load_into_memory(dataset)
    with pytest.raises(feedline.UsageError, match="resized_crop and shorter_side"):
        feedline.make_image_decoder(
            feedline.ImageOptions(shorter_side=256, resized_crop=feedline.CropRanges())
        )


def test_images_are_turned_as_pillow_turns_them(tmp_path):
    image = pytest.importorskip("PIL.Image")
    ops = pytest.importorskip("PIL.ImageOps")
    pixels = np.random.default_rng(1).integers(0, 255, (30, 40, 3)).astype(np.uint8)
    (tmp_path / "a").mkdir()
    for number in range(1, 9):
        exif = image.Exif()
        exif[0x0112] = number
        for kind in ["png", "jpg"]:
            path = tmp_path / "a" / f"{number}.{kind}"
            image.fromarray(pixels).save(path, exif=exif, quality=95)
            turned = np.asarray(ops.exif_transpose(image.open(path)))
            options = feedline.ImageOptions(
                height=turned.shape[0], width=turned.shape[1], follow_orientation=True
            )
            dataset = feedline.open_image_folder(tmp_path, image=options)[0]
            assert np.array_equal(dataset[0]["image"], turned), (number, kind)
            path.unlink()


def test_masks_keep_their_classes(tmp_path):
    image = pytest.importorskip("PIL.Image")
    classes = np.random.default_rng(1).choice([0, 7, 20], (30, 40)).astype(np.uint8)
    mask = image.fromarray(classes)
    mask.putpalette([255, 0, 0] * 256)
    mask.save(tmp_path / "0.png")
    with tarfile.open(tmp_path / "masks.tar", "w") as shard:
        shard.add(tmp_path / "0.png", "0.png")
    for size in [(30, 40), (17, 61)]:
        decoder = feedline.make_mask_decoder(feedline.ImageOptions(height=size[0], width=size[1]))
        data = feedline.open_tar(tmp_path / "masks.tar", [("mask", ["png"], decoder)])
        wanted = image.fromarray(classes).resize(size[::-1], image.Resampling.NEAREST)
        assert np.array_equal(data[0]["mask"], np.asarray(wanted))


def test_several_folders_of_images_have_one_list_of_classes(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for name in ["a/dog", "a/cat", "b/dog", "b/emu"]:
        (tmp_path / name).mkdir(parents=True)
        image.new("RGB", (8, 8)).save(tmp_path / name / "one.png")
    roots = [tmp_path / "a", tmp_path / "b"]
    dataset, classes = feedline.open_image_folder(roots)
    assert classes == ["cat", "dog", "emu"]
    assert dataset.read(range(4))["label"].tolist() == [0, 1, 1, 2]
    assert feedline.open(roots).read(range(4))["label"].tolist() == [0, 1, 1, 2]
    assert feedline.open_image_folder(str(tmp_path / "[ab]"))[1] == classes
    listed = {each.name: each for each in feedline.list_fields(roots[0])}
    assert listed["label"].classes == ["cat", "dog"]
    assert listed["image"].classes == []
