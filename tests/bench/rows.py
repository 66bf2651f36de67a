"""Images and labels in memory, for torch.utils.data.DataLoader: a batch by its samples."""

import torch


class Rows(torch.utils.data.Dataset):
    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, indices):
        return self.images[indices], self.labels[indices]
