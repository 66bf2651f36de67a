"""A convolutional network of Flax's on MNIST.

    flax_mnist.py FOLDER [--data usual|feedline]   # train-images-idx3-ubyte and train-labels-…

The usual loop holds all images as floats in memory, permutes them by NumPy, and copies each batch
to the device when the step begins. feedline keeps the bytes, copies them ahead, and normalizes them
on the device; JAX takes them by DLPack.
"""

import argparse
from pathlib import Path

import jax
import numpy as np
import optax
from flax import nnx

import feedline


def usual(args):
    # data
    images = (args.folder / "train-images-idx3-ubyte").read_bytes()
    labels = (args.folder / "train-labels-idx1-ubyte").read_bytes()
    images = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 28, 28)
    images = images.astype(np.float32) / 255
    labels = np.frombuffer(labels, np.uint8, offset=8).astype(np.int32)
    random = np.random.default_rng(0)

    def batches():
        order = random.permutation(len(images))
        for first in range(0, len(order) - args.batch_size + 1, args.batch_size):
            chosen = order[first : first + args.batch_size]
            yield jax.device_put(images[chosen]), jax.device_put(labels[chosen])
    # end
    return batches


def with_feedline(args):
    # data
    train_set = feedline.open_idx(
        args.folder / "train-images-idx3-ubyte", args.folder / "train-labels-idx1-ubyte"
    )
    scaled = feedline.FieldTransform("image", scale=1 / 255)
    whole = feedline.FieldTransform("label", to="int32")
    loader = feedline.Loader(
        train_set, feedline.shuffle(seed=0), device=args.device, batch_size=args.batch_size,
        partial_batch="drop", transforms=[scaled, whole],
    )  # fmt: skip

    def batches():
        for batch in loader:
            yield jax.dlpack.from_dlpack(batch["image"]), jax.dlpack.from_dlpack(batch["label"])
    # end
    return batches


class Net(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(1, 16, kernel_size=(3, 3), rngs=rngs)
        self.linear = nnx.Linear(14 * 14 * 16, 10, rngs=rngs)

    def __call__(self, x):
        x = nnx.max_pool(nnx.relu(self.conv(x[..., None])), (2, 2), strides=(2, 2))
        return self.linear(x.reshape(len(x), -1))


@nnx.jit
def step(model, optimizer, images, labels):
    def loss_of(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(images), labels).mean()

    loss, gradients = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, gradients)
    return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", choices=["usual", "feedline"], default="feedline")
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    args.device = "cuda" if jax.default_backend() == "gpu" else "cpu"
    batches = {"usual": usual, "feedline": with_feedline}[args.data](args)
    model = Net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adamw(1e-3), wrt=nnx.Param)
    for epoch in range(args.epochs):
        for images, labels in batches():
            loss = step(model, optimizer, images, labels)
            print(f"epoch {epoch}: {images.shape}, {images.dtype}, {labels.dtype}, loss {loss:.4f}")


main()
