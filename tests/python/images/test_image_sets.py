"""Images with masks, lists of images, and images with boxes."""

import json

import feedline
import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image")


def write(path, height, width, seed=1, **how):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path, **how)
    return pixels


def test_an_image_and_its_mask_are_cut_and_flipped_alike(tmp_path):
    for number in range(6):
        y, x = np.mgrid[: 30 + number, :40]
        value = (np.minimum(x, 2 * y) * 6).clip(0, 255).astype(np.uint8)
        for name, pixels in [("images", np.stack([value] * 3, 2)), ("masks", value)]:
            (tmp_path / name).mkdir(exist_ok=True)
            Image.fromarray(pixels).save(tmp_path / name / f"{number}_{name[0]}.png")
    how = feedline.ImageOptions(height=20, width=20, resized_crop=feedline.CropRanges())
    fields = [
        ("image", tmp_path / "images", feedline.make_image_decoder(how), "_i"),
        ("mask", tmp_path / "masks", feedline.make_mask_decoder(how), "_m"),
    ]
    dataset, paths = feedline.open_joined_images(fields)
    assert paths[5] == str(tmp_path / "images" / "5_i.png")

    def transform(name, flip):
        return feedline.FieldTransform(name, layout="hwc", flip=flip)

    def loader(*flips):
        transforms = [transform(*each) for each in zip(["image", "mask"], flips)]
        return feedline.Loader(dataset, batch_size=6, device="cpu", transforms=transforms)

    one = loader(0.5, 0.5)
    for epoch in range(3):
        for batch in one.epoch(epoch):
            image, mask = np.array(batch["image"])[..., 0], np.array(batch["mask"])
            assert np.abs(image - mask).mean() < 6
            assert np.abs(image - mask[:, :, ::-1]).mean() > 20
    with pytest.raises(feedline.UsageError, match="'mask' belongs to 'image'"):
        loader(0.5, 0)
    with pytest.raises(feedline.DatasetError, match=r"no file for field 'b': .*masks/0_i.png"):
        feedline.open_joined_images(
            [("a", *fields[0][1:3]), ("b", tmp_path / "masks", fields[1][2])]
        )


def test_lists_and_folders_without_classes_are_read(tmp_path):
    first, second = write(tmp_path / "x" / "1.png", 4, 5, 1), write(tmp_path / "x y.png", 4, 5, 2)
    (tmp_path / "list.txt").write_text("x/1.png dog\nx y.png cat\nx/1.png cat\n")
    image = feedline.ImageOptions(height=4, width=5)
    dataset, classes = feedline.open_image_list(
        tmp_path / "list.txt", image=image, label_dtype="int64"
    )
    assert classes == ["cat", "dog"]
    assert dataset.read([0, 1, 2])["label"].tolist() == [1, 0, 0]
    assert (dataset.read([1, 2])["image"] == np.stack([second, first])).all()
    (tmp_path / "numbers.txt").write_text("1.png 5\n")
    dataset, classes = feedline.open_image_list(
        [tmp_path / "numbers.txt"], root=tmp_path / "x", image=image
    )
    assert classes == []
    assert dataset[0]["label"] == 5
    (tmp_path / "bad.txt").write_text("x/1.png 1\nx/1.png\n")
    with pytest.raises(feedline.DatasetError, match="line 2: 'x/1.png' is one word"):
        feedline.open_image_list(tmp_path / "bad.txt")
    dataset, paths = feedline.open_images(tmp_path, image=image)
    assert paths == [str(tmp_path / "x y.png"), str(tmp_path / "x" / "1.png")]
    assert (dataset[0]["image"] == second).all()


def coco(folder, count=8, height=90, width=120):
    """Random boxes and points of images, in COCO's format."""
    draw = np.random.default_rng(4)
    content = {"images": [], "annotations": [], "categories": []}
    for category in [3, 7, 60]:
        content["categories"].append({"id": category, "name": f"kind {category}"})
    for number in range(count):
        write(folder / "images" / f"{number}.png", height, width)
        content["images"].append(
            {"id": number, "file_name": f"{number}.png", "height": height, "width": width}
        )
        for _ in range(number % 5):
            left, top = draw.uniform(0, width - 20), draw.uniform(0, height - 20)
            size = draw.uniform(1, 20, 2)
            points = [
                [left + draw.uniform(0, 20), top + draw.uniform(0, 20), int(draw.integers(1, 3))]
                for _ in range(2)
            ]
            content["annotations"].append(
                {
                    "id": len(content["annotations"]),
                    "image_id": number,
                    "category_id": int(draw.choice([3, 7, 60])),
                    "bbox": [left, top, *size],
                    "iscrowd": int(draw.integers(2)),
                    "keypoints": sum(points, []),
                    "segmentation": [[1, 2, 3, 4]],
                }
            )
    (folder / "all.json").write_text(json.dumps(content))
    return content


