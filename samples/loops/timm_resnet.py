"""A training run with timm's datasets, augmentation and models.

    timm_resnet.py FOLDER [--data usual|feedline] [--workers N] [--size 224]

FOLDER has a folder of JPEGs for each class. timm makes its DataLoader as always, and feedline does
what that says, in its own worker processes.
"""

import argparse

import timm
import timm.data
import torch

import feedline


def usual(args):
    # data
    train = timm.data.create_loader(
        timm.data.create_dataset("", args.folder),
        input_size=args.size,
        batch_size=args.batch_size,
        is_training=True,
        num_workers=args.workers,
        auto_augment="rand-m9-mstd0.5",
        re_prob=0.25,
        use_prefetcher=False,
    )
    # end
    return train


def with_feedline(args):
    # data
    train = timm.data.create_loader(
        timm.data.create_dataset("", args.folder),
        input_size=args.size,
        batch_size=args.batch_size,
        is_training=True,
        num_workers=args.workers,
        auto_augment="rand-m9-mstd0.5",
        re_prob=0.25,
        use_prefetcher=False,
    )
    train = feedline.from_dataloader(train, args.device, seed=42)
    # end
    return train


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--data", choices=["usual", "feedline"], default="feedline")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--size", type=int, default=224)
    args = parser.parse_args()
    args.device = "cuda" if torch.cuda.is_available() else "cpu"
    train = {"usual": usual, "feedline": with_feedline}[args.data](args)
    model = timm.create_model("resnet10t", num_classes=10).to(args.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for image, label in train:
        loss = torch.nn.functional.cross_entropy(
            model(image.to(args.device)), label.to(args.device)
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{tuple(image.shape)}, {image.dtype}, {label.dtype}, loss {loss:.4f}")


if __name__ == "__main__":  # workers import this file
    main()
