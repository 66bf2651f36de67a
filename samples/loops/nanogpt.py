"""The data of nanoGPT's train.py with feedline, and the step of a small model.

    nanogpt.py train.bin [--steps N] [--data usual|feedline]
    # uint16 tokens, as nanoGPT's prepare.py writes them

The original maps the file again for every batch, draws starts without a seed of its own, converts
and stacks in the loop's thread, pins and copies; a resumed run draws other batches. Here each
window of block_size tokens comes once an epoch, read ahead, and the state of a run is one dict.
"""

import argparse

import numpy as np
import torch

import feedline

BLOCK_SIZE = 64
BATCH_SIZE = 12


def usual(args):
    # data
    def get_batch():
        tokens = np.memmap(args.tokens, dtype=np.uint16, mode="r")
        starts = torch.randint(len(tokens) - BLOCK_SIZE, (BATCH_SIZE,))
        rows = [tokens[start : start + BLOCK_SIZE + 1].astype(np.int64) for start in starts]
        x = torch.stack([torch.from_numpy(row[:-1]) for row in rows])
        y = torch.stack([torch.from_numpy(row[1:]) for row in rows])
        if args.device == "cuda":
            x, y = x.pin_memory(), y.pin_memory()
        return x.to(args.device, non_blocking=True), y.to(args.device, non_blocking=True)

    batches = iter(get_batch, None)
    # end
    return batches, None


def with_feedline(args):
    # data
    dataset = feedline.open_tokens(
        args.tokens, tokens_per_sample=BLOCK_SIZE, dtype="uint16", header="none"
    )
    long = [feedline.FieldTransform(name, to="int64") for name in ("input", "target")]
    loader = feedline.Loader(
        dataset, device=args.device, batch_size=BATCH_SIZE, shuffle=True, drop_last=True, seed=1337,
        transforms=long, as_torch=True, as_tuple=("input", "target"),
    )  # fmt: skip
    batches = (batch for _ in iter(int, 1) for batch in loader)  # one epoch after the other
    # end
    return batches, loader


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tokens")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--data", choices=["usual", "feedline"], default="feedline")
    args = parser.parse_args()
    device = args.device = "cuda" if torch.cuda.is_available() else "cpu"
    batches, loader = {"usual": usual, "feedline": with_feedline}[args.data](args)
    model = torch.nn.Sequential(torch.nn.Embedding(65536, 8), torch.nn.Linear(8, 65536)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step, (x, y) in zip(range(args.steps), batches):
        logits = model(x)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss:.4f}")
    if loader is not None:
        state = loader.state_dict()  # goes into the checkpoint, beside model and optimizer
        print(f"the next batch is {state['batch']} of epoch {state['epoch']}")


main()
