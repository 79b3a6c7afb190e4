# In KernelBench's format; written for this test.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, A, B):
        return torch.matmul(A, B)


K = 32768


def get_inputs():
    return [torch.randn(64, K), torch.randn(K, 96)]


def get_init_inputs():
    return []
