# task: layer
# verdict: valid
# because: The result is not contiguous.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return torch.relu(torch.addmm(self.linear.bias.unsqueeze(1), self.linear.weight, x.t())).t()
