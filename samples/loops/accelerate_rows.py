"""Training with Accelerate on the arrays of an .npz file.

    accelerate_rows.py FILE [--data usual|feedline]   # arrays x (float32) and y (integers)

With feedline, `register_for_checkpointing` puts the loader's position into checkpoints.
"""

import argparse

import numpy as np
import torch
from accelerate import Accelerator

import feedline.accelerate


def usual(args, accelerator):
    # data
    arrays = np.load(args.file)
    x, y = torch.from_numpy(arrays["x"]), torch.from_numpy(arrays["y"])
    train_set = torch.utils.data.TensorDataset(x, y)
    loader = torch.utils.data.DataLoader(train_set, batch_size=20, shuffle=True, num_workers=1)
    # end
    return loader


def with_feedline(args, accelerator):
    # data
    train_set = feedline.open(args.file, fields=["x", "y"])
    loader = feedline.accelerate.Loader(
        accelerator, train_set, feedline.shuffle(seed=42), global_batch=20
    )
    # end
    return loader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--data", choices=["usual", "feedline"], default="feedline")
    args = parser.parse_args()
    accelerator = Accelerator()
    loader = {"usual": usual, "feedline": with_feedline}[args.data](args, accelerator)
    model = torch.nn.Linear(12, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    if args.data == "feedline":
        accelerator.register_for_checkpointing(loader)
    for _ in range(2):
        for batch in loader:
            x, y = (batch["x"], batch["y"]) if hasattr(batch, "keys") else batch
            loss = torch.nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            print(f"{tuple(x.shape)}, {y.dtype}, loss {loss:.4f}")


if __name__ == "__main__":
    main()
