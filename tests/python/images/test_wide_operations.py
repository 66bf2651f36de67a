"""Perspective, blurs, and images mixed of chains, beside torchvision's for bytes."""

import itertools

import numpy as np
import pytest

import feedline

torch = pytest.importorskip("torch")
v2 = pytest.importorskip("torchvision.transforms.v2")
F = pytest.importorskip("torchvision.transforms.v2.functional")


def photograph(height=37, width=46, channels=3, seed=1):
    """Smooth colours of a limited range, with some noise."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / (5 + 2 * c) + y / (9 - c)) * 60 + 110 + 9 * c for c in range(channels)]
    image = np.stack(waves, -1) + random.normal(0, 12, (height, width, channels))
    return image.clip(20, 230).astype(np.uint8)


def operated(images, seed=5, **operations):
    """The batch's images as floats, height x width x channels."""
    dataset = feedline.make_memory_dataset({"image": np.stack(images)})
    transform = feedline.FieldTransform("image", layout="hwc", **operations)
    loader = feedline.Loader(dataset, batch_size=len(images), transforms=[transform], seed=seed)
    return next(loader.epoch(0))["image"].numpy()


def by_torchvision(function, image, *args, **options):
    made = function(torch.from_numpy(image).permute(2, 0, 1), *args, **options)
    return made.permute(1, 2, 0).numpy()


def corners_in(ours, height, width):
    """Four points to which an image's corners were moved: of images of their own coordinates."""
    value, x, y = ours[..., 0], ours[..., 1], ours[..., 2]
    inside = value > 250
    lines, columns = np.nonzero(inside)
    source = np.stack([x[inside], y[inside]], -1) - 0.5  # as torchvision measures
    # Homography from the batch's image to the dataset's, by least squares.
    at = np.stack([columns + 0.5, lines + 0.5], -1).astype(np.float64)
    rows, wanted = [], []
    for (u, v), (s, t) in zip(at, source + 1.0):
        rows += [[u, v, 1, 0, 0, 0, -s * u, -s * v], [0, 0, 0, u, v, 1, -t * u, -t * v]]
        wanted += [s, t]
    solved = np.linalg.lstsq(np.array(rows), np.array(wanted), rcond=None)[0]
    back = np.linalg.inv(np.append(solved, 1).reshape(3, 3))
    ends = []
    for corner in [(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)]:
        point = back @ [*corner, 1]
        ends.append((point[:2] / point[2]).tolist())
    return ends


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
@pytest.mark.parametrize("fill", [0, 200])
def test_perspective_is_torchvisions(interpolation, fill):
    height, width, count = 60, 80, 24
    y, x = np.mgrid[0:height, 0:width]
    places = np.stack([np.full((height, width), 255), x, y], -1).astype(np.uint8)
    how = dict(distortion_scale=0.5, probability=1, interpolation=interpolation)
    seen = operated([places] * count, perspective=feedline.RandomPerspective(**dict(
        how, interpolation="bilinear")))
    image = photograph(height, width)
    ours = operated([image] * count, perspective=feedline.RandomPerspective(fill=fill, **how))
    starts = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
    for place, one in zip(seen, ours):
        ends = corners_in(place, height, width)
        whole = [[round(px), round(py)] for px, py in ends]
        assert np.abs(np.array(ends) - whole).max() < 0.1
        assert all(0 <= px < width and 0 <= py < height for px, py in whole)
        for (px, py), (cx, cy) in zip(whole, starts):
            assert abs(px - cx) <= 20 and abs(py - cy) <= 15
        mode = F.InterpolationMode(interpolation)
        theirs = by_torchvision(F.perspective, image, starts, whole, interpolation=mode, fill=fill)
        share = by_torchvision(F.perspective, np.full_like(image, 255), starts, whole,
                               interpolation=F.InterpolationMode.BILINEAR)
        at_edge = ((share > 0) & (share < 255)).any(-1)  # weighted twice by torchvision
        assert at_edge.mean() < 0.15
        difference = np.abs(one - theirs)[~at_edge]
        far = (difference > 2).any(-1)
        assert far.mean() <= (0.02 if interpolation == "nearest" else 0)
        assert difference[~far].mean() <= 0.5


