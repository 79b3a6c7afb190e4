# task: layer
# verdict: valid|rejected|crashed|launch_failed
# because: Looks for what was compiled for others, and sends nonsense to the process that compiles. A file that it finds raises.
import os
import struct
import torch
import torch.nn as nn
import torch.utils.cpp_extension

try:
    found = os.listdir("/kevo/modules")
except OSError:
    found = []
if found:
    raise AssertionError("modules of others can be listed")
for descriptor in range(3, 64):
    try:
        os.write(descriptor, struct.pack("=II", 1 << 30, 1 << 30) + b"\xff" * 1000)
    except OSError:
        pass


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        return torch.relu(self.linear(x))
