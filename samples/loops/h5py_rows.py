"""Training on the rows of an HDF5 file.

    h5py_rows.py FILE [--data usual|feedline]   # datasets x (float32) and y (integers)

With h5py each worker opens the file for itself, and the library's lock lets one thread read at a
time. feedline reads chunks without the library's lock, on threads.
"""

import argparse

import torch

import feedline


def usual(args):
    import h5py

    # data
    class Rows(torch.utils.data.Dataset):
        def __init__(self, path):
            self.path, self.file = path, None
            with h5py.File(path) as file:
                self.size = len(file["x"])

        def __len__(self):
            return self.size

        def __getitem__(self, index):
            if self.file is None:
                self.file = h5py.File(self.path)
            return self.file["x"][index], self.file["y"][index]

    train = torch.utils.data.DataLoader(
        Rows(args.file), args.batch_size, shuffle=True, num_workers=args.workers
    )
    # end
    return train


def with_feedline(args):
    # data
    train = feedline.Loader(
        feedline.open_hdf5(args.file, ["x", "y"]), device=args.device, batch_size=args.batch_size,
        shuffle=True, as_torch=True, as_tuple=["x", "y"],
    )  # fmt: skip
    # end
    return train


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--data", choices=["usual", "feedline"], default="feedline")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    args.device = "cuda" if torch.cuda.is_available() else "cpu"
    train = {"usual": usual, "feedline": with_feedline}[args.data](args)
    model = torch.nn.LazyLinear(10).to(args.device)
    optimizer = None
    for x, y in train:
        loss = torch.nn.functional.cross_entropy(
            model(x.to(args.device)), y.to(args.device).long()
        )
        optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{tuple(x.shape)}, {x.dtype}, {y.dtype}, loss {loss:.4f}")


main()
