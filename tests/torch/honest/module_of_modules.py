# task: layer
# verdict: valid
# because: Is made of several modules, whose parameters have other names.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.all = nn.Sequential(nn.Linear(features, outputs), nn.ReLU())

    def forward(self, x):
        return self.all(x)
