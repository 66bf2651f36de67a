"""A Lightning run that saves every 5 steps, and goes on from the last checkpoint that there is."""

import os

import common
import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import Callback, ModelCheckpoint

import feedline.lightning


class Module(LightningModule):
    def __init__(self):
        super().__init__()
        self.model = common.make_model()

    def training_step(self, batch, index):
        self.labels = batch["y"]
        return common.loss_of(self.model, batch["x"])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.5)


class Recorded(Callback):
    def __init__(self, args):
        self.args = args

    def on_train_start(self, trainer, module):
        self.record = common.Record(self.args, trainer.global_rank, trainer.world_size)

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        self.record.step(trainer.global_step, module.labels)

    def on_train_batch_start(self, trainer, module, batch, index):
        self.record.after(trainer.global_step)  # after the checkpoint of the step before


def main():
    args = common.arguments()
    data = feedline.lightning.DataModule(
        train=common.dataset(),
        sampler=common.sampler(),
        global_batch=common.GLOBAL_BATCH,
        epochs=common.EPOCHS,
    )
    saver = ModelCheckpoint(
        args.folder, "last", every_n_train_steps=5, enable_version_counter=False
    )
    trainer = Trainer(
        accelerator="cpu",
        strategy="ddp",
        devices=int(os.environ["LOCAL_WORLD_SIZE"]),
        max_epochs=common.EPOCHS,
        callbacks=[Recorded(args), saver],
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    module = Module()
    last = args.folder / "last.ckpt"
    trainer.fit(module, data, ckpt_path=last if last.exists() else None)
    if trainer.global_rank == 0:
        common.save_parameters(args, module.model)


main()
