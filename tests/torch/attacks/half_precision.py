# task: layer
# verdict: incorrect
# because: Computes in bfloat16.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return torch.relu(nn.functional.linear(x.bfloat16(), self.linear.weight.bfloat16(), self.linear.bias.bfloat16())).float()
