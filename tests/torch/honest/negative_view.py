# task: layer
# verdict: valid
# because: The imaginary part of a conjugate is a view whose signs PyTorch changes when it is read.
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        y = torch.relu(self.linear(x))
        return torch.complex(torch.zeros_like(y), -y).conj().imag
