"""A training run on a folder of images, as PyTorch's example imagenet does it.

    imagenet.py FOLDER [--data usual|feedline] [--workers N] [--size 224]

FOLDER has the folders train and val, with a folder of JPEGs for each class. In `with_feedline`
torchvision still draws and cuts the windows of training images, in worker processes. The bytes are
flipped, normalized and turned to channels first by the device. Images for validation are decoded by
feedline's threads.
"""

import argparse
from pathlib import Path

import torch
import torchvision

import feedline

MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def usual(args):
    from torch.utils.data import DataLoader
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2

    # data
    to_tensor = [
        v2.PILToTensor(),
        v2.ToDtype(torch.float32, scale=True),
        v2.Normalize(MEAN, DEVIATION),
    ]
    train_set = ImageFolder(
        args.folder / "train",
        v2.Compose([v2.RandomResizedCrop(args.size), v2.RandomHorizontalFlip(), *to_tensor]),
    )
    val_set = ImageFolder(
        args.folder / "val",
        v2.Compose([v2.Resize(args.size * 8 // 7), v2.CenterCrop(args.size), *to_tensor]),
    )
    options = {"batch_size": args.batch_size, "num_workers": args.workers, "pin_memory": True}
    train = DataLoader(train_set, shuffle=True, **options)
    val = DataLoader(val_set, **options)
    # end
    return train, val


def with_feedline(args):
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import RandomResizedCrop

    # data
    train_set = feedline.from_torch(
        ImageFolder(args.folder / "train", RandomResizedCrop(args.size)),
        names=["image", "label"],
        workers=args.workers,
    )
    size = {"height": args.size, "width": args.size, "shorter_side": args.size * 8 // 7}
    cut = feedline.ImageOptions(**size)
    val_set, _ = feedline.open_image_folder(args.folder / "val", image=cut)
    image = {"scale": 1 / 255, "mean": MEAN, "stddev": DEVIATION}
    image |= {"layout": "hwc", "to_layout": "chw"}
    label = feedline.FieldTransform("label", to="int64")
    options = {"device": args.device, "batch_size": args.batch_size}
    options |= {"as_torch": True, "as_tuple": ["image", "label"]}
    flipped = feedline.FieldTransform("image", flip=0.5, **image)
    train = feedline.Loader(train_set, shuffle=True, transforms=[flipped, label], **options)
    plain = feedline.FieldTransform("image", **image)
    val = feedline.Loader(val_set, transforms=[plain, label], **options)
    # end
    return train, val


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", choices=["usual", "feedline"], default="feedline")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--epochs", type=int, default=1)
    args = parser.parse_args()
    args.device = "cuda" if torch.cuda.is_available() else "cpu"
    train, val = {"usual": usual, "feedline": with_feedline}[args.data](args)
    model = torchvision.models.resnet18(num_classes=10).to(args.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(args.epochs):
        model.train()
        for image, label in train:
            image, label = image.to(args.device), label.to(args.device)
            loss = torch.nn.functional.cross_entropy(model(image), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print(f"epoch {epoch}: {tuple(image.shape)}, loss {loss:.4f}")
    model.eval()
    with torch.no_grad():
        for image, label in val:
            found = model(image.to(args.device)).argmax(dim=1) == label.to(args.device)
            print(f"labels {label.tolist()}, mean {image.mean():.2f}, {found.sum()} right")


if __name__ == "__main__":
    main()
