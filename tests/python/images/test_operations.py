"""Operations on images, beside torchvision's for bytes."""

import itertools
import math

import numpy as np
import pytest

import feedline

torch = pytest.importorskip("torch")
F = pytest.importorskip("torchvision.transforms.v2.functional")


def photograph(height=37, width=46, channels=3, seed=1):
    """Smooth colours of a limited range, with some noise."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / (5 + 2 * c) + y / (9 - c)) * 60 + 110 + 9 * c for c in range(channels)]
    image = np.stack(waves, -1) + random.normal(0, 12, (height, width, channels))
    return image.clip(20, 230).astype(np.uint8)


def operated(images, **operations):
    """The batch's images as floats, height x width x channels."""
    dataset = feedline.make_memory_dataset({"image": np.stack(images)})
    transform = feedline.FieldTransform("image", layout="hwc", **operations)
    loader = feedline.Loader(dataset, batch_size=len(images), transforms=[transform], seed=5)
    return next(loader.epoch(0))["image"].numpy()


def by_torchvision(function, image, *args, **options):
    made = function(torch.from_numpy(image).permute(2, 0, 1), *args, **options)
    return made.permute(1, 2, 0).numpy()


def is_close(ours, theirs, apart=0.0):
    """@param apart Share of the pixels that may come from another place, at ties."""
    difference = np.abs(ours.astype(np.float64) - theirs)
    far = (difference > 2).any(axis=-1)
    return far.mean() <= apart and difference[~far].mean() <= 0.5


always = {"probability": 1}
posterize, solarize = feedline.RandomPosterize, feedline.RandomSolarize
pixelwise = [
    ("grayscale", feedline.RandomGrayscale(**always), lambda x: F.rgb_to_grayscale(x, 3)),
    ("invert", feedline.RandomInvert(**always), F.invert),
    ("autocontrast", feedline.RandomAutocontrast(**always), F.autocontrast),
    ("equalize", feedline.RandomEqualize(**always), F.equalize),
    *(
        ("posterize", posterize(bits=b, **always), lambda x, b=b: F.posterize(x, b))
        for b in range(9)
    ),
    *(
        ("solarize", solarize(threshold=t, **always), lambda x, t=t: F.solarize(x, t))
        for t in (0, 100, 127.5, 255)
    ),
    *(
        (
            "sharpness",
            feedline.RandomAdjustSharpness(sharpness_factor=f, **always),
            lambda x, f=f: F.adjust_sharpness(x, f),
        )
        for f in (0, 0.3, 1, 2.5)
    ),
]


@pytest.mark.parametrize("channels", [3, 1])
@pytest.mark.parametrize("size", [(37, 46), (1, 1), (2, 70), (130, 67)])
def test_colours_change_as_torchvision_changes_them(size, channels):
    image = photograph(*size, channels)
    for member, operation, function in pixelwise:
        if member == "grayscale" and channels == 1:
            continue
        ours = operated([image], **{member: operation})[0]
        assert is_close(ours, by_torchvision(function, image)), (member, operation)


def test_grey_images_may_have_one_channel():
    image = photograph()
    ours = operated([image], grayscale=feedline.RandomGrayscale(channels=1, probability=1))
    assert ours.shape == (1, 37, 46, 1)
    assert is_close(ours[0], by_torchvision(F.rgb_to_grayscale, image))


def test_tables_of_flat_and_of_two_valued_images_are_torchvisions():
    flat = np.full((9, 7, 3), 77, np.uint8)
    two = np.where(np.arange(20 * 30).reshape(20, 30, 1) % 7 == 0, 90, 91).astype(np.uint8)
    for image in (flat, np.repeat(two, 3, -1), photograph(200, 300)):
        for member, operation, function in pixelwise[2:4]:
            ours = operated([image], **{member: operation})[0]
            assert is_close(ours, by_torchvision(function, image)), member


