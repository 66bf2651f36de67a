"""The loop of pytorch/examples' mnist with feedline's loaders.

    mnist.py FOLDER [--data usual|feedline]
    # train-images-idx3-ubyte[.gz], t10k-images-idx3-ubyte[.gz] and their labels;
    # torchvision wants them in FOLDER/MNIST/raw

The loops are the original's. With feedline, batches are on the device, normalized by its kernel.
"""

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F

import feedline


def usual(args):
    from torchvision import datasets, transforms

    # data
    transform = transforms.Compose(
        [transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))]
    )
    train_set = datasets.MNIST(args.folder, train=True, transform=transform)
    test_set = datasets.MNIST(args.folder, train=False, transform=transform)
    options = {"num_workers": 1, "pin_memory": True} if args.device == "cuda" else {}
    train_loader = torch.utils.data.DataLoader(train_set, batch_size=64, shuffle=True, **options)
    test_loader = torch.utils.data.DataLoader(test_set, batch_size=1000, **options)
    # end
    return train_loader, test_loader


def with_feedline(args):
    # data
    image = feedline.FieldTransform("image", scale=1 / 255, mean=[0.1307], stddev=[0.3081])
    label = feedline.FieldTransform("label", to="int64")

    def loader(part, **options):
        files = [next(args.folder.glob(f"{part}-{kind}*")) for kind in ("images", "labels")]
        options |= {"transforms": [image, label], "device": args.device}
        options |= {"as_torch": True, "as_tuple": ["image", "label"]}
        return feedline.Loader(feedline.open_idx(*files), **options)

    train_loader = loader("train", batch_size=64, shuffle=True, seed=1)
    test_loader = loader("t10k", batch_size=1000)
    # end
    return train_loader, test_loader


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 32, 3, 1)
        self.conv2 = torch.nn.Conv2d(32, 64, 3, 1)
        self.fc1 = torch.nn.Linear(9216, 128)
        self.fc2 = torch.nn.Linear(128, 10)

    def forward(self, x):
        x = x.view(-1, 1, 28, 28)
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        x = torch.flatten(F.max_pool2d(x, 2), 1)
        return F.log_softmax(self.fc2(F.relu(self.fc1(x))), dim=1)


def train(model, device, train_loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        if batch_idx % 10 == 0:
            print(f"epoch {epoch}, batch {batch_idx} of {len(train_loader)}: loss {loss:.4f}")


def test(model, device, test_loader):
    model.eval()
    correct = 0
    with torch.no_grad():
        for data, target in test_loader:
            data, target = data.to(device), target.to(device)
            correct += (model(data).argmax(dim=1) == target).sum().item()
    print(f"accuracy: {correct} of {len(test_loader.dataset)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", choices=["usual", "feedline"], default="feedline")
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    device = args.device = "cuda" if torch.cuda.is_available() else "cpu"
    train_loader, test_loader = {"usual": usual, "feedline": with_feedline}[args.data](args)
    model = Net().to(device)
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    for epoch in range(args.epochs):
        train(model, device, train_loader, optimizer, epoch)
        test(model, device, test_loader)


main()
