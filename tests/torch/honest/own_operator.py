# task: layer
# verdict: valid
# because: Makes an operator of its own, for which PyTorch imports its compilers.
import torch
import torch.nn as nn


@torch.library.custom_op("kevo_test::rectified", mutates_args=())
def rectified(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x)


@rectified.register_fake
def _(x):
    return torch.empty_like(x)


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return rectified(self.linear(x))
