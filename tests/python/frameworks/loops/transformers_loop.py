"""A run of Hugging Face's Trainer that saves every 5 steps, and goes on from the last checkpoint
that there is."""

import os

import common
import torch
from transformers import TrainerCallback, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

import feedline.transformers


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = common.make_model()
        self.labels = None

    def forward(self, x, y):
        self.labels = y
        return {"loss": common.loss_of(self.model, x)}


class Recorded(TrainerCallback):
    def __init__(self, record, model):
        self.record, self.model = record, model

    def on_step_end(self, args, state, control, **_):
        self.record.step(state.global_step, self.model.labels)

    def on_step_begin(self, args, state, control, **_):
        self.record.after(state.global_step)  # after the checkpoint of the step before


def main():
    args = common.arguments()
    world = int(os.environ["WORLD_SIZE"])
    training = TrainingArguments(
        str(args.folder),
        per_device_train_batch_size=common.GLOBAL_BATCH // world,
        num_train_epochs=common.EPOCHS,
        save_steps=5,
        optim="sgd",
        learning_rate=0.5,
        lr_scheduler_type="constant",
        max_grad_norm=0,
        data_seed=11,
        use_cpu=True,
        report_to="none",
        disable_tqdm=True,
        logging_steps=1000,
    )
    model = Model()
    record = common.Record(args, training.process_index, world)
    trainer = feedline.transformers.Trainer(
        model, training, train_dataset=common.dataset(), callbacks=[Recorded(record, model)]
    )
    trainer.train(resume_from_checkpoint=get_last_checkpoint(str(args.folder)))
    if training.process_index == 0:
        common.save_parameters(args, model.model)


main()
