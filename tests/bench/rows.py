"""Images and labels in memory, as torch.utils.data.DataLoader takes them: a batch by its samples."""

import torch


class Rows(torch.utils.data.Dataset):
    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, indices):
        return self.images[indices], self.labels[indices]
