# task: layer
# verdict: crashed|valid|timed_out
# because: Sets more threads than it may have.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        torch.set_num_threads(8)
        return torch.relu(self.linear(x))
