"""Training with Lightning on the arrays of an .npz file.

    lightning_rows.py FILE [--data usual|feedline]   # arrays x (float32) and y (integers)

With feedline the data module makes loaders for the strategy's ranks, and checkpoints have their
position, so that a run continues in the middle of an epoch, with other ranks too.
"""

import argparse

import numpy as np
import torch
from lightning.pytorch import LightningDataModule, LightningModule, Trainer

import feedline.lightning


def usual(args):
    # data
    class Rows(LightningDataModule):
        def setup(self, stage):
            arrays = np.load(args.file)
            x, y = torch.from_numpy(arrays["x"]), torch.from_numpy(arrays["y"])
            self.train = torch.utils.data.TensorDataset(x, y)

        def train_dataloader(self):
            return torch.utils.data.DataLoader(
                self.train, batch_size=20, shuffle=True, num_workers=1, persistent_workers=True
            )

    data = Rows()
    # end
    return data


def with_feedline(args):
    # data
    train = feedline.open(args.file, fields=["x", "y"])
    order = feedline.shuffle(seed=42)
    data = feedline.lightning.DataModule(train=train, sampler=order, global_batch=20)
    # end
    return data


class Classifier(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(12, 10)

    def training_step(self, batch, index):
        x, y = (batch["x"], batch["y"]) if hasattr(batch, "keys") else batch
        loss = torch.nn.functional.cross_entropy(self.layer(x), y)
        print(f"{tuple(x.shape)}, {y.dtype}, loss {loss:.4f}")
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--data", choices=["usual", "feedline"], default="feedline")
    args = parser.parse_args()
    data = {"usual": usual, "feedline": with_feedline}[args.data](args)
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    Trainer(accelerator="auto", devices=1, max_epochs=2, **quiet).fit(Classifier(), data)


if __name__ == "__main__":
    main()
