# Its results are so small that KernelBench's tolerance accepts the mean of all.
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)


def get_inputs():
    return [torch.rand(8, 3000)]


def get_init_inputs():
    return []
