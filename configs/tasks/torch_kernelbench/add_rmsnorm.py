# y = weight * h / sqrt(mean of h^2 + 1e-6) with h = x + residual, for each row.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(0.5 + torch.rand(features))

    def forward(self, x, residual):
        h = x + residual
        return self.weight * h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
