# In KernelBench's format; written for this test.
import torch
import torch.nn as nn


class Model(nn.Module):
    """The difference from the mean of the rows. With few rows its rounding errors are multiplied, as in deep modules that normalize."""

    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        y = self.linear(x) + 100.0
        return (y - y.mean(0)) * max(1.0, (500 / x.shape[0]) ** 6)


def get_inputs():
    return [torch.rand(65536, 512)]


def get_init_inputs():
    return [512]
