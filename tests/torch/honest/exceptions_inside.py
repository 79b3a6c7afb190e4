# task: layer
# verdict: valid
# because: Raises and catches exceptions.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        try:
            return torch.relu(x @ self.linear.weight)
        except RuntimeError:
            return torch.relu(self.linear(x))
