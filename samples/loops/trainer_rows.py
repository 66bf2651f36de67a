"""Training with Hugging Face's Trainer on the arrays of an .npz file.

    trainer_rows.py FILE [--data usual|feedline]   # arrays x (float32) and y (integers)

With feedline, `resume_from_checkpoint` goes to its position at once, instead of reading batches to
skip them.
"""

import argparse
import tempfile

import numpy as np
import torch
import transformers

import feedline.transformers


def usual(args, model, training):
    # data
    class Rows(torch.utils.data.Dataset):
        def __init__(self, path):
            self.arrays = dict(np.load(path))

        def __len__(self):
            return len(self.arrays["y"])

        def __getitem__(self, index):
            return {name: array[index] for name, array in self.arrays.items()}

    trainer = transformers.Trainer(model, training, train_dataset=Rows(args.file))
    # end
    return trainer


def with_feedline(args, model, training):
    # data
    train_set = feedline.open(args.file, fields=["x", "y"])
    trainer = feedline.transformers.Trainer(model, training, train_dataset=train_set)
    # end
    return trainer


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(12, 10)

    def forward(self, x, y):
        logits = self.layer(x)
        loss = torch.nn.functional.cross_entropy(logits, y)
        print(f"{tuple(x.shape)}, {y.dtype}, loss {loss:.4f}")
        return {"loss": loss, "logits": logits}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--data", choices=["usual", "feedline"], default="feedline")
    args = parser.parse_args()
    training = transformers.TrainingArguments(
        tempfile.mkdtemp(),
        per_device_train_batch_size=20,
        num_train_epochs=2,
        dataloader_num_workers=1 if args.data == "usual" else 0,
        report_to="none",
        disable_tqdm=True,
        save_strategy="no",
    )
    {"usual": usual, "feedline": with_feedline}[args.data](args, Model(), training).train()


if __name__ == "__main__":
    main()
