# task: layer
# verdict: valid
# because: The kernel of its element-wise part has a loop whose bound is an argument, which runs in Triton's interpreter on a CPU.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu_of_all(x, y, n, BLOCK: tl.constexpr):
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        inside = i < n
        tl.store(y + i, tl.maximum(tl.load(x + i, mask=inside), 0.0), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        z = self.linear(x)
        y = torch.empty_like(z)
        relu_of_all[(1,)](z, y, z.numel(), BLOCK=4096)
        return y
