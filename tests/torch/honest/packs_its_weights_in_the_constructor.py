# task: layer
# verdict: valid
# because: The same in the constructor.
# gpu: no, what its constructor makes besides parameters stays on the CPU.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)
        object.__setattr__(self, "packed", self.linear.weight.detach().t().contiguous())

    def forward(self, x):
        return torch.addmm(self.linear.bias, x, self.packed).clamp_(min=0)
