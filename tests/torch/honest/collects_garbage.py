# task: layer
# verdict: valid
# because: Steers Python's garbage collector.
import torch
import torch.nn as nn
import gc


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        gc.disable()
        result = torch.relu(self.linear(x))
        gc.collect(0)
        return result