def opened(folder, **how):
    try:
        return feedline.open_coco(folder / "images", folder / "all.json", **how)
    except feedline.DatasetError as error:
        if "this feedline was built without" in str(error):
            pytest.skip(str(error))
        raise


def test_a_set_of_coco_is_read(tmp_path):
    content = coco(tmp_path)
    found = opened(tmp_path, image=feedline.ImageOptions(height=90, width=120), format="xywh")
    assert found.classes == ["kind 3", "kind 7", "kind 60"]
    assert found.class_ids == [3, 7, 60]
    assert found.paths[2] == str(tmp_path / "images" / "2.png")
    assert found.clipped_boxes == found.dropped_boxes == 0
    assert str(found.dataset.fields[3]) == "<feedline.Field boxes: float32[4, 4] of image, flip 0>"
    for image in content["images"]:
        own = [one for one in content["annotations"] if one["image_id"] == image["id"]]
        sample = found.dataset[image["id"]]
        count = sample["boxes_length"]
        assert count == len(own)
        assert sample["size"].tolist() == [90, 120]
        for at, one in enumerate(own):
            assert np.allclose(sample["boxes"][at], one["bbox"], atol=1e-3)
            assert found.class_ids[sample["labels"][at]] == one["category_id"]
            assert sample["crowd"][at] == one["iscrowd"]
        assert (sample["labels"][count:] == -1).all()
        assert (sample["boxes"][count:] == 0).all()
    few = opened(tmp_path, skip_flagged=True, skip_empty=True)
    assert 0 < few.dataset.size < 8
    with pytest.raises(feedline.UsageError, match="format of boxes"):
        opened(tmp_path, format="yxyx")


WINDOW = feedline.CropRanges(scale=(0.25, 0.25), ratio=(4 / 3, 4 / 3))  # 45 x 60 of 90 x 120
CUTS = {  # options, how many pixels become one, and what torchvision does
    "resize": ({}, (50 / 90, 60 / 120), lambda v2, what, at: v2.resize(what, [50, 60])),
    "center": (
        {"shorter_side": 60},
        (60 / 90, 80 / 120),
        lambda v2, what, at: v2.center_crop(v2.resize(what, [60, 80]), [50, 60]),
    ),
    "window": (
        {"resized_crop": WINDOW},
        (50 / 45, 60 / 60),
        lambda v2, what, at: v2.resized_crop(what, *at, 45, 60, [50, 60]),
    ),
}


