# A problem in KernelBench's format whose result is always 0: the mean over one column is that column.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.layer = nn.Linear(features, 1)

    def forward(self, x):
        y = self.layer(x)
        return y - y.mean(dim=1, keepdim=True)


rows = 64
features = 32


def get_inputs():
    return [torch.rand(rows, features)]


def get_init_inputs():
    return [features]
