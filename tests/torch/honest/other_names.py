# task: layer
# verdict: valid
# because: Its parameters have other names, in the same order.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        layer = nn.Linear(features, outputs)
        self.w = nn.Parameter(layer.weight.detach().clone())
        self.b = nn.Parameter(layer.bias.detach().clone())

    def forward(self, x):
        return torch.relu(torch.addmm(self.b, x, self.w.t()))
