# task: layer
# verdict: valid
# because: The result is the real part of complex numbers: its strides are twice as long.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        y = torch.relu(self.linear(x))
        return torch.complex(y, torch.ones_like(y)).real