@pytest.mark.parametrize("layout", ["xyxy", "xywh", "cxcywh"])
@pytest.mark.parametrize("flip", [0, 1])
@pytest.mark.parametrize("cut", CUTS)
def test_boxes_and_points_are_torchvisions(tmp_path, layout, flip, cut):
    torch = pytest.importorskip("torch")
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    from torchvision.transforms.v2 import functional as v2

    content = coco(tmp_path)
    y, x = np.mgrid[:90, :120].astype(np.uint8)
    for number in range(8):  # a pixel has its place, so that windows can be seen
        Image.fromarray(np.stack([x, y, 0 * x], 2)).save(tmp_path / "images" / f"{number}.png")
    options, (down, across), move = CUTS[cut]

    def epochs(image, flip):
        found = opened(tmp_path, format=layout, image=image, min_visible=0.3, flip=flip)
        transforms = [feedline.FieldTransform("image", layout="hwc", flip=flip)]
        loader = feedline.Loader(found.dataset, batch_size=8, device="cpu", transforms=transforms)
        for epoch in range(3):
            for batch in loader.epoch(epoch):
                yield {field.name: np.array(batch[field.name]) for field in found.dataset.fields}

    windows = epochs(feedline.ImageOptions(height=45, width=60, resized_crop=WINDOW), 0)
    batches = epochs(feedline.ImageOptions(height=50, width=60, **options), flip)
    seen = 0
    for window, batch in zip(windows, batches):
        for at, number in enumerate(batch["image_id"]):
            assert window["image_id"][at] == number
            left, top = window["image"][at, 0, 0, :2].astype(int).tolist()
            own = [one for one in content["annotations"] if one["image_id"] == number]
            numbers = torch.tensor([one["bbox"] for one in own]).reshape(-1, 4).float()
            boxes = tv_tensors.BoundingBoxes(numbers, format="XYWH", canvas_size=(90, 120))
            points = torch.tensor([one["keypoints"] for one in own]).reshape(-1, 2, 3).float()
            points = tv_tensors.KeyPoints(points[..., :2], canvas_size=(90, 120))
            boxes, points = (move(v2, what, (top, left)) for what in (boxes, points))
            boxes = v2.clamp_bounding_boxes(boxes, clamping_mode="hard")
            if flip:
                boxes, points = v2.horizontal_flip(boxes), v2.horizontal_flip(points)
            areas = boxes[:, 2:].prod(1) / (numbers[:, 2:].prod(1) * down * across)
            keep = areas >= 0.3
            boxes = v2.convert_bounding_box_format(boxes, new_format=layout.upper())[keep]
            count = batch["boxes_length"][at]
            assert count == len(boxes)
            assert np.allclose(batch["boxes"][at][:count], boxes.numpy(), atol=1e-3)
            labels = [one["category_id"] for one, kept in zip(own, keep) if kept]
            assert np.array([3, 7, 60])[batch["labels"][at][:count]].tolist() == labels
            mine, theirs = batch["keypoints"][at][:count], points[keep].numpy()
            inside = ((theirs >= 0) & (theirs < [60, 50])).all(-1)
            assert (inside == (mine[..., 2] > 0)).all()
            assert np.allclose(mine[..., :2], theirs * inside[..., None], atol=1e-3)
            seen += count
    assert seen > 10


def test_boxes_of_any_source_become_a_dataset(tmp_path):
    write(tmp_path / "1.png", 40, 60)
    one = feedline.AnnotatedImage(
        tmp_path / "1.png",
        boxes=np.array([[0, 0, 30, 20], [10, 10, 60, 40]], dtype=np.float32),
        labels=np.array([2, 0]),
        id=17,
        flags=[0, 1],
        keypoints=[1, 2, 2] * 2,
    )
    image = feedline.ImageOptions(height=20, width=30)
    found = feedline.make_annotated_dataset([one], image=image, normalized=True)
    sample = found.dataset[0]
    assert sample["image_id"] == 17
    assert sample["size"].tolist() == [40, 60]
    assert np.allclose(sample["boxes"], [[0, 0, 0.5, 0.5], [1 / 6, 0.25, 1, 1]])
    assert sample["labels"].tolist() == [2, 0]
    assert sample["flags"].tolist() == [0, 1]
    assert np.allclose(sample["keypoints"], [[[1 / 60, 0.05, 2]]] * 2)
    wrong = feedline.AnnotatedImage(tmp_path / "1.png", boxes=[[0, 0, 30, 20]], labels=[], id=5)
    with pytest.raises(feedline.DatasetError, match="image 5 has 1 boxes, but 0 labels"):
        feedline.make_annotated_dataset([wrong])


def test_a_set_of_voc_is_read(tmp_path):
    write(tmp_path / "JPEGImages" / "a.jpg", 40, 60)
    (tmp_path / "ImageSets" / "Main").mkdir(parents=True)
    (tmp_path / "ImageSets" / "Main" / "val.txt").write_text("a\n")
    (tmp_path / "Annotations").mkdir()
    (tmp_path / "Annotations" / "a.xml").write_text(
        "<annotation><filename>a.jpg</filename><size><width>60</width><height>40</height></size>"
        "<object><name>dog</name><difficult>1</difficult><bndbox><xmin>11</xmin><ymin>1</ymin>"
        "<xmax>30</xmax><ymax>20</ymax></bndbox></object></annotation>"
    )
    image = feedline.ImageOptions(height=40, width=60)
    try:
        found = feedline.open_voc(tmp_path, "val", image=image)
    except feedline.DatasetError as error:
        if "this feedline was built without" in str(error):
            pytest.skip(str(error))
        raise
    sample = found.dataset[0]
    assert sample["boxes"].tolist() == [[10, 0, 30, 20]]
    assert found.classes[sample["labels"][0]] == "dog"
    assert sample["difficult"].tolist() == [1]
