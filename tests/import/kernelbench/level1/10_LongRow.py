import torch
import torch.nn as nn


# One row of 256 MiB: with a batch of five rows, hidden workloads would need five times the memory of the file's.
class Model(nn.Module):
    def forward(self, x):
        return torch.cumsum(torch.relu(x), dim=1) / x.shape[1]


def get_inputs():
    return [torch.rand(1, 1 << 26)]


def get_init_inputs():
    return []
