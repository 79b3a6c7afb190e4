# task: layer
# verdict: valid
# because: Prepares its weights in the first call, and synchronizes more than it needs to.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.packed = None

    def forward(self, x):
        if self.packed is None:
            self.packed = self.linear.weight.t().contiguous()
            torch.cuda.synchronize()
        y = torch.relu_(torch.addmm(self.linear.bias, x, self.packed))
        torch.cuda.synchronize()
        return y
