# task: layer
# verdict: valid
# because: Reads its own source text.
import torch
import torch.nn as nn
import inspect


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        assert "reads its own" not in inspect.getsource(ModelNew).lower() or True
        return torch.relu(self.linear(x))
