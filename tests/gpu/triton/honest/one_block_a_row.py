# verdict: valid
# because: Its constant depends on the size of the workload.
import triton
import triton.language as tl

# kevo: launch rows[M](x, y, N, BLOCK=max(pow2_ceil(N), 16)) warps 8

@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    value = tl.load(x + i.to(tl.int64) * n + column, mask=column < n, other=0.0)
    tl.store(y + i, tl.sum(value, 0))
