# task: layer
# verdict: valid
# because: Makes the matrix that it needs from its parameters, in the first call.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)
        self.packed = None

    def forward(self, x):
        if self.packed is None:
            self.packed = self.linear.weight.t().contiguous()
        return torch.addmm(self.linear.bias, x, self.packed).clamp_(min=0)
