# task: layer
# verdict: valid
# because: The result begins in the middle of a larger tensor, whose rows are longer.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        whole = torch.full((x.shape[0] + 2, 100), 7.0, device=x.device)
        whole[1:-1, 3:99] = torch.relu(self.linear(x))
        return whole[1:-1, 3:99]
