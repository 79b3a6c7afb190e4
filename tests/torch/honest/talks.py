# task: layer
# verdict: valid
# because: Prints and warns.
import torch
import torch.nn as nn
import warnings


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        print("rows:", x.shape[0], flush=True)
        warnings.warn("a warning")
        return torch.relu(self.linear(x))
