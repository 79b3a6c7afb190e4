# task: layer
# verdict: valid
# because: Compiles its function with TorchScript.
import torch
import torch.nn as nn


@torch.jit.script
def layer(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.relu(torch.addmm(b, x, w.t()))


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return layer(x, self.linear.weight, self.linear.bias)
