# task: layer
# verdict: valid
# because: Sets an option of a part of PyTorch that wants the name of a user and a folder where it is imported.
import torch
import torch._inductor.config as inductor
import torch.nn as nn

inductor.coordinate_descent_tuning = True


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return torch.relu(self.linear(x))