@pytest.mark.parametrize("channels", [3, 1])
@pytest.mark.parametrize("size", [(37, 46), (17, 70), (130, 67)])
def test_a_gaussian_blur_is_torchvisions(size, channels):
    image = photograph(*size, channels)
    for kernel, sigma in itertools.product([1, 3, 9, 33], [0.1, 0.7, 2, 10]):
        if kernel // 2 >= min(size):
            continue
        blur = feedline.GaussianBlur(kernel_size=kernel, sigma=sigma)
        ours = operated([image], gaussian_blur=blur)[0]
        theirs = by_torchvision(F.gaussian_blur, image, kernel, [float(sigma)] * 2)
        difference = np.abs(ours - theirs)
        assert difference.max() <= 1 and difference.mean() < 0.02, (kernel, sigma)


def test_a_blur_comes_after_grey_and_before_solarize():
    image = photograph()
    ours = operated(
        [image],
        grayscale=feedline.RandomGrayscale(probability=1),
        gaussian_blur=feedline.GaussianBlur(kernel_size=5, sigma=(1, 1)),
        solarize=feedline.RandomSolarize(threshold=120, probability=1),
    )[0]
    grey = by_torchvision(F.rgb_to_grayscale, image, 3)
    theirs = by_torchvision(
        F.solarize, by_torchvision(F.gaussian_blur, grey, 5, [1.0, 1.0]), 120
    )
    difference = np.abs(ours - theirs)
    assert (difference > 2).mean() < 0.02  # beside the threshold
    assert np.median(difference) <= 1


def test_augmix_with_one_operation_is_torchvisions():
    """The mix of an image and one operation's image, with a weight that fits all pixels."""
    base = v2._auto_augment._AutoAugmentBase(fill=0)
    image = photograph()
    tensor = torch.from_numpy(image).permute(2, 0, 1)
    height, width = image.shape[:2]
    candidates = {}
    for name, (magnitudes_of, signed) in v2.AugMix._AUGMENTATION_SPACE.items():
        magnitudes = magnitudes_of(10, height, width)
        values = [0.0] if magnitudes is None else [float(m) for m in magnitudes[:5]]
        for value in values:
            for magnitude in {value, -value} if signed else {value}:
                out = base._apply_image_or_video_transform(
                    tensor, name, magnitude, interpolation=F.InterpolationMode.NEAREST,
                    fill=base._fill,
                )
                candidates[name, magnitude] = out.permute(1, 2, 0).numpy().astype(np.float64)
    mix = feedline.AugMix(severity=5, mixture_width=1, chain_depth=1, interpolation="nearest")
    start = image.astype(np.float64)
    found, weights = set(), []
    for each in operated([image] * 150, augmix=mix):
        best = None
        for (name, _), out in candidates.items():
            change = out - start
            if not change.any():
                continue
            # The weight by least squares; values are cut off to whole numbers.
            weight = float((change * (each + 0.5 - start)).sum() / (change**2).sum())
            apart = np.abs(each + 0.5 - start - weight * change)
            if -0.02 <= weight <= 1.02 and ((apart > 1.5).mean() <= 0.03):
                score = (apart.mean(), name, weight)
                best = score if best is None else min(best, score)
        if best is None:
            assert np.abs(each - start).max() <= 1  # an operation that changes nothing
            continue
        found.add(best[1])
        weights.append(best[2])
    assert len(found) >= 10
    assert np.std(weights) > 0.15  # one of another magnitude may be found instead


def test_a_mix_of_several_chains_keeps_the_image_recognizable():
    image = photograph(80, 90)
    mixed = operated([image] * 60, augmix=feedline.AugMix())
    theirs = v2.AugMix()
    torch.manual_seed(1)
    tensor = torch.from_numpy(image).permute(2, 0, 1)
    apart = [np.abs(theirs(tensor).permute(1, 2, 0).numpy() - image.astype(float)).mean()
             for _ in range(300)]
    mine = np.abs(mixed - image).mean(axis=(1, 2, 3))
    assert len({one.tobytes() for one in mixed}) == 60
    assert abs(mine.mean() - np.mean(apart)) < 4 * np.std(apart) / np.sqrt(60)


def test_numbers_are_ranges_around_0_as_torchvision_takes_them():
    affine = feedline.RandomAffine(degrees=10, shear=5)
    assert affine.degrees == (-10, 10)
    assert affine.shear == [-5, 5, 0, 0]
    assert feedline.RandomAffine(degrees=(3, 10), shear=(1, 2)).shear == [1, 2, 0, 0]
    assert feedline.RandomAffine(degrees=10.5, shear=(1, 2, 3, 4)).shear == [1, 2, 3, 4]
    assert feedline.GaussianBlur(kernel_size=3, sigma=2).sigma == (2, 2)
    assert feedline.GaussianBlur(kernel_size=3).sigma == (0.1, 2)


