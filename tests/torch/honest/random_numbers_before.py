# task: layer
# verdict: valid
# because: Draws random numbers before it makes its parameters, which are then copied from the reference by name.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)
        with torch.no_grad():
            self.linear.weight.copy_(torch.randn(outputs, features))

    def forward(self, x):
        return torch.relu(self.linear(x))
