# y = scale * gelu(W x + b) + x, in KernelBench's format.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.scale = nn.Parameter(torch.rand(features))

    def forward(self, x):
        return self.scale * torch.nn.functional.gelu(self.linear(x)) + x


def get_inputs():
    return [torch.randn(8192, 1024)]


def get_init_inputs():
    return [1024]
