"""The data of nanoGPT's train.py with feedline, and the step of a small model.

    nanogpt.py train.bin [--steps N]     # uint16 tokens, as nanoGPT's prepare.py writes them

The original's get_batch maps the file anew for every batch, draws starts without a seed of its
own, converts and stacks in the loop's thread, pins and copies; a resumed run draws other batches.
Here each window of block_size tokens comes once an epoch, read ahead, and the state of a run is
one dict.
"""

import argparse

import torch

import feedline

BLOCK_SIZE = 64
BATCH_SIZE = 12


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tokens")
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    dataset = feedline.open_tokens(
        args.tokens, tokens_per_sample=BLOCK_SIZE, dtype="uint16", header="none"
    )
    long = [feedline.FieldTransform(name, to="int64") for name in ("input", "target")]
    loader = feedline.Loader(
        dataset,
        feedline.shuffle(seed=1337),
        device,
        batch_size=BATCH_SIZE,
        partial_batch="drop",
        transforms=long,
        as_torch=True,
        as_tuple=("input", "target"),
    )

    def batches():
        while True:
            yield from loader

    model = torch.nn.Sequential(torch.nn.Embedding(65536, 8), torch.nn.Linear(8, 65536)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step, (x, y) in zip(range(args.steps), batches()):
        logits = model(x)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), y.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss:.4f}")
    state = loader.state_dict()  # goes into the checkpoint, beside model and optimizer
    print(f"the next batch is {state['batch']} of epoch {state['epoch']}")


main()
