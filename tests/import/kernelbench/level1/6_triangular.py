# In KernelBench's format; written for this test. Its inputs are too large for a processor.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A, b):
        return torch.matmul(A, b)


N = 16384


def get_inputs():
    A = torch.tril(torch.rand(N, N))
    return [A, torch.rand(N, N)]


def get_init_inputs():
    return []
