# task: layer
# verdict: valid
# because: Its element-wise part is a kernel in Triton, which runs in Triton's interpreter on a CPU. Slow, but right.
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def relu(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(y + i, tl.maximum(tl.load(x + i, mask=inside), 0.0), mask=inside)


class ModelNew(nn.Module):
    def __init__(self, features, outputs):
        super().__init__()
        self.linear = nn.Linear(features, outputs)

    def forward(self, x):
        z = self.linear(x)
        y = torch.empty_like(z)
        relu[(triton.cdiv(z.numel(), 4096),)](z, y, z.numel(), BLOCK=4096)
        return y
