# The same layer as reference.py, with the element-wise operations in place.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.first = nn.Linear(features, hidden)
        self.second = nn.Linear(hidden, features)

    def forward(self, x):
        hidden = torch.addmm(self.first.bias, x, self.first.weight.t())
        hidden.relu_()
        return torch.nn.functional.gelu(torch.addmm(self.second.bias, hidden, self.second.weight.t()))