@pytest.mark.parametrize("kind", ["affine", "perspective"])
def test_boxes_and_points_follow_as_torchvisions_do(tmp_path, kind):
    tv_tensors = pytest.importorskip("torchvision.tv_tensors")
    Image = pytest.importorskip("PIL.Image")
    height, width, count = 60, 80, 12
    y, x = np.mgrid[0:height, 0:width]
    places = np.stack([np.full((height, width), 255), x, y], -1).astype(np.uint8)
    numbers = [[20.0, 15.0, 45.0, 38.0], [30.0, 20.0, 60.5, 45.25]]
    dots = [[22.0, 17.0], [40.0, 30.0]]
    images = []
    for number in range(count):
        Image.fromarray(places).save(tmp_path / f"{number}.png")
        images.append(feedline.AnnotatedImage(
            tmp_path / f"{number}.png", boxes=numbers, labels=[0, 1], id=number,
            keypoints=[*dots[0], 2.0, *dots[1], 1.0],
        ))
    if kind == "affine":
        move = feedline.RandomAffine(
            degrees=(20, 20), scale=(0.9, 0.9), shear=(5, 5), interpolation="bilinear"
        )
    else:
        move = feedline.RandomPerspective(distortion_scale=0.4, probability=1)
    found = feedline.make_annotated_dataset(
        images, image=feedline.ImageOptions(height=height, width=width), **{kind: move}
    )
    transform = feedline.FieldTransform("image", layout="hwc", **{kind: move})
    loader = feedline.Loader(found.dataset, batch_size=count, transforms=[transform], seed=5)
    batch = next(loader.epoch(0))
    boxes = tv_tensors.BoundingBoxes(numbers, format="XYXY", canvas_size=(height, width))
    points = tv_tensors.KeyPoints(dots, canvas_size=(height, width))
    starts = [[0, 0], [width - 1, 0], [width - 1, height - 1], [0, height - 1]]
    for at, image in enumerate(batch["image"].numpy()):
        if kind == "affine":
            how = dict(angle=20.0, translate=[0, 0], scale=0.9, shear=[5.0, 0.0])
            theirs, dots_there = F.affine(boxes, **how), F.affine(points, **how)
        else:
            ends = [[round(px), round(py)] for px, py in corners_in(image, height, width)]
            theirs, dots_there = (F.perspective(each, starts, ends) for each in (boxes, points))
        assert batch["boxes_length"].numpy()[at] == 2
        assert np.allclose(batch["boxes"].numpy()[at], theirs, atol=0.01)
        ours = batch["keypoints"].numpy()[at][:, 0]
        assert np.allclose(ours[:, :2], dots_there, atol=0.01)
    with pytest.raises(feedline.UsageError, match="and its coordinates by nothing"):
        other = feedline.make_annotated_dataset(
            images, image=feedline.ImageOptions(height=height, width=width)
        )
        feedline.Loader(other.dataset, batch_size=count, transforms=[transform])


def test_what_they_cannot_do_is_refused():
    image = photograph()
    for member, operation, words in [
        ("gaussian_blur", feedline.GaussianBlur(kernel_size=4), "say an odd number of 1 to 33"),
        ("augmix", feedline.AugMix(severity=0), "augmix.severity is 0: say 1 to 10"),
        ("affine", feedline.RandomAffine(degrees=-10), "affine.degrees is 10 to -10: say a range"),
        (
            "perspective",
            feedline.RandomPerspective(distortion_scale=2),
            "perspective.distortion_scale is 2: say 0 to 1",
        ),
    ]:
        with pytest.raises(feedline.UsageError, match=words):
            operated([image], **{member: operation})


def test_resumed_loaders_go_on_with_the_same_pixels():
    images = np.stack([photograph(seed=i) for i in range(24)])
    dataset = feedline.make_memory_dataset({"image": images})

    def make():
        return feedline.Loader(
            dataset,
            feedline.shuffle(seed=3),
            batch_size=4,
            seed=9,
            transforms=[
                feedline.FieldTransform(
                    "image",
                    layout="hwc",
                    flip=0.5,
                    perspective=feedline.RandomPerspective(),
                    augmix=feedline.AugMix(),
                    gaussian_blur=feedline.GaussianBlur(kernel_size=5, probability=0.5),
                )
            ],
        )

    first = make()
    epoch = first.epoch(1)
    for _ in range(2):
        next(epoch)
    state = first.state()
    rest = [batch["image"].numpy().copy() for batch in epoch]
    assert len(rest) == 4
    second = make()
    second.seek(state)
    again = [batch["image"].numpy().copy() for batch in second]
    assert (np.concatenate(again) == np.concatenate(rest)).all()
