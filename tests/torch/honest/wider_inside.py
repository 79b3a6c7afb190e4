# task: layer
# verdict: valid
# because: Computes in float64.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        y = x.double() @ self.linear.weight.double().t() + self.linear.bias.double()
        return torch.relu(y).float()
