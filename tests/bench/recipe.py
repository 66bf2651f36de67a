"""torchvision's recipe for training on a folder of JPEGs, as feedline and torchvision follow it: a
random window of the image as it is stored, flipped at random, TrivialAugmentWide, a rectangle
erased at random, normalized, and mixup of the batch with its labels, which are shares of classes.

Batches are on the device: floats in channels-last layout, and f32[batch, classes].
"""

import dataclasses
import itertools
import os
import pathlib

import torch

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


@dataclasses.dataclass
class Recipe:
    folder: pathlib.Path  # its folders are the classes
    classes: int
    batch: int
    size: int = 224
    scale: tuple = (0.08, 1.0)  # a window's share of the image
    erasing: float = 0.1
    mixup: float = 0.2
    draws: str = "batch"  # feedline's; torchvision's MixUp draws so
    seed: int = 1

    @property
    def shorter_side(self):
        """For the evaluation, which cuts the middle."""
        return self.size * 8 // 7


def device():
    return "cuda" if torch.cuda.is_available() else "cpu"


def feedline_loader(recipe, epochs, train=True, readers=2):
    """The device decodes and does all else; without a GPU the readers do."""
    import feedline

    cut = ({"resized_crop": feedline.CropRanges(scale=recipe.scale)} if train
           else {"shorter_side": recipe.shorter_side})
    dataset, classes = feedline.open_image_folder(
        recipe.folder, image=feedline.ImageOptions(height=recipe.size, width=recipe.size,
                                                   reduced_decoding=False, **cut))
    assert len(classes) <= recipe.classes, f"{len(classes)} classes"
    changes = {"flip": 0.5, "trivial_augment_wide": feedline.TrivialAugmentWide(),
               "erasing": feedline.RandomErasing(probability=recipe.erasing,
                                                 value=[255 * mean for mean in MEAN])}
    mixing = feedline.Mixing(image="image", label="label", mixup_alpha=recipe.mixup,
                             draws=recipe.draws)
    return feedline.Loader(
        dataset, feedline.shuffle(seed=recipe.seed) if train else None, device(),
        batch_size=recipe.batch, epochs=epochs, partial_batch="drop" if train else "keep",
        readers=readers, seed=recipe.seed, mixing=mixing if train else None,
        decode_on="device" if device() == "cuda" else "cpu",
        transforms=[
            feedline.FieldTransform("image", to="bfloat16" if train else "float32", scale=1 / 255,
                                    mean=MEAN, stddev=DEVIATION, layout="hwc",
                                    **(changes if train else {})),
            feedline.FieldTransform("label", to="float32", one_hot=recipe.classes)])


def by_feedline(loader, epochs):
    """Batches of these epochs."""
    for epoch in epochs:
        for batch in loader.epoch(epoch):
            yield batch["image"].torch().permute(0, 3, 1, 2), batch["label"].torch()


def one_thread(_):
    torch.set_num_threads(1)


def torchvision_loader(recipe, workers, train=True):
    """Pillow decodes, and torchvision changes, in worker processes. Mixed by `by_torchvision`."""
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2

    to_floats = [v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True),
                 v2.Normalize(MEAN, DEVIATION)]
    changed = [v2.RandomResizedCrop(recipe.size, scale=recipe.scale), v2.RandomHorizontalFlip(),
               v2.TrivialAugmentWide(), *to_floats, v2.RandomErasing(recipe.erasing)]
    plain = [v2.Resize(recipe.shorter_side), v2.CenterCrop(recipe.size), *to_floats]
    return torch.utils.data.DataLoader(
        ImageFolder(recipe.folder, v2.Compose(changed if train else plain)),
        batch_size=recipe.batch, shuffle=train, drop_last=train, num_workers=workers,
        pin_memory=device() == "cuda", persistent_workers=workers > 0,
        prefetch_factor=2 if workers else None, worker_init_fn=one_thread,
        generator=torch.Generator().manual_seed(recipe.seed))


def by_torchvision(loader, recipe, epochs, train=True):
    """Batches of these epochs."""
    from torchvision.transforms import v2

    mixed = v2.MixUp(alpha=recipe.mixup, num_classes=recipe.classes)
    for _ in epochs:
        for images, labels in loader:
            images = images.to(device(), non_blocking=True,
                               memory_format=torch.channels_last)
            labels = labels.to(device(), non_blocking=True)
            if train:
                yield mixed(images, labels)
            else:
                yield images, torch.nn.functional.one_hot(labels, recipe.classes).float()


def feedline_forever(recipe):
    return by_feedline(feedline_loader(recipe, 1_000_000), itertools.count())


def torchvision_forever(recipe, workers):
    return by_torchvision(torchvision_loader(recipe, workers), recipe, itertools.count())


def workers_here():
    return max(1, (os.cpu_count() or 2) - 2)