affines = [
    dict(angle=30.0, scale=1.0, shear=[0.0, 0.0]),
    dict(angle=-135.5, scale=1.0, shear=[0.0, 0.0]),
    dict(angle=0.0, scale=1.63, shear=[0.0, 0.0]),
    dict(angle=0.0, scale=0.43, shear=[0.0, 0.0]),
    dict(angle=0.0, scale=1.0, shear=[25.0, 0.0]),
    dict(angle=0.0, scale=1.0, shear=[0.0, -33.0]),
    dict(angle=77.0, scale=0.8, shear=[12.0, 20.0]),
]


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
@pytest.mark.parametrize("fill", [0, 200])
def test_an_affine_transform_is_torchvisions(interpolation, fill):
    image = photograph()
    for affine in affines:
        (shear_x, shear_y) = affine["shear"]
        ours = operated(
            [image],
            affine=feedline.RandomAffine(
                degrees=(affine["angle"],) * 2,
                scale=(affine["scale"],) * 2,
                shear=(shear_x, shear_x, shear_y, shear_y),
                interpolation=interpolation,
                fill=fill,
            ),
        )[0]
        options = dict(affine, translate=[0, 0], interpolation=F.InterpolationMode(interpolation))
        theirs = by_torchvision(F.affine, image, fill=fill, **options)
        if interpolation == "bilinear":
            # Beside the image's edge torchvision multiplies by the share inside twice.
            share = by_torchvision(F.affine, np.full_like(image, 255), **options)
            at_edge = (share > 0) & (share < 255)
            assert at_edge.mean() < 0.2
            ours[at_edge] = theirs[at_edge]
        assert is_close(ours, theirs, 0.01 if interpolation == "nearest" else 0), affine


def test_translations_are_whole_pixels_drawn_from_all_that_are_allowed():
    image = photograph()
    affine = feedline.RandomAffine(degrees=(0, 0), translate=(0.11, 0.2))
    ours = operated([image] * 400, affine=affine)
    seen = set()
    for each in ours:
        for y, x in itertools.product(range(-8, 9), range(-5, 6)):
            moved = np.zeros_like(image)
            moved[max(y, 0) : 37 + min(y, 0), max(x, 0) : 46 + min(x, 0)] = image[
                max(-y, 0) : 37 + min(-y, 0), max(-x, 0) : 46 + min(-x, 0)
            ]
            if (moved == each).all():
                seen.add((y, x))
                break
        else:
            pytest.fail("an image is no translation")
    assert {y for y, _ in seen} == set(range(-7, 8)) and {x for _, x in seen} == set(range(-5, 6))


def set_candidates(space, image, fill=0):
    """Each operation of a set with each magnitude, by torchvision."""
    from torchvision.transforms.v2._auto_augment import _AutoAugmentBase

    base = _AutoAugmentBase(fill=fill)
    tensor = torch.from_numpy(image).permute(2, 0, 1)
    height, width = image.shape[:2]
    for name, (magnitudes_of, signed), bins, chosen in space:
        magnitudes = magnitudes_of(bins, height, width)
        values = [0.0] if magnitudes is None else [float(m) for m in magnitudes]
        for value in values if chosen is None or magnitudes is None else [values[chosen]]:
            for magnitude in {value, -value} if signed else {value}:
                out = base._apply_image_or_video_transform(
                    tensor, name, magnitude, interpolation=F.InterpolationMode.NEAREST,
                    fill=base._fill,
                )
                yield name, magnitude, out.permute(1, 2, 0).numpy()


def matching(ours, candidates):
    """The names of the candidates that an image is, but for some pixels at ties."""
    names, images = candidates
    difference = np.abs(images - ours)
    far = (difference > 2).any(axis=-1)
    near = (difference.mean(axis=-1) * ~far).sum(axis=(1, 2)) <= 0.5 * (~far).sum(axis=(1, 2))
    return {names[i] for i in np.flatnonzero((far.mean(axis=(1, 2)) <= 0.03) & near)}


def as_arrays(candidates):
    names, _, images = zip(*candidates)
    return names, np.stack(images).astype(np.float32)


def test_trivial_augment_wide_is_one_of_torchvisions_operations():
    from torchvision.transforms.v2 import TrivialAugmentWide

    image = photograph()
    names = TrivialAugmentWide._AUGMENTATION_SPACE
    candidates = as_arrays(set_candidates([(n, names[n], 31, None) for n in names], image))
    seen = set()
    for each in operated([image] * 120, trivial_augment_wide=feedline.TrivialAugmentWide()):
        found = matching(each, candidates)
        assert found
        if len(found) == 1:
            seen |= found
    assert seen | {"Identity"} == set(names)


