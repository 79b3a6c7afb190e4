# Arguments of the constructor by position and by name, a size that follows from another by division, and an input that is computed.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, out, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(channels, out, 3, stride=stride)

    def forward(self, x, scale: float):
        return self.conv(x) * scale


batch, height, width = 2, 20, 21


def get_inputs():
    return [torch.rand(batch, 3, height, width) * 4 - 2, 0.5]


def get_init_inputs():
    return [[3, 5], {"stride": 2}]
