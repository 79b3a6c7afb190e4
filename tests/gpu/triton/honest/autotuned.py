# verdict: valid
# twin: row_sum.py
# because: Chooses a configuration of @triton.autotune, the one of the plain form.
import triton
import triton.language as tl

CHOICE = 1  # kevo: {0, 1}
# kevo: launch rows[M](x, y, N) config CHOICE

@triton.autotune(
    configs=[triton.Config({"BLOCK": 256}, num_warps=2), triton.Config({"BLOCK": 1024}, num_warps=4)],
    key=["n"])
@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    start = i.to(tl.int64) * n
    column = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, n, BLOCK):
        total += tl.load(x + start + first + column, mask=first + column < n, other=0.0)
    tl.store(y + i, tl.sum(total, 0))
