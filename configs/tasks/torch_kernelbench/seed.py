# The matrix product by PyTorch, everything behind it by one kernel in Triton.
import torch
import torch.nn as nn
import triton
import triton.language as tl

BLOCK = 512  # kevo: {128, 256, 512, 1024, 2048, 4096, 8192, 16384}
WARPS = 2  # kevo: {1, 2, 4, 8, 16}
# With more elements for a thread, the compiler takes longer than a call may take.
# kevo: require BLOCK <= 1024 * WARPS


# kevo: begin kernel
@triton.jit
def finish(z, x, y, scale, n, features, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    v = tl.load(z + i, mask=inside)
    gelu = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    factor = tl.load(scale + i % features, mask=inside)
    tl.store(y + i, factor * gelu + tl.load(x + i, mask=inside), mask=inside)
# kevo: end kernel


class ModelNew(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)
        self.scale = nn.Parameter(torch.rand(features))

    # kevo: begin forward
    def forward(self, x):
        z = self.linear(x)
        y = torch.empty_like(z)
        finish[(triton.cdiv(z.numel(), BLOCK),)](z, x, y, self.scale, z.numel(), x.shape[1], BLOCK=BLOCK, num_warps=WARPS)
        return y
    # kevo: end forward
