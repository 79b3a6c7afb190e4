# A row whose elements are all alike, and larger than 1, gives infinity; one that is drawn does not. Written for this test.
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.cumprod(x, dim=1)


ROWS = 6
LENGTH = 3000


def get_inputs():
    return [torch.randn(ROWS, LENGTH)]


def get_init_inputs():
    return []
