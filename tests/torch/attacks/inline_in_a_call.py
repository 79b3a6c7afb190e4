# task: layer
# verdict: crashed
# because: Lets the compiler compute in a call, whose time is the processor time of the process. Whoever asks then is not answered.
# gpu: no, there the compiler also answers in the first call.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        load_inline(name="late", cpp_sources="float one() { return %ff; }" % float(x[0, 0]), functions=["one"])
        return torch.relu(self.linear(x))
