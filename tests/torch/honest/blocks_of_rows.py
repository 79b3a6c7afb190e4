# task: layer
# verdict: valid
# because: Works through blocks of rows.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return torch.cat([torch.relu(self.linear(part)) for part in x.split(50)])
