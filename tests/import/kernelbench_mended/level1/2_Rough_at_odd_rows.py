# With an odd number of rows, float32 is not enough for KernelBench's tolerance. Written for this test.
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        if x.shape[0] % 2:
            return 2 * x + 1e5 - 1e5
        return 2 * x


def get_inputs():
    return [torch.randn(6, 40)]


def get_init_inputs():
    return []
