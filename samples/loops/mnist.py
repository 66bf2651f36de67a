"""The loop of pytorch/examples' mnist with feedline's loaders.

    mnist.py FOLDER     # train-images-idx3-ubyte[.gz], t10k-images-idx3-ubyte[.gz] and their labels

The loops are the original's, without the moves to the device: batches are there, normalized by its
kernel. `loader` replaces the transform, the two datasets, the two DataLoaders and their keywords.
"""

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F

import feedline

NORMALIZED = feedline.FieldTransform("image", scale=1 / 255, mean=[0.1307], stddev=[0.3081])


def loader(folder, part, device, **options):
    found = [next(folder.glob(f"{part}-{kind}*")) for kind in ("images", "labels")]
    dataset = feedline.open_idx(*found)
    labels = feedline.FieldTransform("label", to="int64")
    return feedline.Loader(
        dataset,
        device=device,
        transforms=[NORMALIZED, labels],
        as_torch=True,
        as_tuple=("image", "label"),
        **options,
    )


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 32, 3, 1)
        self.conv2 = torch.nn.Conv2d(32, 64, 3, 1)
        self.fc1 = torch.nn.Linear(9216, 128)
        self.fc2 = torch.nn.Linear(128, 10)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = torch.flatten(F.max_pool2d(x, 2), 1)
        return F.log_softmax(self.fc2(F.relu(self.fc1(x))), dim=1)


def train(model, train_loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        optimizer.zero_grad()
        loss = F.nll_loss(model(data.unsqueeze(1)), target)
        loss.backward()
        optimizer.step()
        if batch_idx % 10 == 0:
            print(f"epoch {epoch}, batch {batch_idx} of {len(train_loader)}: loss {loss:.4f}")


def test(model, test_loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for data, target in test_loader:
            correct += (model(data.unsqueeze(1)).argmax(dim=1) == target).sum().item()
    print(f"accuracy: {correct} of {len(test_loader.dataset)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    train_loader = loader(args.folder, "train", device, batch_size=64, shuffle=True, seed=1)
    test_loader = loader(args.folder, "t10k", device, batch_size=1000)
    model = Net().to(device)
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    for epoch in range(args.epochs):
        train(model, train_loader, optimizer, epoch)
        test(model, test_loader)


main()
