# In KernelBench's format; written for this test.
import torch
import torch.nn as nn


class Model(nn.Module):
    """Differences from a mean have the mean 0: the result consists of rounding errors."""

    def forward(self, x):
        return (x - x.mean(1, keepdim=True)).mean(1)


def get_inputs():
    return [torch.rand(64, 500)]


def get_init_inputs():
    return []
