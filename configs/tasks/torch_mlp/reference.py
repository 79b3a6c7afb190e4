# The layer y = gelu(W2 relu(W1 x + b1) + b2), in KernelBench's format.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.first = nn.Linear(features, hidden)
        self.second = nn.Linear(hidden, features)

    def forward(self, x):
        return torch.nn.functional.gelu(self.second(torch.relu(self.first(x))))


def get_inputs():
    return [torch.randn(64, 256)]


def get_init_inputs():
    return [256, 512]
