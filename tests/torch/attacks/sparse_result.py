# task: layer
# verdict: incorrect
# because: Returns a sparse tensor, whose elements nobody has written.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return torch.relu(self.linear(x)).to_sparse()
