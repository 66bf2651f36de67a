"""A script that makes its loader before Lightning starts the other ranks."""

import sys
from pathlib import Path

import common
import torch
from lightning.pytorch import LightningModule, Trainer

import feedline


class Module(LightningModule):
    def __init__(self):
        super().__init__()
        self.model = common.make_model()
        self.seen = []

    def training_step(self, batch, index):
        self.seen += batch["y"].tolist()  # feedline's batch was moved, so it is a dict of tensors
        return common.loss_of(self.model, batch["x"])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.5)


if __name__ == "__main__":
    loader = feedline.Loader(common.dataset(), common.sampler(), batch_size=4)
    module = Module()
    trainer = Trainer(
        accelerator="cpu",
        strategy="ddp",
        devices=2,
        max_epochs=2,
        logger=False,
        enable_progress_bar=False,
        enable_checkpointing=False,
    )
    trainer.fit(module, loader)
    path = Path(sys.argv[1]) / f"seen{trainer.global_rank}.txt"
    path.write_text(" ".join(map(str, module.seen)))
