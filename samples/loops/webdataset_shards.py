"""Training on tar shards, as WebDataset lays them out.

    webdataset_shards.py PATTERN [--data usual|feedline]   # 'shard-{000..003}.tar'

WebDataset reads shards in a row and shuffles what is in a buffer. feedline indexes the shards once,
so each epoch has every sample once, in an order that a state can resume.
"""

import argparse

import torch

import feedline


def usual(args):
    import webdataset as wds

    # data
    train_set = (
        wds.WebDataset(args.shards, shardshuffle=100)
        .shuffle(1000)
        .decode("rgb8")
        .to_tuple("jpg", "cls")
        .batched(args.batch_size, partial=False)
    )
    train = wds.WebLoader(train_set, batch_size=None, num_workers=args.workers)
    # end
    return train


def with_feedline(args):
    # data
    size = feedline.ImageOptions(height=args.size, width=args.size)
    train = feedline.Loader(
        feedline.open(args.shards, image=size), device=args.device, batch_size=args.batch_size,
        shuffle=True, drop_last=True, as_torch=True, as_tuple=["image", "label"],
    )  # fmt: skip
    # end
    return train


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("shards")
    parser.add_argument("--data", choices=["usual", "feedline"], default="feedline")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--size", type=int, default=224, help="with feedline: all become this size")
    args = parser.parse_args()
    args.device = "cuda" if torch.cuda.is_available() else "cpu"
    train = {"usual": usual, "feedline": with_feedline}[args.data](args)
    model = torch.nn.Linear(args.size * args.size * 3, 10).to(args.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for image, label in train:
        image, label = torch.as_tensor(image).to(args.device), torch.as_tensor(label)
        loss = torch.nn.functional.cross_entropy(
            model(image.flatten(1) / 255), label.to(args.device).long()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{tuple(image.shape)}, {image.dtype}, loss {loss:.4f}")


main()
