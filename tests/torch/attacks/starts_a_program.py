# task: layer
# verdict: crashed
# because: Starts a program.
import torch
import torch.nn as nn
import subprocess


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        subprocess.run(["/usr/bin/true"])
        return torch.relu(self.linear(x))