def test_rand_augment_is_torchvisions_operations_moves_first():
    from torchvision.transforms.v2 import RandAugment

    image = photograph()
    names = RandAugment._AUGMENTATION_SPACE
    space = [(n, names[n], 31, 9) for n in names]
    one = list(set_candidates(space, image))
    for each in operated([image] * 60, rand_augment=feedline.RandAugment(num_ops=1)):
        assert matching(each, as_arrays(one))
    two = [
        (f"{first} {second}", magnitude, theirs)
        for first, _, moved in one
        for second, magnitude, theirs in set_candidates(space, moved)
    ]
    two = as_arrays(two)
    images = operated([image] * 60, rand_augment=feedline.RandAugment())
    unknown = sum(not matching(each, two) for each in images)
    assert unknown <= 60 * 0.25  # two moves are one resampling, which torchvision does not do


@pytest.mark.parametrize("policy", ["imagenet", "cifar10", "svhn"])
def test_auto_augment_is_torchvisions_pairs_moves_first(policy):
    from torchvision.transforms import AutoAugmentPolicy
    from torchvision.transforms.v2 import AutoAugment

    image = photograph()
    names = AutoAugment._AUGMENTATION_SPACE
    moves = {"ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate"}
    candidates = []
    for number, pair in enumerate(AutoAugment(AutoAugmentPolicy(policy))._policies):
        if {name for name, _, _ in pair} <= moves:
            continue  # one resampling, which torchvision does not do
        made = [(number, 0, image)]
        for name, probability, bin in sorted(pair, key=lambda each: each[0] not in moves):
            space = [(name, names[name], 10, bin)]
            changed = [(number, 0, out) for made_one in made
                       for _, _, out in set_candidates(space, made_one[2])]
            made = ([] if probability == 1 else made) + changed
        candidates += made
    candidates = as_arrays(candidates)
    automatic = feedline.AutoAugment(policy=policy)
    found = [matching(each, candidates) for each in operated([image] * 150, auto_augment=automatic)]
    assert sum(not each for each in found) <= (0 if policy == "imagenet" else 150 * 0.15)
    assert len(set().union(*found)) >= 20


def test_erasing_with_noise_is_normal_after_mean_and_deviation():
    mean, stddev = [120.0, 110.0, 100.0], [60.0, 50.0, 40.0]
    ours = operated(
        [photograph()] * 400, mean=mean, stddev=stddev,
        erasing=feedline.RandomErasing(probability=1, scale=(0.3, 0.3), ratio=(1, 1), noise=True),
    )
    image = ((photograph() - np.array(mean)) / stddev).astype(np.float32)
    erased = np.abs(ours - image).max(axis=-1) > 1e-4
    assert (np.abs(erased.mean(axis=(1, 2)) - 0.3) < 0.03).all()
    for c in range(3):
        noise = np.sort(ours[erased][:, c])
        assert len(noise) > 100_000
        for quantile in (0.001, 0.1, 0.5, 0.9, 0.999):
            value = noise[int(quantile * len(noise))]
            share = (1 + math.erf(value / math.sqrt(2))) / 2
            assert abs(share - quantile) < 4 * math.sqrt(quantile * (1 - quantile) / len(noise))
    assert len(np.unique(ours[erased])) > 0.9 * ours[erased].size  # nearly no value twice


def test_steps_of_a_sample_see_what_the_steps_before_left():
    image = photograph(40, 50)
    ours = operated(
        [image],
        affine=feedline.RandomAffine(degrees=(20, 20)),
        invert=feedline.RandomInvert(**always),
        equalize=feedline.RandomEqualize(**always),
        sharpness=feedline.RandomAdjustSharpness(sharpness_factor=2, **always),
    )[0]
    moved = by_torchvision(F.affine, image, 20.0, [0, 0], 1.0, [0, 0])
    theirs = by_torchvision(F.equalize, by_torchvision(F.invert, moved))
    assert is_close(ours, by_torchvision(F.adjust_sharpness, theirs, 2), 0.02)


def test_what_operations_cannot_do_is_refused():
    image = photograph()
    for member, operation, words in [
        ("posterize", posterize(bits=9), "posterize.bits is 9: say 0 to 8"),
        ("solarize", solarize(threshold=-1), "solarize.threshold is -1: say 0 to 256"),
        ("affine", feedline.RandomAffine(degrees=(9, 2)), "affine.degrees is 9 to 2: say a range"),
        ("rand_augment", feedline.RandAugment(num_ops=4), "rand_augment.num_ops is 4: say 1 to 3"),
    ]:
        with pytest.raises(feedline.UsageError, match=words):
            operated([image], **{member: operation})
    affine = feedline.RandomAffine(degrees=(0, 5), interpolation="bicubic")
    with pytest.raises(feedline.UsageError, match="interpolation is bicubic: say nearest or bilin"):
        operated([image], affine=affine)
