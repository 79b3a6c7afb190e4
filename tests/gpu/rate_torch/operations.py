# PyTorch's operations alone, in several orders and in pieces.
import torch
import torch.nn as nn

PIECES = 1  # kevo: {1, 2, 4, 8}
IN_PLACE = 0  # kevo: {0, 1}
ADDMM = 0  # kevo: {0, 1}
FUSED_SUM = 0  # kevo: {0, 1}
# Makes more programs of it.
NUMBER = 0  # kevo: {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.scale = nn.Parameter(torch.rand(features))

    def piece(self, x):
        z = torch.addmm(self.linear.bias, x, self.linear.weight.t()) if ADDMM else self.linear(x)
        z = torch.nn.functional.gelu(z)
        if FUSED_SUM:
            return torch.addcmul(x, self.scale, z)
        return z.mul_(self.scale).add_(x) if IN_PLACE else self.scale * z + x

    def forward(self, x):
        if PIECES == 1:
            return self.piece(x)
        return torch.cat([self.piece(part) for part in x.chunk(PIECES)])
