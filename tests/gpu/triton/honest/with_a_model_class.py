# verdict: valid
# twin: row_sum.py
# because: Has functions for PyTorch beside its kernel, as programs for KernelBench have.
import triton
import triton.language as tl

import torch

# kevo: launch rows[M](x, y, N, BLOCK=1024) warps 4


@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    start = i.to(tl.int64) * n
    column = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, n, BLOCK):
        total += tl.load(x + start + first + column, mask=first + column < n, other=0.0)
    tl.store(y + i, tl.sum(total, 0))


class ModelNew(torch.nn.Module):
    @torch.no_grad()
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
        rows[(x.shape[0],)](x, y, x.shape[1], BLOCK=1024, num_warps=4)
        return y
